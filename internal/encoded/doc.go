// Package encoded finds known strings in text in any encoding: percent-encoding, HTML
// entities and backslash escapes of any extent, base64 at any alignment and with line
// breaks, hexadecimal, UTF-16, and chains of these.
//
// A [Set] decodes the text step by step and searches each decoded layer, then maps the
// matches back to the text. It does not enumerate encodings, so it does not depend on
// which characters an encoder escapes. The cost is linear in the text: the number and the
// size of layers are bounded. Compressed or encrypted strings are not found.
//
// The package is pure and knows nothing of secrets.
package encoded
