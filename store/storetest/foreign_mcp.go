package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/remote/session"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
)

// attach creates a server of a tenant. The one of the fixture's tenant has the fixture's
// tool, with another definition.
func (f foreign) attach(t *testing.T, tenant tool.TenantID) mcpserver.Server {
	t.Helper()
	server, err := f.Store.CreateServer(t.Context(), mcpserver.Server{
		Tenant: tenant, Slug: "files", Status: definition.ServerActive,
	})
	require.NoError(t, err)
	if tenant != f.Tenant {
		return server
	}
	server, err = f.Store.SaveServer(t.Context(), server, mcpserver.Changes{Put: []mcpserver.Tool{{
		Name: "read", ToolID: f.Tool.ID, State: mcpserver.StateChanged,
		Seen: &mcpserver.ToolDefinition{Name: "read", Digest: digestB},
	}}})
	require.NoError(t, err)
	return server
}

// mcpSession stores a session of the fixture's run, and returns its key with the foreign
// tenant.
func (f foreign) mcpSession(t *testing.T) session.Key {
	t.Helper()
	key, begun := f.MCPSession("ours")
	_, err := f.Store.SaveMCPSession(t.Context(), key, begun)
	require.NoError(t, err)
	key.Tenant = f.stranger
	return key
}
