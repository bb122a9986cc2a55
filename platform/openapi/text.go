package openapi

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/visible"
)

// clean makes an untrusted text safe to show to models and people: it removes
// control characters and characters that reorder or hide others, and truncates
// the text to a number of characters. Line breaks are kept.
func clean(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t' || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.IsControl(r) || visible.Hidden(r):
			return -1
		}
		return r
	}, text)
	return clip(strings.TrimSpace(text), limit)
}

// clip truncates a text to a number of characters.
func clip(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:limit-1])) + "…"
}

// line is [clean] for a text that must be on one line.
func line(text string, limit int) string {
	return clean(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "), limit)
}
