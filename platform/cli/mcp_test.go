package cli_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// setupServers is setup with a server that talks to an MCP server of the test.
func setupServers(t *testing.T) (s *shell, server *mcp.Server, url string) {
	t.Helper()
	server = mcp.NewServer(&mcp.Implementation{Name: "files-of-the-shop", Version: "2.1.0"}, nil)
	front := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(front.Close)
	hosts := map[tool.TenantID]worker.Allowance{"": {Hosts: []string{strings.TrimPrefix(front.URL, "http://")}}}
	return setup(t, func(cfg *serve.HandlerConfig) {
		plugin, err := worker.New(t.Context(), worker.Config{Store: cfg.Store, Allow: hosts})
		require.NoError(t, err)
		t.Cleanup(func() { _ = plugin.Close() })
		cfg.Discoverer = plugin.Discoverer()
	}), server, front.URL
}

// offer puts a tool into a server's offer, in the place of one of that name.
func offer(s *mcp.Server, name, description string, required ...string) {
	properties := map[string]any{}
	for _, property := range required {
		properties[property] = map[string]any{"type": "string"}
	}
	s.AddTool(&mcp.Tool{
		Name: name, Description: description,
		InputSchema: map[string]any{"type": "object", "properties": properties, "required": required},
	},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
}

// requireLines makes sure that a text has lines, of these words.
func requireLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	var have []string
	for line := range strings.Lines(text) {
		have = append(have, strings.Join(strings.Fields(line), " "))
	}
	for _, line := range lines {
		require.Contains(t, have, line)
	}
}

// A server is attached, changes, and is let in again, for people to read.
func TestMCPCommands(t *testing.T) {
	t.Parallel()
	s, server, url := setupServers(t)
	offer(server, "read_file", "Reads a file.", "path")
	offer(server, "list_dir", "Lists a folder.", "path")
	requireLines(t, s.ok(t, "mcp", "attach", "files", "--url", url),
		"offered list_dir", "offered read_file", "files: 2 offered, 0 unchanged",
		"nothing is allowed yet: toolcrib mcp update files --allow NAME, then toolcrib mcp refresh files")
	require.Contains(t, s.ok(t, "mcp", "update", "files", "--allow", "read_file,list_dir"), "files is updated")
	requireLines(t, s.ok(t, "mcp", "refresh", "files"), "new read_file filesReadFile", "files: 2 new, 0 unchanged")
	shown := s.ok(t, "mcp", "show", "files")
	requireLines(t, shown, "calls itself files-of-the-shop 2.1.0", "allowed read_file list_dir")
	require.Regexp(t, `read_file +pinned +filesReadFile +draft `, shown)
	require.Contains(t, s.ok(t, "mcp", "list"), "list_dir")
	requireLines(t, s.ok(t, "mcp", "approve", "files", "read_file", "list_dir", "--publish"),
		"read_file filesReadFile 1.0.0 published")
	require.Contains(t, s.run(t, "mcp", "diff", "files").err, "nothing changed since it was let in")

	offer(server, "read_file", "Reads a part of a file.", "path", "from")
	server.RemoveTools("list_dir")
	drifted := s.run(t, "mcp", "refresh", "files")
	require.Equal(t, cli.ExitConflict, drifted.code, "something is stopped")
	requireLines(t, drifted.out, "gone list_dir filesListDir the server offers it no more",
		"changed read_file filesReadFile the server changed its definition", "files: 1 changed, 1 gone, 0 unchanged",
		"what changed is stopped: look with toolcrib mcp diff files, then let it in with toolcrib mcp approve files NAME "+
			"--publish")
	requireLines(t, s.ok(t, "mcp", "diff", "files", "read_file"), "it said Reads a file.",
		"it says Reads a part of a file.", "input/from major the property is required now")
	gone := s.run(t, "mcp", "approve", "files", "read_file", "list_dir", "--publish")
	require.Equal(t, cli.ExitConflict, gone.code)
	requireLines(t, gone.out, "read_file filesReadFile 2.0.0 published")
	require.Contains(t, gone.err, `tool "list_dir" of server "files" cannot be approved: the server offers it no more`)

	require.Equal(t, cli.ExitConflict, s.run(t, "mcp", "detach", "files").code)
	require.Equal(t, "detached files; disabled filesListDir, filesReadFile\n",
		s.ok(t, "mcp", "detach", "files", "--force"))
	require.JSONEq(t, `{"items":[]}`, s.ok(t, "mcp", "list", "--json"))
}

// The same for scripts: all of it is JSON, and the exit codes stay.
func TestMCPCommandsInJSON(t *testing.T) {
	t.Parallel()
	s, server, url := setupServers(t)
	read := func(text string, into any) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(text), into), text)
	}
	offer(server, "read_file", "Reads a file.", "path")
	var report v1.MCPRefresh
	read(s.ok(t, "mcp", "attach", "files", "--url", url, "--allow", "*", "--header", "X-Team: shop", "--json"), &report)
	require.Equal(t, []v1.MCPRefreshedTool{{Name: "read_file", Tool: "filesReadFile", Change: "new"}}, report.Tools)
	require.Equal(t, map[string]any{"X-Team": "shop"}, report.Server.Headers)
	var servers v1.Page[v1.MCPServer]
	read(s.ok(t, "mcp", "list", "--json"), &servers)
	require.Equal(t, "files", servers.Items[0].Slug)
	var shown struct {
		Server v1.MCPServer        `json:"server"`
		Tools  v1.Page[v1.MCPTool] `json:"tools"`
	}
	read(s.ok(t, "mcp", "show", "files", "--json"), &shown)
	require.Equal(t, "pinned", shown.Tools.Items[0].State)
	s.ok(t, "mcp", "approve", "files", "read_file", "--publish", "--json")

	offer(server, "read_file", "Reads a part of a file.", "path", "from")
	drifted := s.run(t, "mcp", "refresh", "files", "--json")
	require.Equal(t, cli.ExitConflict, drifted.code)
	read(drifted.out, &report)
	require.Equal(t, "changed", report.Tools[0].Change)
	var drift v1.Page[v1.MCPDrift]
	read(s.ok(t, "mcp", "diff", "files", "--json"), &drift)
	require.Equal(t, "2.0.0", drift.Items[0].Diff.Least)
	var approved v1.ApprovedMCP
	looked := []string{"mcp", "approve", "files", "read_file", "--publish", "--json", "--digest"}
	stale := s.run(t, append(looked, drift.Items[0].PinnedDigest)...)
	require.Equal(t, cli.ExitConflict, stale.code, "another definition was looked at")
	read(stale.out, &approved)
	require.Equal(t, tool.Conflict, approved.Items[0].Error.Code)
	approved = v1.ApprovedMCP{}
	read(s.ok(t, append(looked, drift.Items[0].SeenDigest)...), &approved)
	require.Equal(t, "2.0.0", approved.Items[0].Version)
	var detached v1.DetachedMCP
	read(s.ok(t, "mcp", "detach", "files", "--force", "--json"), &detached)
	require.Equal(t, []string{"filesReadFile"}, detached.Disabled)
}

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
		{
			[]string{"mcp", "attach", "files", "--url", "https://files.example.com", "--header", "X-Team"},
			cli.ExitUsage,
			"expected 'Name: value'",
		},
		{
			[]string{"mcp", "attach", "files", "--url", "https://files.example.com", "--auth", "basic"},
			cli.ExitUsage,
			"go with --credential",
		},
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
