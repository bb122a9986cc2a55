// Package template fills the arguments of a call into a text, literally.
//
// A placeholder is {{name}} for an argument, or {{/order/items/0}}, a JSON
// Pointer (RFC 6901), for a value inside one. Strings are put in as they are,
// anything else as compact JSON; an argument that is not there leaves nothing.
// What is put in is never read again, so no argument can bring placeholders of
// its own. A literal {{ is written \{{, and \\{{ is a backslash before a
// placeholder. There are no conditions, loops or functions.
package template
