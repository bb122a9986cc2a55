package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

const addContract = `---
slug: addNumbers
implementation_type: internal
version: 1.0.0
publish: true
input_schema:
  type: object
  properties: {a: {type: number, description: One of the numbers.}}
---
# Add numbers

Adds two numbers. Use it when a sum is asked for.

## Examples

` + "```json\n{\"a\": 1}\n```\n\n```json\n{\"a\": \"x\"}\n```\n"

// A contract is registered only with --apply, and its faults have their place.
func TestToolRegister(t *testing.T) {
	t.Parallel()

	s := setup(t)
	file := s.write(t, "TOOL.md", addContract)
	require.Contains(t, s.ok(t, "tool", "register", "--file", file), "would be created, published")
	require.NotEqual(t, cli.ExitOK, s.run(t, "tool", "show", "addNumbers").code, "nothing was changed")
	require.Contains(t, s.ok(t, "tool", "register", file, "--apply"), "created, published")
	require.Contains(t, s.ok(t, "tool", "register", filepath.Dir(file), "--apply"), "unchanged")
	other := s.write(t, "other.tool.md", strings.ReplaceAll(addContract, "addNumbers", "addPairs"))
	both := s.ok(t, "tool", "register", file, "-f", other)
	require.Contains(t, both, "unchanged")
	require.Contains(t, both, "would be created, published")
	require.Contains(t, s.ok(t, "tool", "show", "addNumbers"), "Use it when a sum is asked for.")

	wrong := s.write(t, "wrong.tool.md", "---\nslug: a b\nimplementation_type: internal\n---\n# A\n")
	got := s.run(t, "tool", "register", wrong)
	require.NotEqual(t, cli.ExitOK, got.code)
	require.Contains(t, got.err, "wrong.tool.md:2:")
	require.Equal(t, cli.ExitUsage, s.run(t, "tool", "register").code)
	weak := s.write(t, "weak.tool.md", "---\nslug: addMore\nimplementation_type: internal\n---\n# A\nAdds.\n")
	got = s.run(t, "tool", "register", weak, "--strict", "--apply")
	require.NotEqual(t, cli.ExitOK, got.code)
	require.Contains(t, got.err, "description-short")

	got = s.run(t, "tool", "test", wrong)
	require.NotEqual(t, cli.ExitOK, got.code)
}

// Without a worker, the examples of a contract are checked alone: here by a server without the draft.
func TestToolTestOfAContract(t *testing.T) {
	t.Parallel()

	s := setup(t)
	got := s.run(t, "tool", "test", s.write(t, "TOOL.md", addContract))
	require.Equal(t, cli.ExitFailure, got.code, "an example has a text for a number")
	require.Contains(t, got.out, `"example 1": checked: it was not called, since the tool is not registered`)
	require.Contains(t, got.out, `"example 2": failed`)
}

func TestToolCheck(t *testing.T) {
	t.Parallel()

	s := setup(t)
	file := s.write(t, "tool.yaml",
		"kind: tool\nslug: cancelOrder\nimplementation_type: internal\ndescription: Cancels.\n")
	got := s.ok(t, "tool", "check", "-f", file, "--offline")
	require.Contains(t, got, "tool.yaml:4:1: description-short")
	require.NotContains(t, got, "no-finder", "nothing is known of other tools")
	require.Equal(t, cli.ExitFailure, s.run(t, "tool", "check", "-f", file, "--offline", "--strict").code)
	require.Contains(t, s.ok(t, "tool", "check", "-f", file), "no-finder")
	s.ok(t, "apply", "-f", file)
	require.Contains(t, s.ok(t, "tool", "check", "cancelOrder"), "cancelOrder: no-finder")
	require.Equal(t, cli.ExitUsage, s.run(t, "tool", "check").code)
	require.Contains(t, s.ok(t, "tool", "check", "--codes"), "description-injection")
	strict := s.run(t, "tool", "publish", "cancelOrder", "--strict")
	require.Equal(t, 5, strict.code)
	require.Contains(t, strict.err, "description-short")
	require.Contains(t, s.run(t, "tool", "publish", "cancelOrder").err, "warning: description-short")
}

// What is exported, applied again, changes nothing: for each kind.
func TestExportRoundTrip(t *testing.T) {
	t.Parallel()

	s := setup(t)
	all := s.write(t, "all.yaml", `kind: toolset
slug: support
name: Support
tools: ["sayHello@^1", {tool: keepDraft}]
---
kind: profile
name: careful
requires_approval: true
rate: {calls: 10, per: minute}
---
kind: pipeline
slug: handbook
name: Handbook
---
kind: tool
slug: sayHello
description: Says hello. Use it to greet.
implementation_type: internal
version: 1.2.0
publish: true
required_permission: greetings.say
input_schema: {type: object, properties: {name: {type: string, default: "yes"}}}
confirmation: {when: "has(input.name)"}
---
kind: tool
slug: keepDraft
description: |
  A draft
  of two lines.
implementation_type: internal
execution: {timeout_s: 5, is_pure: true}
---
kind: agent
slug: desk
instructions: Help.
model: scripted/desk
tools: [sayHello]
`)
	first := s.ok(t, "apply", "-f", all)
	require.Contains(t, first, "toolset")
	dir := filepath.Join(t.TempDir(), "out")
	require.Contains(t, s.ok(t, "export", "--to", dir), "toolsets")
	for _, file := range []string{
		"toolsets/support.yaml", "profiles/careful.yaml", "pipelines/handbook.yaml", "tools/sayHello.yaml",
		"tools/keepDraft.yaml", "agents/desk.yaml",
	} {
		_, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err, file)
	}
	again := s.ok(t, "apply", "-f", dir)
	require.NotContains(t, again, "created")
	require.NotContains(t, again, "updated")
	require.Contains(t, again, "unchanged")

	only := filepath.Join(t.TempDir(), "only")
	s.ok(t, "export", "--kind", "toolsets", "--to", only)
	entries, err := os.ReadDir(only)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, cli.ExitUsage, s.run(t, "export").code)
	require.Equal(t, cli.ExitUsage, s.run(t, "export", "--kind", "secrets", "--to", dir).code)
	require.Contains(t, s.ok(t, "export", "--json", "--kind", "profiles"), `"careful"`)
}

// A toolset of tools that are not there is refused with its place, and nothing is written.
func TestApplyToolsetRefusals(t *testing.T) {
	t.Parallel()

	s := setup(t)
	file := s.write(t, "set.yaml",
		"kind: profile\nname: calm\n---\nkind: toolset\nslug: support\ntools:\n  - sayNothing\n")
	got := s.run(t, "apply", "-f", file)
	require.NotEqual(t, cli.ExitOK, got.code)
	require.Contains(t, got.err, "set.yaml:7:")
	require.NotEqual(t, cli.ExitOK, s.run(t, "profile", "get", "calm").code, "all or nothing")
}
