package demo_test

import (
	"context"
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/dev"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/mcptest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// The stack of the demo attaches an MCP server that others wrote, takes its
// tools over and calls one, which is the way of a user's own server.
func TestAnothersMCPServer(t *testing.T) {
	t.Parallel()

	address := mcptest.Everything(t)
	at, err := url.Parse(address)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	platform, err := dev.Start(ctx, dev.Config{
		Stack:  embedded.Config{Throwaway: true, Headless: true, Logger: slog.New(slog.DiscardHandler)},
		Worker: worker.Config{Allow: map[tool.TenantID]worker.Allowance{"": {Hosts: []string{at.Host}}}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, platform.Stop(context.WithoutCancel(t.Context()))) })
	api, err := client.New(client.Config{Server: platform.URL(), Key: platform.Key()})
	require.NoError(t, err)
	t.Cleanup(api.Close)

	attached, err := api.AttachMCPServer(ctx, v1.MCPServerDefinition{
		Slug: "everything", URL: address, AllowedTools: []string{"echo", "get-tiny-image"}, TrustHints: true,
	})
	require.NoError(t, err)
	require.Nil(t, attached.Error)
	taken := map[string]string{}
	for _, offered := range attached.Tools {
		taken[offered.Change] += offered.Name + " "
	}
	require.Equal(t, "echo get-tiny-image ", taken["new"], "what is not allowed is offered, and not imported")
	require.Contains(t, taken["offered"], "get-sum ")

	approved, err := api.ApproveMCPTools(ctx, "everything", v1.ApproveMCP{
		Tools: []v1.MCPApproval{{Name: "echo"}, {Name: "get-tiny-image"}}, Publish: true,
	})
	require.NoError(t, err)
	require.Zero(t, approved.Failed)
	slugs := map[string]string{}
	for _, item := range approved.Items {
		require.True(t, item.Published, item.Name)
		slugs[item.Name] = item.Tool
	}

	// The server is untrusted: its tool counts as read-only by a declaration of
	// ours.
	held, err := api.Tool(ctx, slugs["echo"])
	require.NoError(t, err)
	require.Equal(t, tool.MCP, held.Implementation)
	require.Equal(t, tool.EgressWrite, held.EgressClass)
	_, err = api.UpdateTool(ctx, held.Slug, v1.ToolDefinition{
		Name: held.Name, Description: held.Description, InputSchema: held.InputSchema, OutputSchema: held.OutputSchema,
		Implementation: tool.MCP, Config: held.Config, EgressClass: tool.EgressReadOnly, Interaction: &held.Interaction,
	})
	require.NoError(t, err)
	call, err := api.CallTool(ctx, held.Slug, v1.NewCall{Arguments: []byte(`{"message": "hello"}`), Mode: tool.Production})
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, call.Status)
	require.False(t, call.Result.IsError)
	require.Contains(t, call.Result.Content[0].Text, "hello")
}
