package sandbox

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// checkText refuses JSON with text that cannot be stored unchanged: invalid UTF-8, NUL
// characters, and unpaired surrogates. They are not replaced, since two different names
// could become equal.
func checkText(raw []byte) error {
	if !utf8.Valid(raw) {
		return &ProgramError{Class: BadOutput, Msg: "the result is not UTF-8"}
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' { // In valid JSON, it is in strings only.
			continue
		}
		unit, ok := codeUnit(raw[i:])
		switch {
		case !ok:
			i++ // Another escape, of two bytes.
		case unit == 0:
			return unkept(i, "a NUL character")
		case !utf16.IsSurrogate(unit):
			i += 5
		default:
			low, ok := codeUnit(raw[i+6:])
			if !ok || utf16.DecodeRune(unit, low) == utf8.RuneError {
				return unkept(i, "an unpaired surrogate")
			}
			i += 11
		}
	}
	return nil
}

func unkept(at int, what string) error {
	msg := fmt.Sprintf("the result has %s at byte %d of its JSON: remove or encode it", what, at)
	return &ProgramError{Class: BadOutput, Msg: msg}
}

// codeUnit parses the escape \uXXXX at the start of raw.
func codeUnit(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}
