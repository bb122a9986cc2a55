package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

// A toolset is made, changed, offered to clients, and deleted with its keys.
func TestToolsetCommands(t *testing.T) {
	t.Parallel()

	s := setup(t)
	const echo = "kind: tool\nslug: SLUG\nimplementation_type: internal\ndescription: Says.\nversion: 1.0.0\n" +
		"publish: true\n"
	for _, slug := range []string{"say", "sing"} {
		require.Equal(t, cli.ExitOK, s.pipe(t, strings.Replace(echo, "SLUG", slug, 1), "apply", "-f", "-").code)
	}
	made := s.ok(t, "toolset", "create", "voice", "--tool", "say@^1", "--instructions", "Speak up.", "--json")
	var shown v1.Toolset
	require.NoError(t, json.Unmarshal([]byte(made), &shown))
	require.Equal(t, "/mcp/voice", shown.Path)
	require.Equal(t, "^1", shown.Tools[0].Version)
	text := s.ok(t, "toolset", "set", "voice", "--add-tool", "sing", "--catalog", "all", "--name", "Voices")
	require.Contains(t, text, "say@^1 sing")
	require.Contains(t, text, "Speak up.")
	require.Contains(t, s.ok(t, "toolset", "set", "voice", "--remove-tool", "sing"), "say@^1")
	require.Contains(t, s.ok(t, "toolset", "list"), "/mcp/voice")
	require.Contains(t, s.ok(t, "toolset", "show", "voice"), "Voices")

	secret := strings.TrimSpace(s.ok(t, "key", "create", "desk", "--toolset", "voice"))
	require.True(t, strings.HasPrefix(secret, "tck_"))
	require.Contains(t, s.ok(t, "key", "list"), "voice")
	config := s.ok(t, "mcp", "config", "claude", "--toolset", "voice")
	require.Contains(t, config, "/mcp/voice")
	require.Contains(t, s.ok(t, "mcp", "config", "vscode", "--transport", "stdio", "--toolset", "voice"), `"--toolset"`)
	s.vars[cli.KeyVariable], secret = secret, s.vars[cli.KeyVariable]
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	const list = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
	got := s.pipe(t, hello+list, "mcp", "serve", "--toolset", "voice")
	require.Equal(t, cli.ExitOK, got.code, got.err)
	require.Contains(t, got.out, `"name":"say"`)
	require.NotContains(t, got.out, `"name":"sing"`)
	require.NotEqual(t, cli.ExitOK, s.run(t, "tool", "list").code, "the key is for MCP clients")
	s.vars[cli.KeyVariable] = secret

	for _, wrong := range []string{
		"toolset create", "toolset create Voice", "toolset create x --tool say@", "toolset create x --catalog none",
		"toolset set voice", "toolset set voice --status off", "mcp serve --toolset V", "mcp config claude --toolset V",
		"key create x --toolset voice --tenant acme",
	} {
		require.Equal(t, cli.ExitUsage, s.run(t, strings.Fields(wrong)...).code, wrong)
	}
	require.Contains(t, s.ok(t, "toolset", "delete", "voice"), "1 of its keys revoked")
	require.NotEqual(t, cli.ExitOK, s.run(t, "toolset", "show", "voice").code)
}
