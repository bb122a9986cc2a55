package commands

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

// A server may answer anything, where it has no business to answer text too.
func TestAnswersAreCleaned(t *testing.T) {
	t.Parallel()
	const evil = "x\x1b[2J"
	var out bytes.Buffer
	require.NoError(t, writeEnd(&out, v1.Run{Status: evil}))
	require.NoError(t, writeDiff(&out, v1.Diff{Tool: "t", From: "1", Bump: evil, Least: evil, Changes: []v1.Change{{}}}))
	require.NoError(t, writeMessage(&out, agent.Message{Role: evil}))
	a := &app{&cli.App{Env: cli.Env{Err: &out}}}
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
