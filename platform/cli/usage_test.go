package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
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
		{[]string{"nonsense"}, `there is no command "nonsense": see toolcrib --help`},
		{[]string{"tool", "lst"}, `toolcrib tool has no command "lst": did you mean list?`},
		{[]string{"tool", "show"}, "toolcrib tool show needs a tool"},
		{[]string{"tool", "show", "a", "b"}, `does not know what to do with "b"`},
		{[]string{"tool", "list", "--colour"}, "unknown flag: --colour"},
		{[]string{"tool", "list", "--limit", "x"}, `--limit "x": expected a whole number, such as 20`},
		{[]string{"run", "list", "--limit=x"}, `--limit "x": expected a whole number, such as 20`},
		{[]string{"tool", "call", "x", "--wait", "10"}, `--wait "10": expected a duration, such as 30s, 5m or 720h`},
		{[]string{"tool", "list", "--all=maybe"}, `--all "maybe": expected true or false`},
		{[]string{"tool", "list", "--limit"}, "--limit needs a value: see toolcrib tool list --help"},
		{[]string{"tool", "list", "--limt", "3"}, "unknown flag: --limt: did you mean --limit?"},
		{[]string{"tool", "call", "x", "--aply"}, "unknown flag: --aply: see toolcrib tool call --help"},
		{[]string{"tool", "rename", "a", "b", "--keep-until", "x", "--drop-former"}, "give one of --drop-former and --keep-until"},
		{[]string{"run", "start", "a", "--wait", "--follow"}, "give one of --follow and --wait"},
		{
			[]string{"credential", "set", "x", "--host", "h.example", "--from-env", "FOO"},
			"--from-env FOO: the variable FOO is not set, or empty",
		},
		{[]string{"worker", "--database-url", "x", "--allow-host", "http://x:80/"}, "is no host: name it as x:80"},
		{[]string{"apply", "reads.yaml"}, "toolcrib apply takes files with -f: toolcrib apply -f reads.yaml"},
		{[]string{"pipeline", "search", "docs", "--limt", "3"}, "unknown flag: --limt: did you mean --limit?"},
		{[]string{"pipeline", "search", "docs", "leave", "--odd"}, `as in -- "--dlq-type"`},
		{[]string{"apply"}, "needs -f"},
		{[]string{"run", "start", "desk"}, "give --input or --input-file"},
		{[]string{"invocations", "list", "--since", "yesterday"}, `"yesterday" is no time`},
		{[]string{"key", "create", "ci"}, "--permission"},
		{[]string{"serve"}, "TOOLCRIB_DATABASE_URL"},
		{[]string{"worker"}, "TOOLCRIB_DATABASE_URL"},
		{[]string{"tenant", "list"}, "TOOLCRIB_DATABASE_URL"},
		{[]string{"worker", "--database-url", "x", "--allow-port", "y"}, "is no port"},
		{[]string{"worker", "--database-url", "x", "--cached-workflows", "0"}, "--cached-workflows 0 is out of range"},
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

// An unreachable server is reported with what to do about it.
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

// The key of a data folder never leaves for another server, and the failure there
// says so. A data folder that is not there is named.
func TestKeyOfADataFolderStaysThere(t *testing.T) {
	t.Parallel()
	var heard []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard = append(heard, r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"title":"denied","status":401,"code":"denied","detail":"an API key is required"}`)
	}))
	t.Cleanup(other.Close)
	s := &shell{dir: t.TempDir()}
	s.write(t, "d/server", "http://127.0.0.1:7\n")
	s.write(t, "d/key", "tck_dev\n")
	folder := filepath.Join(s.dir, "d")
	for _, tt := range []struct {
		vars map[string]string
		args []string
	}{
		{map[string]string{cli.DataVariable: folder}, []string{"--server", other.URL}},
		{nil, []string{"--server", other.URL, "--data", folder}},
		{map[string]string{cli.DataVariable: folder, cli.ServerVariable: other.URL}, nil},
	} {
		s.vars = tt.vars
		got := s.run(t, append([]string{"tool", "list"}, tt.args...)...)
		require.Equal(t, cli.ExitDenied, got.code, got.err)
		require.Contains(t, got.err, "For "+other.URL+", say who you are with --key: the data folder "+folder)
		require.Contains(t, got.err, "has a key, which goes to http://127.0.0.1:7 only.")
	}
	require.Equal(t, []string{"", "", ""}, heard)

	nowhere := filepath.Join(s.dir, "nowhere")
	s.vars = map[string]string{cli.DataVariable: folder}
	got := s.run(t, "tool", "list", "--data", nowhere)
	require.Equal(t, cli.ExitNotFound, got.code)
	require.Contains(t, got.err, "there is no data folder "+nowhere+" (--data)")
	require.Contains(t, s.run(t, "doctor", "--data", nowhere).out, "there is no data folder "+nowhere+" (--data)")
	s.vars = map[string]string{cli.DataVariable: s.write(t, "file", "")}
	require.Contains(t, s.run(t, "tool", "list").err, "is a file, not a data folder")
	s.vars = map[string]string{cli.DataVariable: t.TempDir()}
	require.Contains(t, s.run(t, "tool", "list").err,
		"names no server and key on this machine: start toolcrib dev --data ")
}
