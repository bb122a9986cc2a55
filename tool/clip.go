package tool

import "unicode/utf8"

// Clip cuts a text for a message: it returns s if it has at most n bytes, else at most n
// bytes of it, cut between characters, and an ellipsis.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
