package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/view"
)

// A view is published while the tenant publishes, listed, given another link, and revoked.
func TestViewCommands(t *testing.T) {
	t.Parallel()

	s := setup(t)
	const echo = "kind: tool\nslug: say\nimplementation_type: internal\ndescription: Says.\nversion: 1.0.0\n" +
		"publish: true\n"
	require.Equal(t, cli.ExitOK, s.pipe(t, echo, "apply", "-f", "-").code)
	off := s.run(t, "view", "publish", "--tool", "say")
	require.NotEqual(t, cli.ExitOK, off.code)
	require.Contains(t, off.err, "toolcrib tenant publish on")
	require.Contains(t, s.ok(t, "tenant", "publish", "on"), "publishes views: on")

	var made, rotated v1.PublishedView
	text := s.ok(t, "view", "publish", "--tool", "say", "--title", "What it says", "--expires", "1h", "--json")
	require.NoError(t, json.Unmarshal([]byte(text), &made))
	require.Contains(t, made.URL, view.Path+made.Token)
	require.Contains(t, s.ok(t, "view", "list"), "What it says")
	require.Contains(t, s.ok(t, "view", "show", made.ID), "say@1.0.0")
	require.NotContains(t, s.ok(t, "view", "show", made.ID), made.Token)
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "view", "rotate", made.ID, "--json")), &rotated))
	require.NotEqual(t, made.Token, rotated.Token)
	require.Contains(t, s.ok(t, "view", "revoke", made.ID), "opens nothing")
	require.Contains(t, s.ok(t, "view", "list"), "revoked")

	for _, wrong := range []string{
		"view publish", "view publish --tool say --run x", "view publish --tool say --expires 1s", "view show", "view revoke",
		"view rotate x --expires 0s", "tenant publish", "tenant publish yes",
	} {
		require.Equal(t, cli.ExitUsage, s.run(t, strings.Fields(wrong)...).code, wrong)
	}
}
