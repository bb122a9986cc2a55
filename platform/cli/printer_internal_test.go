package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
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
		require.Equal(t, want, clean(text), "%q", text)
	}
	require.Equal(t, "one\ntwo", cleanLines("\u202eone\n\x1btwo"))
}

// A server may answer anything, where it has no business to answer text too.
func TestAnswersAreCleaned(t *testing.T) {
	t.Parallel()
	const evil = "x\x1b[2J"
	var out bytes.Buffer
	require.NoError(t, writeEnd(&out, v1.Run{Status: evil}))
	require.NoError(t, writeDiff(&out, v1.Diff{Tool: "t", From: "1", Bump: evil, Least: evil, Changes: []v1.Change{{}}}))
	require.NoError(t, writeMessage(&out, agent.Message{Role: evil}))
	a := &app{env: Env{Err: &out}}
	require.NoError(t, a.more(evil))
	require.NotContains(t, out.String(), "\x1b")
}

// People read JSON as it is meant, not as pages of the web need it.
func TestPlainJSON(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"q":"a\u0026b \u003cc\u003e"}`: `{"q":"a&b <c>"}`,
		`{"q":"a\\u0026"}`:               `{"q":"a\\u0026"}`,
		`{"q":"\u00e9"}`:                 `{"q":"\u00e9"}`,
		``:                               ``,
	} {
		require.Equal(t, want, plainJSON([]byte(raw)))
	}
	require.Contains(t, compact(map[string]string{"url": "https://x/?a=1&b=2"}), "a=1&b=2")
}
