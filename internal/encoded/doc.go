// Package encoded finds known strings in text, however they are encoded there:
// percent-encoding, HTML entities and backslash escapes of any extent, base64 at
// any alignment and with line breaks, hexadecimal, UTF-16, and chains of these.
//
// A [Set] decodes the text step by step and searches each decoded layer, then
// maps what it found back to the text. It does not enumerate encodings, so an
// encoder that escapes other characters than its neighbour makes no difference.
// The cost is linear in the text: the number and the size of layers are bounded.
// What is compressed or encrypted is not found.
//
// The package is pure and knows nothing of secrets.
package encoded
