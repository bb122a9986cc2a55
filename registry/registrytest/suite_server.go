package registrytest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
)

// exampleServer returns a server with every kind of field set.
func exampleServer(tenant tool.TenantID, slug string) mcpserver.Server {
	return mcpserver.Server{
		ID: newID(), Tenant: tenant, Slug: slug, Name: "Name of " + slug,
		Connection: definition.Connection{
			URL: "https://example.com/mcp?x=1", Transport: remote.SSE,
			Headers: map[string]remote.Header{"X-Team": {Literal: "a \"b\""}, "X-Key": {CredentialsRef: "key"}},
			Auth:    &remote.Auth{Type: remote.AuthHeader, CredentialsRef: "files-token", Header: "X-Token"},
		},
		AllowedTools: []string{"b", "a"}, TrustHints: true, Status: definition.ServerActive, CreatedBy: "user:ada",
	}
}

// exampleRemote returns an imported tool of a server.
func exampleRemote(name, toolID string) mcpserver.Tool {
	yes, at := true, time.Now().UTC().Truncate(time.Millisecond)
	seen := &mcpserver.ToolDefinition{
		Name: name, Title: "T", Description: "Says \"hello\" & <more>.", Digest: "d2",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"maximum":12345678901234567890}}}`),
	}
	seen.Annotations.ReadOnly = &yes
	pinned := *seen
	pinned.Digest, pinned.Description = "d1", "Before."
	return mcpserver.Tool{
		Name: name, ToolID: toolID, State: mcpserver.StateChanged, Reason: "the server changed its definition",
		Pinned: &pinned, ApprovedDigest: "d1", ApprovedBy: "user:ada", ApprovedAt: &at, Seen: seen, SeenAt: at, ChangedAt: at,
	}
}

func attach(t *testing.T, s registry.Store, tenant tool.TenantID, slug string) mcpserver.Server {
	t.Helper()

	got, err := s.CreateServer(t.Context(), exampleServer(tenant, slug))
	require.NoError(t, err)
	return got
}

func testServerRoundTrip(t *testing.T, f Fixture) {
	t.Helper()

	want := exampleServer(f.Tenant, "files")
	got, err := f.Store.CreateServer(t.Context(), want)
	require.NoError(t, err)
	require.EqualValues(t, 1, got.Revision)
	want.Revision, want.CreatedAt, want.UpdatedAt = 1, got.CreatedAt, got.UpdatedAt
	require.Equal(t, want, got)
	for _, name := range []string{"files", want.ID} {
		found, err := f.Store.FindServer(t.Context(), f.Tenant, name)
		require.NoError(t, err)
		require.Equal(t, got, found)
	}
	_, err = f.Store.CreateServer(t.Context(), exampleServer(f.Tenant, "files"))
	requireKind(t, tool.Conflict, err)
	attach(t, f.Store, f.Other, "files")

	at := time.Now().UTC().Truncate(time.Millisecond)
	want.Name, want.Connection, want.AllowedTools, want.TrustHints, want.Status = "Other", definition.Connection{
		Transport: remote.Stdio, Command: "files",
	}, []string{}, false, definition.ServerDisabled
	want.DiscoveredAt, want.DiscoveryError, want.ProtocolVersion = &at, "refused", "2025-11-25"
	want.ServerName, want.ServerVersion = "Files", "2"
	saved, err := f.Store.SaveServer(t.Context(), want, mcpserver.Changes{})
	require.NoError(t, err)
	want.Revision, want.UpdatedAt = 2, saved.UpdatedAt
	require.Equal(t, want.DiscoveredAt.UnixMilli(), saved.DiscoveredAt.UnixMilli())
	want.DiscoveredAt = saved.DiscoveredAt
	require.Equal(t, want, saved)

	testTrust(t, f, saved)
	saved, err = f.Store.FindServer(t.Context(), f.Tenant, "files")
	require.NoError(t, err)

	stale := want
	stale.Revision = 1
	_, err = f.Store.SaveServer(t.Context(), stale, mcpserver.Changes{})
	requireKind(t, tool.Conflict, err)
	require.ErrorIs(t, err, definition.ErrChanged)
	require.ErrorIs(t, f.Store.DetachServer(t.Context(), stale), definition.ErrChanged)

	attach(t, f.Store, f.Tenant, "abc")
	page, err := f.Store.ListServers(t.Context(), f.Tenant, "", 1)
	require.NoError(t, err)
	require.Equal(t, "abc", page[0].Slug)
	page, err = f.Store.ListServers(t.Context(), f.Tenant, "abc", 10)
	require.NoError(t, err)
	require.Len(t, page, 1)
	require.NoError(t, f.Store.DetachServer(t.Context(), saved))
	_, err = f.Store.FindServer(t.Context(), f.Tenant, "files")
	requireKind(t, tool.NotFound, err)
	_, err = f.Store.FindServer(t.Context(), f.Other, "files")
	require.NoError(t, err)
}

// testTrust holds that a server is trusted by what was said of it alone, and where it was then.
func testTrust(t *testing.T, f Fixture, server mcpserver.Server) {
	t.Helper()

	require.False(t, server.Trusted)
	server.Trusted = true
	saved, err := f.Store.SaveServer(t.Context(), server, mcpserver.Changes{})
	require.NoError(t, err)
	require.False(t, saved.Trusted, "a definition does not make it trusted")
	_, err = f.Store.TrustServer(t.Context(), server, true)
	require.ErrorIs(t, err, definition.ErrChanged, "the revision is another")
	trusted, err := f.Store.TrustServer(t.Context(), saved, true)
	require.NoError(t, err)
	require.True(t, trusted.Trusted)
	require.Equal(t, saved.Revision+1, trusted.Revision)
	trusted.Trusted, trusted.Name = false, "Renamed"
	saved, err = f.Store.SaveServer(t.Context(), trusted, mcpserver.Changes{})
	require.NoError(t, err)
	require.True(t, saved.Trusted, "a definition does not take it back")
	saved.Command = "elsewhere"
	saved, err = f.Store.SaveServer(t.Context(), saved, mcpserver.Changes{})
	require.NoError(t, err)
	require.False(t, saved.Trusted, "it is another server now")
}

func testRemoteTools(t *testing.T, f Fixture) {
	t.Helper()

	server := attach(t, f.Store, f.Tenant, "files")
	head := example(f.Tenant, "filesRead")
	head.Implementation, head.Config = tool.MCP, json.RawMessage(`{"server":"files","tool_name":"read"}`)
	want := exampleRemote("read", head.ID)
	at := time.Now().UTC().Truncate(time.Millisecond)
	server.DiscoveredAt = &at
	server, err := f.Store.SaveServer(t.Context(), server, mcpserver.Changes{
		Create: []tool.Tool{head}, Stop: map[string]string{head.ID: "the server changed its definition"},
		Put: []mcpserver.Tool{want, {Name: "write", State: mcpserver.StateOffered, SeenAt: at, ChangedAt: at}},
	})
	require.NoError(t, err)

	stored, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: head.ID})
	require.NoError(t, err)
	require.Equal(t, "the server changed its definition", stored.Quarantine)
	got, err := f.Store.FindRemoteTool(t.Context(), f.Tenant, server.ID, "read")
	require.NoError(t, err)
	require.Equal(t, "filesRead", got.ToolSlug)
	require.Equal(t, tool.Draft, got.ToolStatus)
	require.Equal(t, stored.Quarantine, got.Quarantine)
	require.Equal(t, want.Seen, got.Seen)
	require.Equal(t, want.Pinned, got.Pinned)
	require.Equal(t, want.State, got.State)
	require.Equal(t, want.Reason, got.Reason)
	require.Equal(t, want.ApprovedBy, got.ApprovedBy)
	require.WithinDuration(t, at, got.SeenAt, time.Second)
	origin, err := f.Store.FindToolOrigin(t.Context(), f.Tenant, head.ID)
	require.NoError(t, err)
	require.Equal(t, got, origin)

	all, err := f.Store.ListRemoteTools(t.Context(), f.Tenant, server.ID, mcpserver.ToolQuery{})
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Nil(t, all[1].Seen)
	for _, q := range []mcpserver.ToolQuery{{State: mcpserver.StateOffered}, {AfterName: "read"}} {
		some, err := f.Store.ListRemoteTools(t.Context(), f.Tenant, server.ID, q)
		require.NoError(t, err)
		require.Equal(t, "write", some[0].Name)
		require.Len(t, some, 1)
	}

	require.NoError(t, f.Store.PinTool(t.Context(), f.Tenant, head.ID, "d1", "user:eve"))
	got, err = f.Store.FindRemoteTool(t.Context(), f.Tenant, server.ID, "read")
	require.NoError(t, err)
	require.Equal(t, mcpserver.StateChanged, got.State, "only what the server gives is pinned")
	require.NoError(t, f.Store.PinTool(t.Context(), f.Tenant, head.ID, "d2", "user:eve"))
	got, err = f.Store.FindRemoteTool(t.Context(), f.Tenant, server.ID, "read")
	require.NoError(t, err)
	require.Equal(t, mcpserver.StatePinned, got.State)
	require.Equal(t, "d2", got.Pinned.Digest)
	require.Equal(t, "user:eve", got.ApprovedBy)

	later := at.Add(time.Hour)
	server.DiscoveredAt = &later
	server, err = f.Store.SaveServer(t.Context(), server, mcpserver.Changes{
		Seen: []string{"read"}, Stop: map[string]string{head.ID: ""},
	})
	require.NoError(t, err)
	all, err = f.Store.ListRemoteTools(t.Context(), f.Tenant, server.ID, mcpserver.ToolQuery{})
	require.NoError(t, err)
	require.WithinDuration(t, at, all[1].SeenAt, time.Second)
	require.WithinDuration(t, later, all[0].SeenAt, time.Second)
	require.Empty(t, all[0].Quarantine)

	used, err := f.Store.ListServerTools(t.Context(), f.Tenant, "files")
	require.NoError(t, err)
	require.Len(t, used, 1)
	used, err = f.Store.ListServerTools(t.Context(), f.Tenant, "others")
	require.NoError(t, err)
	require.Empty(t, used)
	require.NoError(t, f.Store.DetachServer(t.Context(), server))
	_, err = f.Store.FindToolOrigin(t.Context(), f.Tenant, head.ID)
	requireKind(t, tool.NotFound, err)
	_, err = f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: head.ID})
	require.NoError(t, err, "the tool stays")
}

// Imported tools are stored with their server in one transaction.
func testServerAtomicity(t *testing.T, f Fixture) {
	t.Helper()

	server := attach(t, f.Store, f.Tenant, "files")
	taken := create(t, f.Store, example(f.Tenant, "taken"))
	_, err := f.Store.SaveServer(t.Context(), server, mcpserver.Changes{
		Create: []tool.Tool{example(f.Tenant, "free"), example(f.Tenant, "taken")},
		Stop:   map[string]string{taken.ID: "stopped"},
		Put:    []mcpserver.Tool{exampleRemote("read", "")},
	})
	requireKind(t, tool.Conflict, err)
	_, err = f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{Slug: "free"})
	requireKind(t, tool.NotFound, err)
	still, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{Slug: "taken"})
	require.NoError(t, err)
	require.Empty(t, still.Quarantine)
	found, err := f.Store.FindServer(t.Context(), f.Tenant, "files")
	require.NoError(t, err)
	require.Equal(t, server.Revision, found.Revision)
}

func testServerIsolation(t *testing.T, f Fixture) {
	t.Helper()

	server := attach(t, f.Store, f.Tenant, "files")
	head := create(t, f.Store, example(f.Tenant, "mine"))
	for _, name := range []string{"files", server.ID} {
		_, err := f.Store.FindServer(t.Context(), f.Other, name)
		requireKind(t, tool.NotFound, err)
	}
	stolen := server
	stolen.Tenant = f.Other
	_, err := f.Store.SaveServer(t.Context(), stolen, mcpserver.Changes{})
	requireKind(t, tool.NotFound, err)
	requireKind(t, tool.NotFound, f.Store.DetachServer(t.Context(), stolen))
	_, err = f.Store.TrustServer(t.Context(), stolen, true)
	requireKind(t, tool.NotFound, err)

	own := attach(t, f.Store, f.Other, "files")
	_, err = f.Store.SaveServer(t.Context(), own, mcpserver.Changes{Stop: map[string]string{head.ID: "stopped"}})
	require.NoError(t, err)
	still, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: head.ID})
	require.NoError(t, err)
	require.Empty(t, still.Quarantine, "a tenant cannot quarantine another tenant's tool")
}
