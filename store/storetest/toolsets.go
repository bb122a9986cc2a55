package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

// toolsetCases are the foreign-tenant cases of toolsets.
var toolsetCases = map[string]func(t *testing.T, f foreign){
	"CreateToolset": func(t *testing.T, f foreign) {
		t.Helper()
		server := f.attach(t, f.Tenant)
		for _, theirs := range []toolset.Toolset{
			{Tools: []toolset.Tool{{Name: f.Tool.ID}}},
			{Tools: []toolset.Tool{{Name: f.Tool.Slug}}},
			{Servers: []toolset.Server{{Name: server.ID}}},
			{Servers: []toolset.Server{{Name: server.Slug}}},
		} {
			theirs.Tenant, theirs.Slug = f.stranger, "theirs"
			_, err := f.Store.CreateToolset(t.Context(), theirs)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"SaveToolset": func(t *testing.T, f foreign) {
		t.Helper()
		s := f.toolset(t, "support")
		s.Tenant = f.stranger
		s.Tools, s.Servers = nil, nil
		_, err := f.Store.SaveToolset(t.Context(), s)
		RequireKind(t, tool.NotFound, err)
	},
	"FindToolset": func(t *testing.T, f foreign) {
		t.Helper()
		s := f.toolset(t, "support")
		for _, name := range []string{s.ID, s.Slug} {
			_, err := f.Store.FindToolset(t.Context(), f.stranger, name)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"ListToolsets": func(t *testing.T, f foreign) {
		t.Helper()
		f.toolset(t, "support")
		listed, err := f.Store.ListToolsets(t.Context(), f.stranger, "", 100)
		require.NoError(t, err)
		require.Empty(t, listed)
	},
	"DeleteToolset": func(t *testing.T, f foreign) {
		t.Helper()
		s := f.toolset(t, "support")
		_, err := f.Store.DeleteToolset(t.Context(), f.stranger, s.ID, s.Revision)
		RequireKind(t, tool.NotFound, err)
	},
	"FindOffer": func(t *testing.T, f foreign) {
		t.Helper()
		f.toolset(t, "support")
		_, err := f.Store.FindOffer(t.Context(), f.stranger, "support")
		RequireKind(t, tool.NotFound, err)
		_, _, err = f.Store.CreateKey(t.Context(), store.Key{Tenant: f.stranger, Name: "k", Toolset: "support"})
		RequireKind(t, tool.NotFound, err)
	},
}

// toolset creates a toolset with the fixture's tool.
func (f *Fixture) toolset(tb testing.TB, slug string) toolset.Toolset {
	tb.Helper()
	s, err := f.Store.CreateToolset(tb.Context(), toolset.Toolset{
		Tenant: f.Tenant, Slug: slug, Tools: []toolset.Tool{{Name: f.Tool.Slug, Version: "^1"}}, CreatedBy: "user:ada",
	})
	require.NoError(tb, err)
	return s
}

func testToolsets(t *testing.T, d *Database) {
	t.Helper()
	t.Run("Life", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		s := f.toolset(t, "support")
		require.Equal(t, []toolset.Tool{{Name: f.Tool.Slug, ID: f.Tool.ID, Version: "^1"}}, s.Tools)
		require.Equal(t, toolset.CatalogAuto, s.Catalog)
		require.Equal(t, "support", s.Name)
		_, err := f.Store.CreateToolset(t.Context(), toolset.Toolset{Tenant: f.Tenant, Slug: "support"})
		RequireKind(t, tool.Conflict, err)
		_, err = f.Store.CreateToolset(t.Context(), toolset.Toolset{
			Tenant: f.Tenant, Slug: "other", Tools: []toolset.Tool{{Name: f.Tool.Slug}, {Name: f.Tool.ID}},
		})
		RequireKind(t, tool.Invalid, err)
		require.Equal(t, "/tools/1/tool", tool.AsError(err).Path, "one tool by two names")

		first := s
		s.Instructions, s.Catalog, s.ChangedBy = "Read first.", toolset.CatalogSearch, "user:bob"
		s, err = f.Store.SaveToolset(t.Context(), s)
		require.NoError(t, err)
		require.Equal(t, first.Revision+1, s.Revision)
		require.Equal(t, "user:bob", s.ChangedBy)
		_, err = f.Store.SaveToolset(t.Context(), first)
		RequireKind(t, tool.Conflict, err)
		require.ErrorIs(t, err, definition.ErrChanged)

		offer, err := f.Store.FindOffer(t.Context(), f.Tenant, "support")
		require.NoError(t, err)
		require.Equal(t, toolset.Offer{
			ID: s.ID, Slug: "support", Revision: s.Revision, Instructions: "Read first.", Catalog: toolset.CatalogSearch,
			Tools: map[string]string{f.Tool.ID: "^1"},
		}, offer)
		s.Status = toolset.Disabled
		s, err = f.Store.SaveToolset(t.Context(), s)
		require.NoError(t, err)
		_, err = f.Store.FindOffer(t.Context(), f.Tenant, "support")
		RequireKind(t, tool.NotFound, err)

		_, err = f.Store.DeleteToolset(t.Context(), f.Tenant, s.ID, first.Revision)
		RequireKind(t, tool.Conflict, err)
		_, err = f.Store.DeleteToolset(t.Context(), f.Tenant, s.ID, s.Revision)
		require.NoError(t, err)
		var actions []audit.Action
		entries, err := f.Store.ListAudit(t.Context(), f.Tenant, audit.Query{Limit: 100})
		require.NoError(t, err)
		for _, e := range entries {
			if e.Object.Kind == "toolset" {
				require.Equal(t, "support", e.Object.Name)
				actions = append(actions, e.Action)
			}
		}
		require.Equal(t, []audit.Action{"toolset.deleted", "toolset.changed", "toolset.changed", "toolset.created"}, actions)
	})
	t.Run("Servers", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		server, err := f.Store.CreateServer(t.Context(), mcpserver.Server{
			Tenant: f.Tenant, Slug: "files", Status: definition.ServerActive,
		})
		require.NoError(t, err)
		s, err := f.Store.CreateToolset(t.Context(), toolset.Toolset{
			Tenant: f.Tenant, Slug: "all-files", Servers: []toolset.Server{{Name: "files"}},
		})
		require.NoError(t, err)
		require.Equal(t, []toolset.Server{{Name: "files", ID: server.ID}}, s.Servers)
		offered := func() map[string]string {
			offer, err := f.Store.FindOffer(t.Context(), f.Tenant, "all-files")
			require.NoError(t, err)
			return offer.Tools
		}
		require.Empty(t, offered())
		server, err = f.Store.SaveServer(t.Context(), server, mcpserver.Changes{Put: []mcpserver.Tool{
			{Name: "read", ToolID: f.Tool.ID, State: mcpserver.StatePinned}, {Name: "list", State: mcpserver.StateOffered},
		}})
		require.NoError(t, err)
		require.Equal(t, map[string]string{f.Tool.ID: ""}, offered(), "what was imported later")
		s.Tools = []toolset.Tool{{Name: f.Tool.Slug, Version: "1.0.0"}}
		s, err = f.Store.SaveToolset(t.Context(), s)
		require.NoError(t, err)
		require.Equal(t, map[string]string{f.Tool.ID: "1.0.0"}, offered(), "its own constraint wins")
		s.Tools = nil
		_, err = f.Store.SaveToolset(t.Context(), s)
		require.NoError(t, err)
		require.NoError(t, f.Store.DetachServer(t.Context(), server))
		require.Empty(t, offered())
		found, err := f.Store.FindToolset(t.Context(), f.Tenant, "all-files")
		require.NoError(t, err)
		require.Empty(t, found.Servers)
		_, err = f.Store.CreateServer(t.Context(), mcpserver.Server{
			Tenant: f.Tenant, Slug: "files", Status: definition.ServerActive,
		})
		require.NoError(t, err)
		found, err = f.Store.FindToolset(t.Context(), f.Tenant, "all-files")
		require.NoError(t, err)
		require.Empty(t, found.Servers, "another server under the slug is another")
	})
	t.Run("Keys", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		s := f.toolset(t, "support")
		key, text, err := f.Store.CreateKey(t.Context(), store.Key{Tenant: f.Tenant, Name: "desk", Toolset: "support"})
		require.NoError(t, err)
		require.Equal(t, s.ID, key.ToolsetID)
		used, err := f.Store.Authenticate(t.Context(), text)
		require.NoError(t, err)
		require.Equal(t, "support", used.Toolset)
		listed, err := f.Store.ListKeys(t.Context(), f.Tenant)
		require.NoError(t, err)
		require.Equal(t, "support", listed[len(listed)-1].Toolset)
		revoked, err := f.Store.DeleteToolset(t.Context(), f.Tenant, s.ID, s.Revision)
		require.NoError(t, err)
		require.Equal(t, 1, revoked)
		_, err = f.Store.Authenticate(t.Context(), text)
		RequireKind(t, tool.Denied, err)
		key, err = f.Store.FindKey(t.Context(), f.Tenant, key.ID)
		require.NoError(t, err)
		require.NotNil(t, key.RevokedAt)
		require.Equal(t, s.ID, key.ToolsetID, "it stays bound to what is gone")

		// Even a row that is not revoked is refused without its toolset.
		f.toolset(t, "support")
		_, text, err = f.Store.CreateKey(t.Context(), store.Key{Tenant: f.Tenant, Name: "desk", Toolset: "support"})
		require.NoError(t, err)
		_, err = d.Conn(t).Exec(t.Context(), "delete from toolsets where tenant_id = $1", f.Tenant)
		require.NoError(t, err)
		_, err = f.Store.Authenticate(t.Context(), text)
		RequireKind(t, tool.Denied, err)
	})
}
