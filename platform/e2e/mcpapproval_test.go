package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
)

// A server is sent elsewhere after a call of it was approved: the approval does not count for
// that, and the call is asked for anew.
func TestApprovalOfACallOfAnotherServer(t *testing.T) {
	t.Parallel()

	server := newStranger(t)
	g := newGuesthouse(t, server, nil)
	held, err := g.api.Tool(t.Context(), "sheetsRead")
	require.NoError(t, err)
	_, err = g.api.UpdateTool(t.Context(), "sheetsRead", v1.ToolDefinition{
		Name: held.Name, Description: held.Description, InputSchema: held.InputSchema, OutputSchema: held.OutputSchema,
		Implementation: tool.MCP, Config: held.Config, EgressClass: tool.EgressReadOnly, RequiresApproval: true,
		Interaction: &held.Interaction,
	})
	require.NoError(t, err)
	o := &office{site: g.site}
	o.approver = o.key("approver", wait.DecidePermission)

	call, err := g.service(g.temporal).Call(t.Context(), runs.NewCall{
		Principal: g.principal, Node: wire.Node{Tool: tool.Ref{Slug: "sheetsRead"}, Arguments: json.RawMessage(anySheet)},
	})
	require.NoError(t, err)
	asked := o.waiting(1)[0]
	require.Equal(t, strings.TrimPrefix(g.server.url, "http://"), asked.Host)

	_, err = g.api.UpdateMCPServer(t.Context(), "sheets", v1.MCPServerDefinition{
		Slug: "sheets", URL: g.server.url, AllowedTools: []string{"read", "count", "list"},
		Headers: map[string]any{"X-Shop": "another"},
	})
	require.NoError(t, err)
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
	var again wait.Approval
	require.Eventually(t, func() bool {
		again, err = g.FindApproval(t.Context(), g.principal.Tenant, asked.ID)
		require.NoError(t, err)
		return again.Round == 2
	}, 60*time.Second, 50*time.Millisecond, "what was approved is not what would be sent")
	require.Zero(t, server.called("read"))
	require.NotEqual(t, asked.Binding, again.Binding)

	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: again.Binding})))
	require.Eventually(t, func() bool {
		return g.invocations(call.RunID)[0].Status == tool.StatusCompleted
	}, 60*time.Second, 50*time.Millisecond)
	require.Equal(t, 1, server.called("read"))
}
