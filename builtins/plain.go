package builtins

import (
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/tool"
)

// plain cleans untrusted text for models: UTF-8, with line feeds and tabs as its only
// control characters, and without invisible characters that change the direction of text
// or hide text.
func plain(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, odd) < 0 {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r', r == '\u2028', r == '\u2029', r == '\u0085':
			return '\n'
		case odd(r):
			return -1
		default:
			return r
		}
	}, s)
}

// odd reports whether r is removed from text. Joiners are kept: many scripts need them.
func odd(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\u200C', r == '\u200D':
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u00AD' && !unicode.Is(unicode.Arabic, r):
		return true
	case r == '\u2028', r == '\u2029', r >= 0xE0000 && r <= 0xE0FFF:
		return true
	default:
		return false
	}
}

// phrase returns untrusted text as one line of at most limit bytes.
func phrase(s string, limit int) string {
	return tool.Clip(strings.Join(strings.Fields(plain(s)), " "), limit)
}
