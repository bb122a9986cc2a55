package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

// The results of a server are trusted, and then not any more, for people and for programs; the audit log has both.
func TestMCPTrust(t *testing.T) {
	t.Parallel()
	s, server, url := setupServers(t)
	offer(server, "read_file", "Reads a file.", "path")
	s.ok(t, "mcp", "attach", "files", "--url", url)

	requireLines(t, s.ok(t, "mcp", "trust", "files"), "results of files are trusted")
	show := func() v1.MCPServer {
		var shown struct{ Server v1.MCPServer }
		require.NoError(t, json.Unmarshal([]byte(s.ok(t, "mcp", "show", "files", "--json")), &shown))
		return shown.Server
	}
	require.True(t, show().Trusted)
	requireLines(t, s.ok(t, "mcp", "distrust", "files"), "results of files are untrusted")
	require.False(t, show().Trusted)

	for command, trusted := range map[string]bool{"trust": true, "distrust": false} {
		var changed v1.MCPServer
		require.NoError(t, json.Unmarshal([]byte(s.ok(t, "mcp", command, "files", "--json")), &changed))
		require.Equal(t, "files", changed.Slug)
		require.Equal(t, trusted, changed.Trusted)

		unknown := s.run(t, "mcp", command, "folders")
		require.Equal(t, cli.ExitNotFound, unknown.code)
		require.Contains(t, unknown.err, "folders")
		require.Equal(t, cli.ExitUsage, s.run(t, "mcp", command).code)
	}
	require.Contains(t, s.ok(t, "audit", "list", "--object", "files"), "mcp_server.changed")
}
