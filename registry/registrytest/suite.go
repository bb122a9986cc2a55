package registrytest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// Fixture is an implementation under test, empty but for two active tenants.
type Fixture struct {
	Store    registry.Store  // As tenants use it.
	Platform registry.Store  // Opened for the platform: the one that may write global tools.
	Source   resolver.Source // The same data, as the resolver reads it.
	Tenant   tool.TenantID
	Slug     string // Of Tenant.
	Other    tool.TenantID
}

// Run holds an implementation of registry.Store and resolver.Source to their
// contracts. fixture is called once per case and must return fresh data.
func Run(t *testing.T, fixture func(t *testing.T) Fixture) {
	t.Helper()

	cases := []struct {
		name string
		run  func(t *testing.T, f Fixture)
	}{
		{"a tool comes back as it was stored", testToolRoundTrip},
		{"slugs are unique within a tenant", testToolSlugs},
		{"revisions guard against lost updates", testToolRevisions},
		{"a deleted tool is gone, and its names are free", testToolDeletion},
		{"tools of other tenants are not found", testToolIsolation},
		{"global tools are written by the platform only", testGlobalTools},
		{"global tools for others are not found", testAudience},
		{"a tenant's tool shadows a global one", testShadowing},
		{"tools are listed in order, filtered and paged", testListTools},
		{"versions are immutable", testVersions},
		{"tools are found by further names", testAliases},
		{"further names stay within their tenant", testAliasIsolation},
		{"a renamed tool keeps its former slug until a date", testRename},
		{"what a renamed tool keeps, no other takes", testRenameConflicts},
		{"former names are kept like slugs", testFormerNames},
		{"the resolver's source shows what the store holds", testSource},
		{"policies are those of visible tools", testPolicies},
		{"tenants and the platform decide about tools", testOverrides},
		{"decisions about tools stay within their tenant", testOverrideIsolation},
		{"overrides keep what they changed", testOverrideContent},
		{"decisions about tools are listed in order and paged", testListOverrides},
		{"new built-ins are switched on for all", testNewBuiltinsAreOn},
		{"agents come back as they were stored", testAgentRoundTrip},
		{"agents of other tenants are not found", testAgentIsolation},
		{"versions of agents are immutable", testAgentVersions},
		{"servers come back as they were stored", testServerRoundTrip},
		{"what a server offers comes back as it was stored", testRemoteTools},
		{"a server and what it brings are written together", testServerAtomicity},
		{"a server is not detached from what is published", testServerInUse},
		{"servers of other tenants are not found", testServerIsolation},
		{"artifacts come back as they were stored", testArtifactRoundTrip},
		{"artifacts of other tenants are not found", testArtifactIsolation},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			c.run(t, fixture(t))
		})
	}
}

// example returns a tool with every kind of field set.
func example(tenant tool.TenantID, slug string) tool.Tool {
	now := time.Now().UTC().Truncate(time.Millisecond)
	shown := false
	return tool.Tool{
		ID: newID(), Tenant: tenant, Slug: slug,
		Definition: tool.Definition{
			Name:        "Name of " + slug,
			Description: "Says \"hello\" & <more>.",
			Category:    "shop",
			Icon:        "box",
			InputSchema: json.RawMessage(
				`{"type":"object","properties":{"n":{"type":"integer","maximum":12345678901234567890}}}`,
			),
			OutputSchema:   json.RawMessage(`{"type":"object"}`),
			Implementation: tool.HTTP,
			Config:         json.RawMessage(`{"url":"https://example.com"}`),
			Execution:      tool.Execution{Pure: true, ConcurrencyGroup: "g", MaxConcurrency: 2, TimeoutSeconds: 5},
			Interaction:    tool.Interaction{Visible: &shown, Intent: tool.Render, Aliases: []string{"a"}},
		},
		Policy: tool.Policy{
			EgressClass: tool.EgressReadOnly, PermissionPolicy: tool.PermissionAlwaysAsk,
			RequiredPermission: "orders.read", TenantSlugs: []string{"acme"},
			EgressRules: tool.EgressRules{Hosts: []string{"api.example.com"}, MaxBytes: 4096},
		},
		Status: tool.Draft, Active: true, Version: "1.0.0", CreatedAt: now, UpdatedAt: now,
		ReadsDeclared: &tool.Declaration{By: "user:eve", At: now},
	}
}

// versionOf returns the version that a tool's head stands for.
func versionOf(t *testing.T, head tool.Tool, number string) tool.Version {
	t.Helper()

	snapshot := tool.Snapshot{Definition: head.Definition}
	digest, err := snapshot.Digest()
	require.NoError(t, err)
	return tool.Version{
		ID: newID(), ToolID: head.ID, Tenant: head.Tenant, Slug: head.Slug, Number: number, Digest: digest,
		Snapshot: snapshot, CreatedAt: time.Now().UTC().Truncate(time.Millisecond), CreatedBy: "user:ada",
		ReadsDeclared: head.ReadsDeclared,
	}
}

// requireSameTool compares tools, but for what the store keeps itself.
func requireSameTool(t *testing.T, want, got tool.Tool) {
	t.Helper()

	digestWant, err := tool.Snapshot{Definition: want.Definition}.Digest()
	require.NoError(t, err)
	digestGot, err := tool.Snapshot{Definition: got.Definition}.Digest()
	require.NoError(t, err)
	require.Equal(t, digestWant, digestGot, "the content is kept to the digit")
	require.Equal(t, want.Policy, got.Policy)
	require.Equal(t, want.Tenant, got.Tenant)
	require.Equal(t, want.Slug, got.Slug)
	require.Equal(t, want.Status, got.Status)
	require.Equal(t, want.Active, got.Active)
	require.Equal(t, want.Version, got.Version)
	require.Equal(t, want.ReadsDeclared, got.ReadsDeclared)
}

// exampleFor returns a global tool for the tenants with the given slugs, or for
// all.
func exampleFor(slug string, tenants ...string) tool.Tool {
	head := example("", slug)
	head.TenantSlugs = tenants
	return head
}

func create(t *testing.T, s registry.Store, head tool.Tool) tool.Tool {
	t.Helper()

	got, err := s.CreateTool(t.Context(), head)
	require.NoError(t, err)
	require.NotEmpty(t, got.ID)
	return got
}

func requireKind(t *testing.T, want tool.Kind, err error) {
	t.Helper()

	require.Error(t, err)
	require.Equal(t, want, tool.KindOf(err), "%v", err)
}
