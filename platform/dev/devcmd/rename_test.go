package devcmd_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

const renamedYAML = `
kind: tool
slug: salute
description: Salutes a guest.
version: 1.0.0
publish: true
implementation_type: function
implementation_config: {function_name: greet}
input_schema:
  type: object
  properties: {name: {type: string}}
  required: [name]
execution: {is_pure: true, max_concurrency: 8, timeout_s: 5}
---
kind: agent
slug: saluter
instructions: Use salute.
model: scripted/salute
version: 1.0.0
publish: true
tools: [salute@^1.0]
`

// The former name of a tool works until its last day, which is said: in calls,
// with a warning, and for agents that have the tool by it, whatever name their
// model uses.
func TestFormerNameWorks(t *testing.T) {
	t.Parallel()
	file := write(t, renamedYAML)
	ok(t, "apply", "-f", file)
	until := time.Now().UTC().AddDate(0, 0, 90).Format(time.DateOnly)
	code, out, errs := toolcrib(t.Context(), "tool", "rename", "salute", "welcome")
	require.Equal(t, cli.ExitOK, code, errs)
	require.Equal(t, "salute is called welcome now; the former name works until "+until+"\n", out)
	require.Contains(t, errs, `warning: agent "saluter" names the tool "salute": change that to "welcome"`)

	code, out, errs = toolcrib(t.Context(), "tool", "call", "salute", "--arg", "name=Ada")
	require.Equal(t, cli.ExitOK, code, errs)
	require.Contains(t, out, "Hello Ada")
	require.Equal(t, `warning: tool "salute" is called "welcome" now: the old name works until `+until+"\n", errs)

	require.Contains(t, ok(t, "run", "start", "saluter", "-i", "x", "--wait"), "Saluted.")
	require.Equal(t, "welcome is called that already\n", ok(t, "tool", "rename", "welcome", "welcome"))
	require.Equal(t, "welcome is called acclaim now; the former name no longer works\n",
		ok(t, "tool", "rename", "welcome", "acclaim", "--drop-former"))
}

// write makes a file of definitions.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "definitions.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
