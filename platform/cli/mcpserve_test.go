package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// A local client talks to the server over the command, with its settings.
func TestMCPServe(t *testing.T) {
	t.Parallel()

	s := setup(t)
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	got := s.pipe(t, hello+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n", "mcp", "serve")
	require.Equal(t, cli.ExitOK, got.code, got.err)
	require.Contains(t, got.out, `"name":"toolcrib"`)
	require.Contains(t, got.out, `"tools":[`)
	s.vars[cli.KeyVariable] = "tck_wrong"
	got = s.pipe(t, hello, "mcp", "serve")
	require.Equal(t, cli.ExitOK, got.code, got.err)
	require.Contains(t, got.out, "key is not valid")
	require.Equal(t, cli.ExitUsage, s.run(t, "mcp", "serve", "--patience", "0s").code)
}

// Snippets have the shape that each client reads, and never the key.
func TestMCPConfig(t *testing.T) {
	t.Parallel()

	s := setup(t)
	key, server := s.vars[cli.KeyVariable], s.vars[cli.ServerVariable]
	for _, c := range []struct{ args, want string }{
		{"claude", `{"mcpServers":{"toolcrib":{"type":"http","url":"SERVER/mcp",
			"headers":{"Authorization":"Bearer ${TOOLCRIB_KEY}"}}}}`},
		{"claude --transport stdio", `{"mcpServers":{"toolcrib":{"type":"stdio","command":"toolcrib",
			"args":["mcp","serve","--server","SERVER"],"env":{"TOOLCRIB_KEY":"${TOOLCRIB_KEY}"}}}}`},
		{"cursor --name crib", `{"mcpServers":{"crib":{"url":"SERVER/mcp",
			"headers":{"Authorization":"Bearer ${env:TOOLCRIB_KEY}"}}}}`},
		{"cursor --transport stdio", `{"mcpServers":{"toolcrib":{"type":"stdio","command":"toolcrib",
			"args":["mcp","serve","--server","SERVER"],"env":{"TOOLCRIB_KEY":"${env:TOOLCRIB_KEY}"}}}}`},
		{"vscode", `{"servers":{"toolcrib":{"type":"http","url":"SERVER/mcp",
			"headers":{"Authorization":"Bearer ${input:toolcrib-key}"}}},
			"inputs":[{"type":"promptString","id":"toolcrib-key","description":"API key of Toolcrib","password":true}]}`},
		{"vscode --transport stdio", `{"servers":{"toolcrib":{"type":"stdio","command":"toolcrib",
			"args":["mcp","serve","--server","SERVER"],"env":{"TOOLCRIB_KEY":"${input:toolcrib-key}"}}},
			"inputs":[{"type":"promptString","id":"toolcrib-key","description":"API key of Toolcrib","password":true}]}`},
	} {
		got := s.run(t, append([]string{"mcp", "config"}, strings.Fields(c.args)...)...)
		require.Equal(t, cli.ExitOK, got.code, got.err)
		require.JSONEq(t, strings.ReplaceAll(c.want, "SERVER", server), got.out)
		require.NotContains(t, got.out+got.err, key)
		require.Contains(t, got.err, "the key is not part of it")
		var asJSON any
		raw := s.ok(t, append([]string{"mcp", "config", "--json"}, strings.Fields(c.args)...)...)
		require.NoError(t, json.Unmarshal([]byte(raw), &asJSON))
	}
	server, key = s.away()
	require.Equal(t, cli.ExitOK, s.pipe(t, key+"\n", "context", "add", "shop", "--server", server, "--key-stdin").code)
	kept := s.ok(t, "mcp", "config", "vscode", "--transport", "stdio", "--context", "shop")
	require.JSONEq(t, `{"servers":{"toolcrib":{"type":"stdio","command":"toolcrib","args":["mcp","serve","--context","shop"]}}}`, kept)
	for _, wrong := range []string{"emacs", "claude --transport sse", "claude --name a/b"} {
		got := s.run(t, append([]string{"mcp", "config"}, strings.Fields(wrong)...)...)
		require.Equal(t, cli.ExitUsage, got.code, wrong)
	}
}
