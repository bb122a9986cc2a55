package visible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a character has no glyph of its own, or changes how others are shown:
// the property Default_Ignorable_Code_Point of all planes (Unicode Character Database,
// DerivedCoreProperties), all format characters, bidirectional controls among them, and private
// use. Joiners and variation selectors are default-ignorable too, so joined emoji are split.
func Hidden(r rune) bool {
	if r < 0xad {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector) ||
		r >= 0xe0000 && r <= 0xe0fff // Tags and what is reserved beside them.
}

// control reports whether a character is a control other than white space.
func control(r rune) bool { return unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' }

// Text returns s as valid UTF-8 without controls except tabs and line ends, and without hidden
// characters. Line and paragraph separators become line ends.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028' || r == '\u2029':
			return '\n'
		case control(r), r == utf8.RuneError, Hidden(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// First returns the first hidden or control character of s.
func First(s string) (r rune, found bool) {
	for _, r := range s {
		if control(r) || r == utf8.RuneError || Hidden(r) {
			return r, true
		}
	}
	return 0, false
}
