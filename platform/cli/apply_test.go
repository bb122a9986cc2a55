package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
)

const sayYAML = `kind: tool
slug: sayWords
description: Says it.
implementation_type: internal
version: 1.0.0
publish: true
input_schema: &schema
  type: object
  properties:
    words: {type: array, items: {type: string}}
---
# A document of comments only.
---
kind: agent
slug: desk
instructions: |
  Help.
model: scripted/desk
version: 1.0.0
publish: true
tools: [sayWords@^1.0]
`

func TestApplyFolder(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.write(t, "defs/a/agents.yaml", sayYAML)
	s.write(t, "defs/b.json", `{"kind": "tool",
	"slug": "getOther", "description": "Gets it.", "implementation_type": "internal", "version": "1.0.0"}`)
	s.write(t, "defs/README.md", "not a definition")
	s.write(t, "defs/.hidden/x.yaml", "nonsense")
	folder := s.dir + "/defs"

	require.Equal(t, `KIND   SLUG      VERSION  RESULT
tool   sayWords  1.0.0    would be created, published
agent  desk      1.0.0    would be created, published
tool   getOther  1.0.0    would be created
`, s.ok(t, "apply", "-f", folder, "--dry-run"))
	require.Contains(t, s.ok(t, "apply", "-f", folder), "agent  desk      1.0.0    created, published\n")
	require.Contains(t, s.ok(t, "apply", "-f", folder), "tool   getOther  1.0.0    unchanged\n")

	var shown struct {
		Failed int `json:"failed"`
		Items  []struct {
			File, Action string
			Line         int
		} `json:"items"`
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "apply", "-f", folder, "--json")), &shown))
	require.Len(t, shown.Items, 3)
	require.Equal(t, "unchanged", shown.Items[1].Action)
	require.True(t, strings.HasSuffix(shown.Items[1].File, "agents.yaml"))
	require.Equal(t, 14, shown.Items[1].Line)

	got := s.pipe(t, sayYAML, "apply", "-f", "-")
	require.Equal(t, cli.ExitOK, got.code, got.err)
	require.Contains(t, s.ok(t, "agent", "show", "desk"), "sayWords@^1.0")
	require.Contains(t, s.ok(t, "tool", "show", "sayWords"), `{"type":"object","properties":{"words":`)
}

// Every fault of a definition is reported with its file, line and column.
func TestApplyFaults(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for name, c := range map[string]struct{ text, want string }{
		"tab":       {"kind: tool\nslug:\n\t- x\n", "FILE:3:1: malformed YAML: there is a tab"},
		"unclosed":  {"kind: tool\ntools: [a\n", "FILE:2:8: malformed YAML: "},
		"twice":     {"kind: tool\nslug: a\nslug: b\n", `FILE:3:1: malformed YAML: mapping key "slug" already defined`},
		"no anchor": {"slug: say\ninput_schema: *nothing\n", "FILE:2:15: there is no anchor &nothing"},
		"tag":       {"slug: !env SAY\n", "FILE:1:7: the tag !env is not supported"},
		"infinite":  {"slug: say\nexecution: {timeout_s: .inf}\n", "FILE:2:24: .inf is no number"},
		"unknown field": {
			"kind: tool\nslug: say\nimplementation_typ: internal\n",
			`FILE:3:1: unknown field "implementation_typ": did you mean implementation_type?`,
		},
		"nested field": {
			"slug: say\nimplementation_type: internal\nexecution:\n  is_pure: true\n  time_out_s: 3\n",
			"FILE:5:3: unknown field \"time_out_s\": did you mean timeout_s?",
		},
		"camelCase":  {"slug: say\nimplementationType: internal\ninputSchema:\n  type: 7\n", "FILE:4:3: "},
		"wrong type": {"slug: say\nimplementation_type: internal\npublish: maybe\n", "FILE:3:1: "},
		"bad semver": {
			"slug: say\nimplementation_type: internal\nversion: one\n",
			"FILE:3:1: version \"one\": expected a semantic version",
		},
		"no mapping": {"- a\n- b\n", "FILE:1:1: expected an object with the fields of a definition"},
		"marker": {
			"%YAML 1.2\n--- # first\n---\n...\n---   \nslug: 1x\nimplementation_type: internal\n", "FILE:6:1: slug \"1x\"",
		},
		"second": {
			"slug: say\nimplementation_type: internal\n---\nslug: 1x\nimplementation_type: internal\n", "FILE:4:1: slug \"1x\"",
		},
		"JSON": {
			"{\n  \"slug\": \"say\",\n  \"colour\": 1,\n  \"implementation_type\": \"internal\"\n}\n",
			"FILE:3:3: unknown field \"colour\"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := s.write(t, strings.ReplaceAll(name, " ", "-")+".yaml", c.text)
			got := s.run(t, "apply", "-f", file)
			require.Equal(t, cli.ExitInvalid, got.code, got.out+got.err)
			require.Contains(t, strings.ReplaceAll(got.out+got.err, file, "FILE"), c.want)
		})
	}
}

// Aliases that blow a document up, or have no end, are refused.
func TestApplyBomb(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 8 {
		refs := strings.Repeat(fmt.Sprintf("*a%d, ", i), 9)
		fmt.Fprintf(&bomb, "a%d: &a%d [%s*a%d]\n", i+1, i+1, refs, i)
	}
	require.Contains(t, s.run(t, "apply", "-f", s.write(t, "bomb.yaml", bomb.String())).err, "too large")
	require.Contains(t, s.run(t, "apply", "-f", s.write(t, "loop.yaml", "a: &a [*a]\n")).err, "no anchor")
}

// Merge keys and aliases bring what they stand for; what stands beside wins.
func TestApplyMerge(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "merge.yaml", `kind: tool
slug: say
implementation_type: internal
execution: {is_pure: true, timeout_s: 7}
input_schema:
  type: object
  properties:
    a: &text {type: string, maxLength: 3}
    b: {<<: *text, maxLength: 5}
    c: *text
    d: {type: number, maximum: 12345678901234567890123}
`))
	require.Contains(t, s.ok(t, "tool", "show", "say"),
		`"a":{"type":"string","maxLength":3},"b":{"maxLength":5,"type":"string"},"c":{"type":"string","maxLength":3},"d":{"type":"number","maximum":12345678901234567890123}`)
}

// A folder of another user must not make apply send a file of this user, or
// wait for a pipe.
func TestApplyRefusesWhatIsNoRegularFile(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.write(t, "elsewhere/secret.yaml", sayYAML)
	s.write(t, "linked/a.yaml", sayYAML)
	require.NoError(t, os.Symlink(filepath.Join(s.dir, "elsewhere/secret.yaml"), filepath.Join(s.dir, "linked/b.yaml")))
	require.NoError(t, os.Symlink(filepath.Join(s.dir, "elsewhere"), filepath.Join(s.dir, "folder")))
	require.NoError(t, os.MkdirAll(filepath.Join(s.dir, "pipes"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(s.dir, "pipes/a.yaml"), 0o600))
	s.write(t, "artifacts/a.yaml", "kind: artifact\nslug: quote\nname: Quote\nfile: quote.js\n")
	require.NoError(t, os.Symlink(filepath.Join(s.dir, "artifacts/a.yaml"), filepath.Join(s.dir, "artifacts/quote.js")))
	for path, says := range map[string]string{
		"linked": "b.yaml is a symbolic link", "linked/b.yaml": "is a symbolic link", "folder": "is a symbolic link",
		"pipes": "is no regular file", "pipes/a.yaml": "is no regular file",
		"artifacts/a.yaml": "quote.js is no regular file",
	} {
		got := s.run(t, "apply", "-f", filepath.Join(s.dir, path))
		require.NotZero(t, got.code, path)
		require.Contains(t, got.err, says, path)
		require.Empty(t, got.out)
	}
}

// Reading what never ends stops when the command is asked to.
func TestApplyStopsOnASignal(t *testing.T) {
	t.Parallel()
	s := setup(t)
	in, never := io.Pipe()
	t.Cleanup(func() { _ = never.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	env := cli.Env{In: in, Out: io.Discard, Err: io.Discard, Dir: s.dir}
	done := make(chan int, 1)
	go func() { done <- cli.Run(ctx, env, []string{"apply", "-f", "-"}, commands.New) }()
	_, err := never.Write([]byte("kind: tool\n"))
	require.NoError(t, err)
	cancel()
	require.NotZero(t, <-done)
}
