package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

// A tenant switches tools with its key, and the operator with the database for every tenant.
func TestToolOverride(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "t.yaml",
		"slug: getOrder\ndescription: Echoes.\nimplementation_type: internal\nversion: 1.0.0\npublish: true\n"))
	require.Contains(t, s.run(t, "tool", "override", "list").err, "nothing is decided")
	require.Contains(t, s.ok(t, "tool", "override", "set", "getOrder", "--off", "--reason", "audit"), "getOrder is off")
	require.Contains(t, s.ok(t, "tool", "override", "show", "getOrder"), "off (audit)")
	require.Regexp(t, `getOrder +tenant +off +audit`, s.ok(t, "tool", "override", "list"))
	refused := s.run(t, "tool", "call", "getOrder")
	require.Equal(t, cli.ExitConflict, refused.code)
	require.Contains(t, refused.err, "switched off")
	require.Contains(t, s.ok(t, "tool", "override", "set", "getOrder", "--on", "--approval"), "need an approval")
	require.Contains(t, s.ok(t, "tool", "override", "remove", "getOrder", "--json"), `"enabled": true`)

	require.Equal(t, cli.ExitUsage, s.run(t, "tool", "override", "set", "getOrder").code)
	require.Equal(t, cli.ExitUsage, s.run(t, "tool", "override", "set", "getOrder", "--on", "--off").code)
	missing := s.run(t, "tool", "override", "set", "getOrde", "--on")
	require.Equal(t, cli.ExitNotFound, missing.code)
	require.Contains(t, missing.err, "getOrder")

	require.Equal(t, cli.ExitUsage, s.run(t, "tool", "override", "set", "getOrder", "--off", "--all-tenants").code)
	s.vars[cli.DatabaseVariable] = s.URL
	foreign := s.run(t, "tool", "override", "set", "getOrder", "--off", "--all-tenants")
	require.Equal(t, cli.ExitNotFound, foreign.code, "the platform does not decide about a tenant's own tool")

	_, err := registry.New(s.Platform.Registry(), registry.Options{}).SyncBuiltins(t.Context(), []registry.BuiltinSpec{{
		Key: "noop", Version: "1.0.0", Definition: tool.Definition{Name: "Noop", Implementation: tool.Internal},
	}})
	require.NoError(t, err)
	require.Contains(t, s.ok(t, "tool", "override", "show", "noop"), "noop is on")
	require.Contains(t, s.ok(t, "tool", "override", "set", "noop", "--off", "--reason", "broken", "--all-tenants"), "off")
	shown := s.ok(t, "tool", "override", "show", "noop")
	require.Contains(t, shown, "noop is off")
	require.Contains(t, shown, "the platform, now, platform: off (broken)")
	s.ok(t, "tool", "override", "remove", "noop", "--all-tenants")
	require.Contains(t, s.ok(t, "tool", "override", "show", "noop"), "noop is off")
	require.Contains(t, s.ok(t, "tool", "override", "set", "noop", "--on"), "noop is on")
}

// What an override changes beside the switch is kept by later edits, guarded by its revision, listed, and in the
// history with its author.
func TestToolOverrideContent(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "t.yaml", "slug: getOrder\ndescription: Echoes.\n"+
		"implementation_type: internal\n"+
		"input_schema: {type: object, properties: {id: {type: string}, limit: {type: integer}},\n"+
		"  required: [id]}\n"+
		"version: 1.0.0\npublish: true\n"))
	require.Contains(t, s.ok(t, "tool", "override", "set", "getOrder", "--description", "Finds an order of the shop.",
		"--default", "limit=5", "--default", "id=none yet", "--timeout", "2.5", "--reason", "clearer"), "order of the shop")
	shown := s.ok(t, "tool", "override", "show", "getOrder")
	require.Contains(t, shown, `description, id="none yet", limit=5, timeout_s 2.5 (clearer)`)
	require.Contains(t, s.ok(t, "tool", "list"), "Finds an order of the shop.")
	accepted := s.run(t, "tool", "call", "getOrder", "--arg", "limit=1", "--wait", "0s")
	require.NotContains(t, accepted.err, "do not fit", "what an override fills in need not be given")
	s.ok(t, "tool", "override", "set", "getOrder", "--off")
	listed := s.ok(t, "tool", "list")
	require.Contains(t, listed, "published, off")
	require.Contains(t, listed, "Finds an order of the shop.", "what the flags do not name is kept")
	s.ok(t, "tool", "override", "set", "getOrder", "--clear", "switch,limits,defaults", "--default", "limit=7")
	shown = s.ok(t, "tool", "override", "show", "getOrder")
	require.Contains(t, shown, "getOrder is on")
	require.Contains(t, shown, "description, limit=7")
	require.NotContains(t, shown, "timeout_s")
	require.Contains(t, s.ok(t, "tool", "explain", "getOrder"), `changed the description, the default of "limit" (revision 3)`)
	require.Contains(t, s.ok(t, "tool", "show", "getOrder"), "Finds an order of the shop.")

	s.ok(t, "tool", "override", "remove", "getOrder")
	history := s.ok(t, "tool", "override", "history", "getOrder")
	require.Regexp(t, `(?s)4 +removed.*\n3 +description, limit=7.*\n2 +off, description.*\n1 +description, id=.*clearer`, history)

	for _, args := range [][]string{{"--default", "limit"}, {"--clear", "everything"}, {"--reason", "none"}} {
		require.Equal(t, cli.ExitUsage, s.run(t, append([]string{"tool", "override", "set", "getOrder"}, args...)...).code)
	}
	for words, args := range map[string][]string{
		`no argument "size": it has ["id" "limit"]`: {"--default", "size=1"},
		"/limit expected integer":                   {"--default", "limit=many"},
		"wider than the tool's own 30":              {"--timeout", "31"},
	} {
		refused := s.run(t, append([]string{"tool", "override", "set", "getOrder"}, args...)...)
		require.Equal(t, cli.ExitInvalid, refused.code, refused.err)
		require.Contains(t, refused.err, words)
	}
}
