package mcpcall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/secret"
)

// clean makes a stranger's text fit to be kept and shown: valid, without
// control and invisible characters but tabs and line ends, and of at most
// limit bytes. What it says is not judged: it is data.
func clean(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.Is(unicode.Cc, r), r == utf8.RuneError:
			return -1
		case hidden(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return cut(s, limit)
}

// told is [clean] for what a server says in a call. Secrets go before anything
// is cut, or a part of one would be left.
func told(known *secret.Redactor, s string, limit int) string {
	return cut(known.Text(clean(s, len(s))), limit)
}

// hidden reports whether a reader does not see r, though a model does: marks
// that turn the direction of text, tags, and spaces of no width.
func hidden(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f ||
		r == 0x200b || r == 0x2060 || r == 0xfeff
}

// cut cuts s to at most limit bytes, between characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// answerText makes the text of an answer valid and free of control characters
// that no text needs; all else stays as the tool said it.
func answerText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' && r != '\r' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
