package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/toolsession"
)

// A session is made, linked, listed and ended; its link is shown once.
func TestToolSessionCommands(t *testing.T) {
	t.Parallel()

	s := setup(t)
	const vote = "kind: tool\nslug: vote\nname: Vote\nimplementation_type: internal\ndescription: Counts a vote.\n" +
		"version: 1.0.0\npublish: true\ncollaborative: true\naggregate: group:input.choice\n" +
		"input_schema: {type: object, properties: {choice: {type: string}, day: {type: string}}}\n"
	require.Equal(t, cli.ExitOK, s.pipe(t, vote, "apply", "-f", "-").code)
	var made v1.ToolSession
	text := s.ok(t, "tool-session", "create", "vote", "--title", "Lunch", "--config", `{"day":"friday"}`, "--entity", "team-7", "--json")
	require.NoError(t, json.Unmarshal([]byte(text), &made))
	require.Equal(t, "group:input.choice", made.Aggregate)
	require.Contains(t, s.ok(t, "tool-session", "list"), "Lunch")
	require.NotContains(t, s.ok(t, "tool-session", "list", "--status", "cancelled"), "Lunch")
	off := s.run(t, "tool-session", "link", made.ID)
	require.Contains(t, off.err, "toolcrib tenant publish on")
	s.ok(t, "tenant", "publish", "on")
	var linked v1.LinkedToolSession
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "tool-session", "link", made.ID, "--expires", "1h", "--json")),
		&linked))
	require.Contains(t, linked.URL, toolsession.Path+linked.Token)
	require.NotContains(t, s.ok(t, "tool-session", "show", made.ID), linked.Token)
	require.Contains(t, s.ok(t, "tool-session", "unlink", made.ID), "opens nothing")
	require.Contains(t, s.run(t, "tool-session", "submissions", made.ID).err, "nothing was submitted")
	require.Contains(t, s.ok(t, "tool-session", "aggregate", made.ID), "group")
	require.Contains(t, s.ok(t, "tool-session", "complete", made.ID), "completed")
	require.Equal(t, cli.ExitConflict, s.run(t, "tool-session", "cancel", made.ID).code)

	for _, wrong := range []string{
		"tool-session create", "tool-session create vote --config {", "tool-session submit x --input {",
		"tool-session link x --expires 1s", "tool-session show",
	} {
		require.Equal(t, cli.ExitUsage, s.run(t, strings.Fields(wrong)...).code, wrong)
	}
}
