// Package jsonvalue decodes untrusted JSON by one rule and encodes it in one
// form, so that the value that is checked, the value that is recorded and the
// bytes that are sent are the same.
//
// [Decode] refuses what two parsers may read differently: duplicate members at
// any level, invalid UTF-8, lone surrogates, NUL, numbers that a float64 cannot
// hold, and text behind the value. [Value.Append] writes the canonical form:
// members sorted by name, no white space, no HTML escapes, numbers as they were
// spelled. The package does no I/O and knows nothing of schemas.
package jsonvalue
