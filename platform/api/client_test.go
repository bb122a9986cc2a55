package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// What the client sends is what the server reads.
func TestClientEdits(t *testing.T) {
	t.Parallel()
	b := setup(t)
	c, err := client.New(client.Config{Server: b.url, Key: b.key})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	ctx := t.Context()

	definition := v1.ToolDefinition{
		Slug: "say", Description: "Says.", Implementation: tool.Internal, Execution: &tool.Execution{Pure: true},
	}
	made, err := c.Once("k").CreateTool(ctx, definition)
	require.NoError(t, err)
	require.True(t, made.Execution.Pure)
	again, err := c.Once("k").CreateTool(ctx, definition)
	require.NoError(t, err)
	require.Equal(t, made, again)
	_, err = c.CreateTool(ctx, definition)
	require.Equal(t, tool.Conflict, tool.KindOf(err))

	definition.Description, definition.Revision = "Says it.", made.Revision
	saved, err := c.UpdateTool(ctx, "say", definition)
	require.NoError(t, err)
	require.Equal(t, "Says it.", saved.Description)
	_, err = c.UpdateTool(ctx, "say", definition)
	require.Equal(t, tool.Conflict, tool.KindOf(err), "it is at another revision")
	_, err = c.VersionTool(ctx, "say", "1.0.0")
	require.NoError(t, err)
	version, err := c.ToolVersion(ctx, "say", "1.0.0")
	require.NoError(t, err)
	require.Equal(t, "Says it.", version.Definition.Description)
	builtins, err := c.Builtins(ctx, client.Page{})
	require.NoError(t, err)
	require.Empty(t, builtins.Items)

	agent, err := c.CreateAgent(ctx, v1.AgentDefinition{Slug: "desk", Instructions: "Help.", Model: "scripted/desk"})
	require.NoError(t, err)
	_, err = c.UpdateAgent(ctx, agent.Slug, v1.AgentDefinition{Instructions: "Help more.", Model: "scripted/desk"})
	require.NoError(t, err)
	_, err = c.VersionAgent(ctx, agent.Slug, "1.0.0")
	require.NoError(t, err)
	snapshot, err := c.AgentVersion(ctx, agent.ID, "1.0.0")
	require.NoError(t, err)
	require.Equal(t, "Help more.", snapshot.Definition.Instructions)
	disabled, err := c.SetAgent(ctx, agent.Slug, client.Disable)
	require.NoError(t, err)
	require.Equal(t, tool.Disabled, disabled.Status)

	key, err := c.CreateKey(ctx, v1.NewKey{Name: "ci", Permissions: []string{"tools.read"}})
	require.NoError(t, err)
	shown, err := c.Key(ctx, key.ID)
	require.NoError(t, err)
	require.Equal(t, key.Key, shown)
	tenants, err := c.Tenants(ctx)
	require.NoError(t, err)
	own, err := c.Tenant(ctx, tenants[0].Slug)
	require.NoError(t, err)
	require.Equal(t, tenants[0], own)
	problems, err := c.Problems(ctx)
	require.NoError(t, err)
	require.Equal(t, v1.ProblemClasses(), problems)
}
