// Package inputpage serves the pages on which people answer what agents ask: one page behind
// each link, for who has no account. It is all of the product that a stranger can open, so it
// does little: it shows a form, and takes one answer.
//
// A page works without JavaScript, loads nothing from anywhere, and is kept by no cache. GET and
// HEAD change nothing. A link that is unknown, expired or revoked, and one of a call that is no
// request for input, are answered alike.
package inputpage
