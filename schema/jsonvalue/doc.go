// Package jsonvalue decodes untrusted JSON by one rule and encodes it in one form, so that the values that
// are checked, recorded and sent are the same.
//
// [Decode] refuses ambiguous JSON: duplicate members at any level, invalid UTF-8, lone surrogates, NUL,
// numbers out of the range of a float64, and text after the value. [Value.Append] writes the canonical
// form: members sorted by name, no white space, no HTML escapes, numbers with their spelling. The package
// does no I/O and does not depend on schemas.
package jsonvalue
