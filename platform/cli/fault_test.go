package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// A fault of a definition is reported with its place, the source line, and a
// mark below it.
func TestFaultsShowTheLine(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.tools(t, "getOrder", "getOrders")
	for name, c := range map[string]struct {
		text string
		code int
		want string
	}{
		"Syntax": {
			"slug: say\n\timplementation_type: internal\n", cli.ExitInvalid,
			"FILE:2:1: malformed YAML: there is a tab, and YAML is indented with spaces\n    2 |  implementation_type: " +
				"internal\n      | ^\n",
		},
		"Field": {
			"slug: say\nimplementation_typ: internal\n", cli.ExitInvalid,
			"FILE:2:1: unknown field \"implementation_typ\": did you mean implementation_type?\n    2 | implementation_typ: " +
				"internal\n      | ^\n",
		},
		"Schema": {
			"slug: say\nimplementation_type: internal\ninput_schema:\n  type: object\n  properties:\n    n: {type: numbr}\n",
			cli.ExitInvalid,
			"FILE:6:9: schema at /properties/n/type: ",
		},
		"Pattern": {
			"slug: say\nimplementation_type: internal\ninput_schema:\n  type: object\n  properties:\n    n:\n      type: " +
				"string\n      pattern: '('\n", cli.ExitInvalid,
			"FILE:8:7: schema at /properties/n/pattern: ",
		},
		"Version": {
			"slug: say\nimplementation_type: internal\nversion: 1.0\n", cli.ExitInvalid,
			"FILE:3:1: ",
		},
		"Constraint": {
			"kind: agent\nslug: desk\nmodel: scripted/x\nversion: 1.0.0\npublish: true\ntools:\n  - getOrder@^^1\n",
			cli.ExitInvalid,
			"FILE:7:5: ",
		},
		"NoTool": {
			"kind: agent\nslug: desk\nmodel: scripted/x\nversion: 1.0.0\npublish: true\ntools: [getOrder, getOrdr]\n",
			cli.ExitNotFound,
			"did you mean getOrder?",
		},
		"ToolTwice": {
			"kind: agent\nslug: desk\nmodel: scripted/x\ntools: [getOrder, getOrder@^1]\n", cli.ExitInvalid,
			"FILE:4:19: tool \"getOrder@^1\" is missing a name or listed twice",
		},
		"Slug": {
			"slug: 1st\nimplementation_type: internal\n", cli.ExitInvalid,
			"FILE:1:1: slug \"1st\"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := s.write(t, name+".yaml", c.text)
			got := s.run(t, "apply", "-f", file)
			require.Contains(t, strings.ReplaceAll(got.err, file, "FILE"), c.want)
			require.Contains(t, got.err, " | ")
			require.Contains(t, got.err, "^\n")
			require.Equal(t, c.code, got.code, got.err)
		})
	}
}

// Two definitions of one thing are refused with both their places, and nothing
// is sent.
func TestCollisions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.write(t, "defs/a.yaml", "slug: say\nimplementation_type: internal\n")
	s.write(
		t, "defs/b.yaml",
		"kind: agent\nslug: say\nmodel: scripted/x\n---\nkind: tool\nslug: say\nimplementation_type: internal\n",
	)
	got := s.run(t, "apply", "-f", s.dir+"/defs")
	require.Equal(t, cli.ExitInvalid, got.code)
	require.Contains(
		t, got.err,
		"defs/b.yaml:6:1: tool say is defined twice: the first time at "+s.dir+"/defs/a.yaml:1\n    6 | slug: say\n",
	)
	require.Equal(t, cli.ExitNotFound, s.run(t, "tool", "show", "say").code)
}

// An unknown name is reported with the one that was probably meant.
func TestNearestNames(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.tools(t, "getOrder")
	s.ok(t, "apply", "-f", s.write(t, "desk.yaml", "kind: agent\nslug: desk\nmodel: scripted/x\n"))
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"tool", "show", "getOrdr"}, "Did you mean getOrder?"},
		{[]string{"tool", "publish", "getorder"}, "Did you mean getOrder?"},
		{[]string{"tool", "explain", "getOrderr"}, "Did you mean getOrder?"},
		{[]string{"tool", "show", "somethingElse"}, "toolcrib tool list shows those there are."},
		{[]string{"agent", "show", "dest"}, "Did you mean desk?"},
		{[]string{"run", "start", "dsk@^1", "-i", "x"}, "Did you mean desk?"},
	} {
		got := s.run(t, c.args...)
		require.Equal(t, cli.ExitNotFound, got.code, "%s: %s", c.args, got.err)
		require.Contains(t, got.err, c.says, c.args)
	}
	got := s.run(t, "tool", "publish", "getOrder", "--version", "7.0.0")
	require.Equal(t, cli.ExitNotFound, got.code)
	require.NotContains(t, got.err, "Did you mean")
}
