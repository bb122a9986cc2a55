package worker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// A tool that its server changed is stopped under every name it has here: that
// of its import, and those that people and models make up.
func TestStoppedToolsAreStoppedUnderEveryName(t *testing.T) {
	t.Parallel()

	db := storetest.NewDatabase(t)
	tenant := db.Tenant(t)
	server, err := db.Store.CreateServer(t.Context(), mcpserver.Server{
		Tenant: tenant, Slug: "files", Name: "files", Connection: remote.Server{URL: "https://files.example.com"},
		AllowedTools: []string{definition.AllTools}, Status: definition.ServerActive,
	})
	require.NoError(t, err)
	changed := mcpserver.Tool{
		Name: "read_file", State: mcpserver.StateChanged,
		Reason: "the server changed its definition",
	}
	_, err = db.Store.SaveServer(t.Context(), server, mcpserver.Changes{Put: []mcpserver.Tool{
		changed,
		{Name: "list_files", State: mcpserver.StatePinned},
		{Name: "old_file", State: mcpserver.StateGone, Reason: "the server offers it no more"},
	}})
	require.NoError(t, err)
	servers := attached{db.Store}
	for name, kind := range map[string]tool.Kind{"read_file": tool.Conflict, "old_file": tool.Conflict} {
		_, err := servers.Server(t.Context(), tenant, "files", name)
		storetest.RequireKind(t, kind, err)
		require.ErrorContains(t, err, "the server")
	}
	for _, name := range []string{"list_files", "never_seen"} {
		_, err := servers.Server(t.Context(), tenant, "files", name)
		require.NoError(t, err, name)
	}
}

// Of an attached server, calls reach what the tenant allows and nothing else,
// whoever names the tool: an import, a definition written by hand, or a model.
func TestCallsReachAllowedToolsOnly(t *testing.T) {
	t.Parallel()

	db := storetest.NewDatabase(t)
	tenant, stranger := db.Tenant(t), db.Tenant(t)
	servers := attached{db.Store}
	attach := func(slug, status string, allowed ...string) {
		_, err := db.Store.CreateServer(t.Context(), mcpserver.Server{
			Tenant: tenant, Slug: slug, Name: slug, Connection: remote.Server{URL: "https://" + slug + ".example.com"},
			AllowedTools: allowed, Status: status,
		})
		require.NoError(t, err)
	}
	attach("files", definition.ServerActive, "read_file")
	attach("open", definition.ServerActive, definition.AllTools)
	attach("closed", definition.ServerActive)
	attach("off", definition.ServerDisabled, definition.AllTools)

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
