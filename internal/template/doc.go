// Package template renders the arguments of a call into a text, literally.
//
// A placeholder is {{name}} for an argument, or {{/order/items/0}}, a JSON
// Pointer (RFC 6901), for a value inside one. Strings are inserted unchanged, other values as
// compact JSON; an absent argument inserts nothing. Inserted text is not parsed again, so
// arguments cannot contain placeholders. A literal {{ is written \{{, and \\{{ is a backslash
// before a placeholder. There are no conditions, loops or functions.
package template
