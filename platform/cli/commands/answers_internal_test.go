package commands

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/tool"
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

// What a call keeps for good is not taken for a text because of a slip in its JSON.
func TestResultsThatLookLikeJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"seat": "12A"}`:   `{"seat": "12A"}`,
		`no seat is free`:   `"no seat is free"`,
		`[later] {no}thing`: `"[later] {no}thing"`,
		`"{\"seat\": tru}"`: `"{\"seat\": tru}"`,
		`12`:                `12`,
	} {
		got, err := readResult(nil, text, "")
		require.NoError(t, err, text)
		require.JSONEq(t, want, string(got))
	}
	for _, text := range []string{`{"seat": tru}`, ` [1,] `, "{'a': 1}\n", `{"a": 1}{"b": 2}`} {
		_, err := readResult(nil, text, "")
		require.Equal(t, tool.Invalid, tool.KindOf(err), text)
		require.ErrorContains(t, err, "looks like JSON and is not")
	}
}
