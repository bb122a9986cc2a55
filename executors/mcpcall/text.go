package mcpcall

import (
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/visible"
)

// clean makes untrusted text visible, see [visible.Text], and cuts it to at most
// limit bytes.
func clean(s string, limit int) string { return cut(visible.Text(s), limit) }

// redact is [clean] for a server's text in a call. Secrets are redacted before
// the text is cut, since a cut secret would not be recognised.
func redact(known *secret.Redactor, s string, limit int) string {
	return cut(known.Text(clean(s, len(s))), limit)
}

// cut cuts s to at most limit bytes, between characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// answerText makes the text of an answer valid UTF-8 without control characters
// other than white space.
func answerText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' && r != '\r' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
