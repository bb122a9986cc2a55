package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/tool"
)

// A wrong command line ends with code 2 and says what is wrong with it.
func TestUsage(t *testing.T) {
	t.Parallel()
	s := &shell{}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"nonsense"}, `unknown command "nonsense"`},
		{[]string{"tool", "lst"}, `toolcrib tool has no command "lst": did you mean list?`},
		{[]string{"tool", "show"}, "toolcrib tool show needs a tool"},
		{[]string{"tool", "show", "a", "b"}, `does not know what to do with "b"`},
		{[]string{"tool", "list", "--colour"}, "unknown flag: --colour"},
		{[]string{"tool", "list", "--limit", "x"}, "invalid argument"},
		{[]string{"apply"}, "needs -f"},
		{[]string{"run", "start", "desk"}, "give --input or --input-file"},
		{[]string{"invocations", "list", "--since", "yesterday"}, `"yesterday" is no time`},
		{[]string{"key", "create", "ci"}, "--permission"},
		{[]string{"serve"}, "TOOLCRIB_DATABASE_URL"},
		{[]string{"worker"}, "TOOLCRIB_DATABASE_URL"},
		{[]string{"tenant", "list"}, "TOOLCRIB_DATABASE_URL"},
		{[]string{"worker", "--database-url", "x", "--allow-port", "y"}, "is no port"},
	} {
		got := s.run(t, c.args...)
		require.Equal(t, cli.ExitUsage, got.code, c.args)
		require.Contains(t, got.err, c.says, c.args)
		require.Empty(t, got.out, c.args)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	s := &shell{}
	require.Contains(t, s.ok(t), "toolcrib dev")
	require.Contains(t, s.ok(t, "--help"), "toolcrib exit-codes")
	codes := s.ok(t, "help", "exit-codes")
	for _, line := range []string{
		"  0  done", "  3  there is no such thing", "(unavailable, timeout, rate_limited)", "130  interrupted",
	} {
		require.Contains(t, codes, line)
	}
	require.Contains(t, s.ok(t, "tool"), "explain")
}

// A server that is not there is told of with what to do about it.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := &shell{vars: map[string]string{cli.ServerVariable: "http://127.0.0.1:1"}}
	got := s.run(t, "tool", "list")
	require.Equal(t, cli.ExitUnavailable, got.code)
	require.Equal(t, "toolcrib: the server http://127.0.0.1:1 is not answering: nothing listens there\n"+
		"Start one with: toolcrib dev\nor say where it is with --server, TOOLCRIB_SERVER or a context. "+
		"The server comes from TOOLCRIB_SERVER.\n", got.err)

	got = s.run(t, "tool", "list", "--json")
	var failed struct {
		Error v1.Problem `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.err), &failed))
	require.Equal(t, tool.Unavailable, failed.Error.Code)

	got = s.run(t, "tool", "list", "--server", "ftp://x")
	require.Equal(t, cli.ExitInvalid, got.code)
	require.Contains(t, got.err, "is no http or https URL")
}

// Server and key are found in the data folder of toolcrib dev, here or above.
func TestDataFolder(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for name, variable := range map[string]string{"server": cli.ServerVariable, "key": cli.KeyVariable} {
		s.write(t, ".toolcrib/"+name, s.vars[variable]+"\n")
	}
	s.vars = nil
	s.dir = filepath.Join(s.dir, "a", "b")
	require.NoError(t, os.MkdirAll(s.dir, 0o755))
	require.Contains(t, s.run(t, "tool", "list").err, "no tools yet")
}

// Failures of the server are exit codes.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(
		t, "apply", "-f", s.write(t, "t.yaml", "slug: say\nimplementation_type: internal\nversion: 1.0.0\npublish: true\n"),
	)
	for _, c := range []struct {
		code int
		args []string
	}{
		{cli.ExitNotFound, []string{"tool", "show", "none"}},
		{cli.ExitNotFound, []string{"apply", "-f", "no/such/file"}},
		{cli.ExitDenied, []string{"tool", "list", "--key", "tck_wrong"}},
		{cli.ExitConflict, []string{"tool", "version", "say", "0.1.0"}},
		{cli.ExitUnavailable, []string{"tool", "call", "say", "--wait", "1s"}},
		{cli.ExitInvalid, []string{"tool", "list", "--status", "odd"}},
		{cli.ExitInvalid, []string{"tool", "call", "say", "--args", "{"}},
	} {
		got := s.run(t, c.args...)
		require.Equal(t, c.code, got.code, "%s: %s", c.args, got.err)
		require.NotEmpty(t, got.err)
	}
	s.vars[cli.KeyVariable] = ""
	require.Contains(t, s.run(t, "tool", "list").err, "--key, TOOLCRIB_KEY or a context")
}
