package worker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Of an attached server, calls reach what the tenant allows and nothing else,
// whoever names the tool: an import, a definition written by hand, or a model.
func TestCallsReachAllowedToolsOnly(t *testing.T) {
	t.Parallel()

	db := storetest.NewDatabase(t)
	tenant, stranger := db.Tenant(t), db.Tenant(t)
	servers := attached{db.Store}
	attach := func(slug, status string, allowed ...string) {
		_, err := db.Store.CreateServer(t.Context(), registry.MCPServer{
			Tenant: tenant, Slug: slug, Name: slug, Connection: remote.Server{URL: "https://" + slug + ".example.com"},
			AllowedTools: allowed, Status: status,
		})
		require.NoError(t, err)
	}
	attach("files", registry.ServerActive, "read_file")
	attach("open", registry.ServerActive, registry.AllTools)
	attach("closed", registry.ServerActive)
	attach("off", registry.ServerDisabled, registry.AllTools)

	found, err := servers.Server(t.Context(), tenant, "files", "read_file")
	require.NoError(t, err)
	require.Equal(t, "https://files.example.com", found.URL)
	_, err = servers.Server(t.Context(), tenant, "open", "anything")
	require.NoError(t, err)
	for _, refused := range []struct {
		tenant     tool.TenantID
		slug, name string
		kind       tool.Kind
	}{
		{tenant, "files", "delete_file", tool.Denied},
		{tenant, "files", "*", tool.Denied},
		{tenant, "closed", "read_file", tool.Denied},
		{tenant, "off", "read_file", tool.Conflict},
		{stranger, "files", "read_file", tool.NotFound},
	} {
		_, err := servers.Server(t.Context(), refused.tenant, refused.slug, refused.name)
		storetest.RequireKind(t, refused.kind, err)
	}
}
