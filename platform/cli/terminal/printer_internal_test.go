package terminal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An untrusted text can neither control the terminal nor reorder its letters.
func TestClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\x1b]0;title\x07\x1b[2Jgone":               "]0;title[2Jgone",
		"\u009b31mred\x9b31m":                       "31mred\uFFFD31m",
		"a\r\nb\tc\u2028d\u2029e":                   "a b c d e",
		"delete\u202e\u2066 // redro\u2069\u202c":   "delete // redro",
		"\u05e9\u05dc\u05d5\u05dd\u200f, \u200eabc": "\u05e9\u05dc\u05d5\u05dd\u200f, \u200eabc",
		"注文 e\u0301 👩\u200d💻":                       "注文 e\u0301 👩\u200d💻",
	} {
		require.Equal(t, want, Clean(text), "%q", text)
	}
	require.Equal(t, "one\ntwo", CleanLines("\u202eone\n\x1btwo"))
}
