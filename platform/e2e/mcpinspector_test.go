package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/mcptest"
	"github.com/toolcrib/toolcrib/tool"
)

// inspector runs the command line of the protocol's inspector against an address, and reads its answer.
func (c *mcpDesk) inspector(node, folder, address string, into any, args ...string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	program := mcptest.Package(folder, "inspector-cli", "build/index.js")
	cmd := exec.CommandContext(ctx, node, append([]string{
		program, address, "--transport", "http", "--header", "Authorization: Bearer " + c.key,
	}, args...)...)
	cmd.Dir = filepath.Dir(program) // It looks for its package from there.
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(c.t, err, "%s", said.String())
	require.NoError(c.t, json.Unmarshal(out, into), "%s", out)
}

// The inspector lists the tools, calls one, and reads the result again by its link, before and behind a restart of
// the server.
func TestMCPInspectorListsAndCalls(t *testing.T) {
	t.Parallel()

	node, folder := mcptest.Install(t)
	c := newMCPDesk(t, readers(t))
	read := functionTool("read", tool.Execution{Pure: true})
	read.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
	read.OutputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	c.publish("read", read, tool.Policy{EgressClass: tool.EgressReadOnly})
	front := newRestarting(c)

	var listed mcp.ListToolsResult
	c.inspector(node, folder, front.URL+"/mcp", &listed, "--method", "tools/list")
	require.Len(t, listed.Tools, 1)
	require.Equal(t, "read", listed.Tools[0].Name)
	require.True(t, listed.Tools[0].Annotations.ReadOnlyHint)
	require.NotNil(t, listed.Tools[0].OutputSchema)

	call := []string{
		"--method", "tools/call", "--tool-name", "read", "--tool-arg", "name=keys",
		"--tool-metadata", "toolcrib/call-id=order-1",
	}
	var called, again mcp.CallToolResult
	c.inspector(node, folder, front.URL+"/mcp", &called, call...)
	require.False(t, called.IsError)
	require.Equal(t, map[string]any{"name": "old keys"}, called.StructuredContent)
	front.stop()
	front.start()
	c.inspector(node, folder, front.URL+"/mcp", &again, call...)
	require.Equal(t, called.StructuredContent, again.StructuredContent)
	require.Equal(t, called.Meta["toolcrib/run-id"], again.Meta["toolcrib/run-id"], "it is the same call")

	var whole mcp.ReadResourceResult
	c.inspector(node, folder, front.URL+"/mcp", &whole, "--method", "resources/read",
		"--uri", fmt.Sprintf("toolcrib://runs/%v", called.Meta["toolcrib/run-id"]))
	require.Len(t, whole.Contents, 1)
	require.Contains(t, whole.Contents[0].Text, "old keys")
	var none mcp.CallToolResult
	c.inspector(node, folder, front.URL+"/mcp", &none,
		"--method", "tools/call", "--tool-name", "read", "--tool-arg", "other=1")
	require.True(t, none.IsError, "arguments that do not fit are an answer")
}
