package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// The command line of MCP servers says what to do where nothing can be done.
func TestMCPCommandLine(t *testing.T) {
	t.Parallel()
	s := setup(t)
	empty := s.run(t, "mcp", "list")
	require.Equal(t, cli.ExitOK, empty.code)
	require.Contains(t, empty.err, "toolcrib mcp attach SLUG --url URL")
	require.JSONEq(t, `{"items":[]}`, s.ok(t, "mcp", "list", "--json"))
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"mcp", "attach", "files"}, cli.ExitUsage, "needs --url, or --command"},
		{[]string{"mcp", "attach", "files", "--url", "https://files.example.com", "--header", "X-Team"}, cli.ExitUsage, "expected 'Name: value'"},
		{[]string{"mcp", "attach", "files", "--url", "https://files.example.com", "--auth", "basic"}, cli.ExitUsage, "go with --credential"},
		{[]string{"mcp", "show", "files"}, cli.ExitNotFound, `server "files" not found`},
		{[]string{"mcp", "refresh", "files"}, cli.ExitNotFound, `server "files" not found`},
		{[]string{"mcp", "diff", "files", "read_file"}, cli.ExitNotFound, `server "files" not found`},
		{[]string{"mcp", "approve", "files", "read_file"}, cli.ExitNotFound, `server "files" not found`},
		{[]string{"mcp", "approve", "files"}, cli.ExitUsage, "needs a name"},
		{[]string{"mcp", "approve", "files", "a", "b", "--digest", "x"}, cli.ExitUsage, "that of one tool"},
		{[]string{"mcp", "detach", "files"}, cli.ExitNotFound, `server "files" not found`},
		{[]string{"mcp", "update", "files", "--allow", "x"}, cli.ExitNotFound, `server "files" not found`},
	} {
		got := s.run(t, tt.args...)
		require.Equal(t, tt.code, got.code, "%v: %s", tt.args, got.err)
		require.Contains(t, got.err, tt.says, "%v", tt.args)
	}
}
