package storetest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

func testTools(t *testing.T, d *Database) {
	t.Helper()
	t.Run("KeepsEveryField", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		yes := true
		published := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
		want := tool.Tool{
			ID: NewID(t), Tenant: f.Tenant, Slug: "everything",
			Definition: tool.Definition{
				Name: "Everything", Description: "<b> & ünïcode", Category: "c", Icon: "i",
				InputSchema:  json.RawMessage(`{"z":1,"a":9007199254740993}`),
				OutputSchema: json.RawMessage(`{"type":"object"}`), Implementation: tool.MCP, Config: json.RawMessage(`{"x":1.0}`),
				Execution: tool.Execution{
					Pure: true, Idempotent: true, ConcurrencyGroup: "g", MaxConcurrency: 3, TimeoutSeconds: 4, MaxAttempts: 5,
				},
				Interaction: tool.Interaction{
					Visible: &yes, Async: true, Intent: tool.Act, Audience: tool.AudienceUser, Aliases: []string{"all"},
					RequiresResponse: true, DefaultResult: json.RawMessage(`null`), Collaborative: true, Aggregate: "sum",
					OutputSections: json.RawMessage(`[1]`), Annotations: json.RawMessage(`{}`),
					ProviderOptions: json.RawMessage(`{"a":1}`),
					Middleware:      []string{"m"},
				},
			},
			Policy: tool.Policy{
				EgressClass: tool.EgressReadOnly, RequiresApproval: true, PermissionPolicy: tool.PermissionAlwaysAsk,
				RequiredPermission: "orders.read", TenantSlugs: []string{"acme"},
				EgressRules: tool.EgressRules{
					Hosts: []string{"*.example.com:8443"}, Methods: []string{"GET"}, Ports: []uint16{8443}, MaxBytes: 1 << 20,
				},
			},
			Status: tool.Deprecated, Active: true, System: true, BuiltinKey: "web_fetch", ArtifactID: "a", ArtifactVersion: "2",
			Version: "3.2.1", PublishedAt: &published,
		}
		created, err := f.Store.CreateTool(t.Context(), want)
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), created.CreatedAt, time.Minute)
		want.Revision, want.CreatedAt = 1, created.CreatedAt
		want.UpdatedAt, want.PublishedAt = created.UpdatedAt, created.PublishedAt
		require.True(t, published.Equal(*created.PublishedAt))
		require.Equal(t, want, created)
		found, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: want.ID})
		require.NoError(t, err)
		require.Equal(t, want, found)
	})

	t.Run("RefusesTakenSlug", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		_, err := f.Store.CreateTool(t.Context(), tool.Tool{
			Tenant: f.Tenant, Slug: f.Tool.Slug, Status: tool.Draft, Version: "1.0.0",
		})
		RequireKind(t, tool.Conflict, err)
		require.NotContains(t, tool.AsError(err).Msg, "tool_registry", "no SQL in messages")
	})

	t.Run("RefusesWhatCannotBeKept", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		for _, schema := range []string{`{"d":"\u0000"}`, `{"d":"\ud800"}`, `{"d":`} {
			_, err := f.Store.CreateTool(t.Context(), tool.Tool{
				Tenant: f.Tenant, Slug: "odd", Status: tool.Draft, Version: "1.0.0",
				Definition: tool.Definition{InputSchema: json.RawMessage(schema)},
			})
			RequireKind(t, tool.Invalid, err)
		}
	})

	t.Run("GuardsRevisions", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		head := f.Tool
		head.Description = "changed"
		updated, err := f.Store.UpdateTool(t.Context(), head)
		require.NoError(t, err)
		require.Equal(t, head.Revision+1, updated.Revision)
		require.Equal(t, "changed", updated.Description)
		_, err = f.Store.UpdateTool(t.Context(), head)
		RequireKind(t, tool.Conflict, err)
		head.ID = NewID(t)
		_, err = f.Store.UpdateTool(t.Context(), head)
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("ForcesApprovalOfWrites", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		created, err := f.Store.CreateTool(t.Context(), tool.Tool{
			Tenant: f.Tenant, Slug: "pay", Status: tool.Draft, Version: "1.0.0",
			Policy: tool.Policy{EgressClass: tool.EgressWrite},
		})
		require.NoError(t, err)
		require.True(t, created.RequiresApproval)
		created.RequiresApproval = false
		updated, err := f.Store.UpdateTool(t.Context(), created)
		require.NoError(t, err)
		require.True(t, updated.RequiresApproval)
	})

	t.Run("Finds", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		for _, ref := range []tool.Ref{{}, {Slug: "nope"}, {ID: NewID(t)}, {ID: "not an id"}, {Slug: "nul\x00"}} {
			_, err := f.Store.FindTool(t.Context(), f.Tenant, ref)
			RequireKind(t, tool.NotFound, err)
		}
		_, err := f.Store.FindTool(t.Context(), "", tool.Ref{Slug: f.Tool.Slug})
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("ListsAndFilters", func(t *testing.T) { testToolList(t, d) })
}

func testToolList(t *testing.T, d *Database) {
	t.Helper()
	t.Parallel()
	f := NewFixture(t, d)
	add := func(slug string, change func(*tool.Tool)) {
		item := tool.Tool{Tenant: f.Tenant, Slug: slug, Status: tool.Draft, Active: true, Version: "1.0.0"}
		item.Definition.Name = slug
		if change != nil {
			change(&item)
		}
		_, err := f.Store.CreateTool(t.Context(), item)
		require.NoError(t, err)
	}
	add("alpha", func(x *tool.Tool) { x.Implementation, x.Status = tool.MCP, tool.Disabled })
	add("beta", func(x *tool.Tool) { x.Config = json.RawMessage(`{"type":"mcp"}`) })
	add("gamma", func(x *tool.Tool) { x.BuiltinKey, x.Description = "web_fetch", "Fetches the WEB" })
	add("delta", func(x *tool.Tool) { x.ArtifactID = "a" })

	slugs := func(q registry.ToolQuery) string {
		tools, err := f.Store.ListTools(t.Context(), f.Tenant, q)
		require.NoError(t, err)
		names := make([]string, len(tools))
		for i, found := range tools {
			names[i] = found.Slug
			require.True(t, q.Bucket == "" || found.Bucket() == q.Bucket, "the database derives buckets as the vocabulary does")
		}
		return strings.Join(names, " ")
	}
	require.Equal(t, "alpha beta delta gamma searchOrders", slugs(registry.ToolQuery{}))
	require.Equal(t, "alpha", slugs(registry.ToolQuery{Status: tool.Disabled}))
	require.Equal(t, "alpha beta", slugs(registry.ToolQuery{Implementation: tool.MCP}))
	require.Equal(t, "alpha beta", slugs(registry.ToolQuery{Bucket: tool.BucketMCP}))
	require.Equal(t, "gamma", slugs(registry.ToolQuery{Bucket: tool.BucketBuiltIn}))
	require.Equal(t, "delta", slugs(registry.ToolQuery{Bucket: tool.BucketArtifact}))
	require.Equal(t, "searchOrders", slugs(registry.ToolQuery{Bucket: tool.BucketCustom}))
	require.Equal(t, "gamma", slugs(registry.ToolQuery{Search: "the web"}))
	require.Empty(t, slugs(registry.ToolQuery{Search: "100%"}))
	require.Empty(t, slugs(registry.ToolQuery{UpdatedSince: time.Now().Add(time.Hour)}))
	require.Equal(t, "alpha beta", slugs(registry.ToolQuery{Limit: 2}))
	require.Equal(
		t, "delta gamma",
		slugs(registry.ToolQuery{AfterSlug: "beta", AfterID: "ffffffff-ffff-ffff-ffff-ffffffffffff", Limit: 2}),
	)
}
