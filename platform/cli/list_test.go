package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// tools applies tools of these slugs.
func (s *shell) tools(t *testing.T, slugs ...string) {
	t.Helper()
	var text strings.Builder
	for _, slug := range slugs {
		fmt.Fprintf(&text, "---\nkind: tool\nslug: %s\ndescription: Says what it is told, at length, so that a line of it "+
			"is too long for a screen.\n"+
			"implementation_type: internal\nversion: 1.0.0\npublish: true\n", slug)
	}
	s.ok(t, "apply", "-f", s.write(t, slugs[0]+".yaml", text.String()))
}

// Lists are fetched page by page, as far as they are asked for.
func TestListPages(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var slugs []string
	for i := range 205 {
		slugs = append(slugs, fmt.Sprintf("say%03d", i))
	}
	s.tools(t, slugs...)
	list := func(args ...string) (got struct {
		Items []struct{ Slug string }
		Next  string
	},
	) {
		require.NoError(
			t, json.Unmarshal([]byte(s.ok(t, append([]string{"tool", "list", "--json", "--search", "say"}, args...)...)), &got),
		)
		return got
	}
	require.Len(t, list().Items, 50)
	require.Len(t, list("--limit", "203").Items, 203)
	all := list("--all")
	require.Len(t, all.Items, 205)
	require.Empty(t, all.Next)
	first := list("--limit", "3")
	require.Equal(t, "say003", list("--limit", "1", "--cursor", first.Next).Items[0].Slug)

	got := s.run(t, "tool", "list", "--limit", "2")
	require.Equal(t, 3, strings.Count(got.out, "\n"))
	require.Contains(t, got.err, "there is more: --all, or --cursor ")
	for _, wrong := range [][]string{{"--limit", "-1"}, {"--all", "--limit", "3"}} {
		require.Equal(t, cli.ExitUsage, s.run(t, append([]string{"tool", "list"}, wrong...)...).code)
	}
}

// On a terminal a table fits, whatever is in it; in a pipe it is whole.
func TestListWidth(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.tools(t, "sayWords")
	whole := s.ok(t, "tool", "list", "--search", "sayWords")
	require.NotContains(t, strings.SplitAfter(whole, "\n")[0], "…")
	s.columns = 72
	lines := strings.Split(s.ok(t, "tool", "list", "--search", "sayWords"), "\n")
	require.Len(t, lines, 3)
	for _, line := range lines {
		require.LessOrEqual(t, len([]rune(line)), 72)
	}
	require.True(t, strings.HasSuffix(lines[1], "…"), lines[1])
	s.vars["COLUMNS"] = "200"
	require.Equal(t, whole, s.ok(t, "tool", "list", "--search", "sayWords"))
	s.vars["COLUMNS"] = "odd"
	require.NotEqual(t, whole, s.ok(t, "tool", "list", "--search", "sayWords"))
}

// Agents are listed by status and text.
func TestAgentListFilters(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "a.yaml",
		"kind: agent\nslug: refundDesk\nmodel: scripted/x\nversion: 1.0.0\n---\n"+
			"kind: agent\nslug: stockDesk\nmodel: scripted/x\n"))
	s.ok(t, "agent", "publish", "refundDesk")
	for _, flags := range [][]string{{"--status", "published"}, {"--search", "REFUND"}} {
		out := s.ok(t, append([]string{"agent", "list"}, flags...)...)
		require.Contains(t, out, "refundDesk")
		require.NotContains(t, out, "stockDesk")
	}
	require.Contains(t, s.run(t, "agent", "list", "--search", "missing").err, "the filters may leave out too much")
}

// A list of nothing says what to do next, where no program reads it.
func TestEmptyLists(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"tool", "list", "--status", "disabled"}, "the filters may leave out too much"},
		{[]string{"agent", "list"}, "kind: agent"},
		{[]string{"run", "list"}, "toolcrib run start AGENT"},
		{[]string{"run", "list", "--since", "1h"}, "the filters"},
		{[]string{"invocations", "list", "--limit", "5"}, "toolcrib tool call TOOL"},
	} {
		got := s.run(t, c.args...)
		require.Equal(t, cli.ExitOK, got.code, got.err)
		require.Empty(t, got.out, c.args)
		require.Contains(t, got.err, c.says, c.args)
		require.Contains(t, s.ok(t, append(c.args, "--json")...), `"items": []`, c.args)
	}
}

// Versions are listed as they are made.
func TestVersions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(
		t, "apply", "-f",
		s.write(
			t, "t.yaml",
			"slug: say\nimplementation_type: internal\nversion: 1.0.0\n---\nkind: agent\nslug: desk\nmodel: scripted/x\n",
		),
	)
	require.Contains(t, s.run(t, "tool", "versions", "say").err, "say has only a draft")
	require.Contains(t, s.run(t, "agent", "versions", "desk").err, "desk has only a draft")
	s.ok(t, "tool", "version", "say", "1.0.0")
	require.Contains(t, s.ok(t, "tool", "versions", "say"), "1.0.0    snapshot  ")
	s.ok(t, "tool", "publish", "say", "--version", "1.0.0")
	s.ok(t, "agent", "publish", "desk")
	require.Contains(t, s.ok(t, "tool", "versions", "say"), "1.0.0    published")
	require.Contains(t, s.ok(t, "agent", "versions", "desk"), "published")
	require.Equal(t, cli.ExitOK, s.run(t, "tool", "apply", "-f", s.dir+"/t.yaml").code)
}
