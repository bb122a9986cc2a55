package cli_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/tool"
)

// complete returns the words that complete a command line.
func (s *shell) complete(t *testing.T, args ...string) []string {
	t.Helper()
	got := s.run(t, append([]string{"__complete"}, args...)...)
	require.Equal(t, cli.ExitOK, got.code, got.err)
	var found []string
	for line := range strings.Lines(got.out) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(word, ":") {
			found = append(found, word)
		}
	}
	return found
}

// Shells complete the names of what there is, as far as the key may see it.
func TestCompletion(t *testing.T) {
	t.Parallel()
	s := setup(t)
	tenant := s.Tenant(t)
	s.vars[cli.KeyVariable] = s.Key(t, tenant, "*")
	s.tools(t, "sayWords", "sayMore")
	s.ok(
		t, "apply", "-f",
		s.write(t, "desk.yaml", "kind: agent\nslug: desk\nmodel: scripted/x\nversion: 1.0.0\npublish: true\n"),
	)
	_, err := s.Store.CreateRun(t.Context(), agent.Run{
		Tenant: tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "w",
		Principal: tool.Principal{Tenant: tenant},
	}, agent.Message{})
	require.NoError(t, err)
	for _, command := range []string{
		"show", "publish", "version", "versions", "diff", "explain", "call", "enable", "disable", "deprecate",
	} {
		require.ElementsMatch(t, []string{"sayMore", "sayWords"}, s.complete(t, "tool", command, "say"), command)
	}
	require.Equal(t, []string{"1.0.0"}, s.complete(t, "tool", "diff", "sayWords", ""))
	require.Equal(t, []string{"1.0.0"}, s.complete(t, "tool", "publish", "sayWords", "--version", ""))
	require.Empty(t, s.complete(t, "tool", "show", "sayWords", ""))
	for _, command := range [][]string{
		{"agent", "show"}, {"agent", "publish"}, {"agent", "versions"}, {"run", "start"}, {"run", "list", "--agent"},
	} {
		require.Equal(t, []string{"desk"}, s.complete(t, append(command, "")...), command)
	}
	for _, command := range []string{"show", "follow", "messages", "events", "cancel"} {
		require.Len(t, s.complete(t, "run", command, ""), 1, command)
	}
	require.Equal(t, []string{"sayWords"}, s.complete(t, "invocations", "list", "--tool", "sayW"))
	require.Equal(t, []string{"published"}, s.complete(t, "tool", "list", "--status", "pub"))
	require.Equal(t, []string{"production", "debug"}, s.complete(t, "tool", "call", "sayWords", "--mode", ""))
	require.Contains(t, s.complete(t, "tool", "list", "--type", ""), "http")

	s.vars["XDG_CONFIG_HOME"] = s.dir
	s.ok(t, "context", "add", "prod", "--server", "https://x.example", "--key-env", "X")
	require.Equal(t, []string{"prod", "local", "approver"}, s.complete(t, "context", "use", ""))
	require.Equal(t, []string{"prod"}, s.complete(t, "tool", "list", "--context", "p"))

	s.vars[cli.KeyVariable] = s.Key(t, s.Tenant(t), "*")
	require.Empty(t, s.complete(t, "tool", "show", "say"))
}

// A completion that cannot be had is none: no error, and nothing on the screen.
func TestCompletionIsSilent(t *testing.T) {
	t.Parallel()
	broken := &shell{dir: t.TempDir()}
	for name, vars := range map[string]map[string]string{
		"NoServer": {cli.ServerVariable: "http://127.0.0.1:1"},
		"BadURL":   {cli.ServerVariable: "nowhere"},
		"NoConfig": {cli.ConfigVariable: broken.write(t, "broken.yaml", "contexts: [\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shell{vars: vars}
			for _, command := range [][]string{
				{"tool", "show", ""}, {"run", "start", ""}, {"run", "show", ""}, {"tool", "list", "--context", ""},
			} {
				for _, word := range s.complete(t, command...) {
					require.Contains(t, []string{"local", "approver"}, word)
				}
			}
		})
	}
}

// Scripts for shells are what the shells take, as far as they are here to ask.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	s := &shell{}
	for name, says := range map[string]string{
		"bash": "__start_toolcrib", "zsh": "#compdef toolcrib", "fish": "complete -c toolcrib",
		"powershell": "Register-ArgumentCompleter",
	} {
		script := s.ok(t, "completion", name)
		require.Contains(t, script, says)
		if path, err := exec.LookPath(name); err == nil && name != "powershell" {
			check := exec.CommandContext(t.Context(), path, "-n", scriptFile(t, script))
			out, err := check.CombinedOutput()
			require.NoError(t, err, string(out))
		}
	}
	got := s.run(t, "completion", "tcsh")
	require.Equal(t, cli.ExitUsage, got.code)
	require.Contains(t, got.err, `"tcsh" is no shell that is known`)
}

// scriptFile writes a script to a file.
func scriptFile(t *testing.T, script string) string {
	t.Helper()
	return (&shell{dir: t.TempDir()}).write(t, "script", script)
}
