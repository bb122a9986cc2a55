package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

const greetYAML = `kind: tool
slug: greet
description: Greets.
implementation_type: internal
version: 1.0.0
publish: true
input_schema:
  type: object
  properties:
    name: {type: string}
`

// A change is reported with its place, its weight, and the number it requires,
// before anything is applied.
func TestDiff(t *testing.T) {
	t.Parallel()
	s := setup(t)
	first := s.write(t, "greet.yaml", greetYAML)
	require.Equal(t, "greet is new: there is nothing to compare with, and any number will do\n",
		s.ok(t, "tool", "diff", "-f", first))
	s.ok(t, "apply", "-f", first)
	require.Equal(t, "greet: from 1.0.0 to the draft (1.0.0)\nnothing changed\n", s.ok(t, "tool", "diff", "greet"))

	for _, c := range []struct{ name, tail, want string }{
		{
			"Added", "    loud: {type: boolean}\n",
			`greet: from 1.0.0 to the definition (1.0.0)
WHERE       WEIGHS  WHAT
input/loud  minor   the property was added
the change is minor, the least version is 1.1.0
not allowed: version 1.0.0 exists with other content: the change needs a new number, at least 1.1.0 (input/loud: the property was added (minor))
`,
		},
		{
			"Required", "  required: [name]\negress_class: read_only\n",
			`greet: from 1.0.0 to the definition (1.0.0)
WHERE         WEIGHS  WHAT
input/name    major   the property is required now
egress_class  none    it went from "none" to "read_only"
the change is major, the least version is 2.0.0
not allowed: version 1.0.0 exists with other content: the change needs a new number, at least 2.0.0 (input/name: the property is required now (major))
`,
		},
	} {
		require.Equal(t, c.want, s.pipe(t, greetYAML+c.tail, "tool", "diff", "-f", "-").out, c.name)
	}
	s.ok(
		t, "apply", "-f",
		s.write(
			t, "second.yaml",
			"slug: greet\ndescription: Greets people.\nimplementation_type: internal\nversion: 2.0.0\npublish: true\n",
		),
	)
	require.Equal(t, `greet: from 1.0.0 to 2.0.0
WHERE        WEIGHS  WHAT
input/name   major   the property was removed
description  patch   it went from "Greets." to "Greets people."
the change is major, the least version is 2.0.0
`, s.ok(t, "tool", "diff", "greet", "1.0.0", "2.0.0"))

	var one v1.Diff
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "tool", "diff", "greet", "1.0.0", "--json")), &one))
	require.Equal(t, "major", one.Bump)
	var many struct {
		Items []struct {
			v1.Diff
			File string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "tool", "diff", "-f", first, "draft", "--json")), &many))
	require.Equal(t, first, many.Items[0].File)
	require.Equal(t, "draft", many.Items[0].From)
	require.True(t, many.Items[0].Enough, "it is a version already")
}

func TestDiffFaults(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "greet.yaml", greetYAML))
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{cli.ExitNotFound, "it has 1.0.0", []string{"greet", "3.0.0"}},
		{cli.ExitNotFound, "Did you mean greet?", []string{"gret"}},
		{cli.ExitUsage, "needs a tool, or -f", nil},
		{cli.ExitUsage, `does not know what to do with "b"`, []string{"-f", "x", "a", "b"}},
		{cli.ExitInvalid, ":2:1: unknown field", []string{"-f", s.write(t, "bad.yaml", "slug: greet\ncolour: red\n")}},
		{cli.ExitInvalid, "no definitions of tools", []string{"-f", s.write(t, "agent.yaml", "kind: agent\nslug: desk\n")}},
	} {
		got := s.run(t, append([]string{"tool", "diff"}, c.args...)...)
		require.Equal(t, c.code, got.code, got.err)
		require.Contains(t, got.err, c.says)
	}
}

// A dry run changes nothing and ends as the run itself would.
func TestApplyDryRun(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "greet.yaml", greetYAML))
	narrower := s.write(
		t, "narrower.yaml", greetYAML[:len(greetYAML)-len("    name: {type: string}\n")]+"    name: {type: integer}\n",
	)
	for _, command := range [][]string{{"apply"}, {"tool", "apply"}} {
		dry := s.run(t, append(command, "-f", narrower, "--dry-run")...)
		require.Equal(t, cli.ExitConflict, dry.code, dry.err)
		require.Contains(t, dry.err, narrower+":5:1: version 1.0.0 exists with other content")
		require.Contains(t, dry.err, "    5 | version: 1.0.0\n      | ^\n")
		require.Equal(t, s.run(t, append(command, "-f", narrower)...).code, dry.code)
	}
	require.Contains(t, s.ok(t, "tool", "show", "greet"), `"name":{"type":"string"}`)

	// An agent whose tool is not there stops the tools beside it too.
	desk := s.write(t, "desk.yaml", "slug: other\nimplementation_type: internal\nversion: 1.0.0\npublish: true\n---\n"+
		"kind: agent\nslug: desk\nmodel: scripted/x\nversion: 1.0.0\npublish: true\ntools: [other, gret]\n")
	for _, args := range [][]string{{"--dry-run"}, nil} {
		got := s.run(t, append([]string{"apply", "-f", desk}, args...)...)
		require.Equal(t, cli.ExitNotFound, got.code, got.err)
		require.Contains(t, got.err, desk+":11:16: 1 of 1 tools cannot be bound: gret (not_found:")
		require.Contains(t, got.err, "did you mean greet?")
		require.Equal(t, cli.ExitNotFound, s.run(t, "tool", "show", "other").code)
	}
}
