package openapi

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes a text that somebody else wrote fit to be shown to a model and
// to people: without control characters and without those that reorder or hide
// others, and cut to a number of characters. Lines stay lines.
func clean(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t' || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.IsControl(r) || hidden(r):
			return -1
		}
		return r
	}, text)
	return clip(strings.TrimSpace(text), limit)
}

// hidden reports whether a character is there to be unseen: embeddings,
// overrides and isolates, tags, and spaces of no width but the joiners, which
// scripts and pictures need.
func hidden(r rune) bool {
	switch {
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r >= 0xE0000 && r <= 0xE0FFF,
		r == 0x200B, r >= 0x2060 && r <= 0x2064, r == 0xFEFF, r == 0x00AD, r == 0x180E:
		return true
	}
	return unicode.In(r, unicode.Co, unicode.Cs)
}

// clip cuts a text to a number of characters.
func clip(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:limit-1])) + "…"
}

// line is [clean] for a text that has to stand on one line.
func line(text string, limit int) string {
	return clean(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "), limit)
}
