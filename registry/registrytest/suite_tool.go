package registrytest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

func testToolRoundTrip(t *testing.T, f Fixture) {
	t.Helper()

	want := example(f.Tenant, "findOrder")
	got := create(t, f.Store, want)
	requireSameTool(t, want, got)
	for _, ref := range []tool.Ref{{Slug: got.Slug}, {ID: got.ID}} {
		found, err := f.Store.FindTool(t.Context(), f.Tenant, ref)
		require.NoError(t, err)
		require.Equal(t, got.ID, found.ID)
		requireSameTool(t, want, found)
	}
	write := example(f.Tenant, "sendMail")
	write.EgressClass = tool.EgressWrite
	require.True(t, create(t, f.Store, write).RequiresApproval,
		"what writes outside needs an approval, whatever is asked for")
	_, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{Slug: "missingTool"})
	requireKind(t, tool.NotFound, err)
}

func testToolSlugs(t *testing.T, f Fixture) {
	t.Helper()

	create(t, f.Store, example(f.Tenant, "findOrder"))
	_, err := f.Store.CreateTool(t.Context(), example(f.Tenant, "findOrder"))
	requireKind(t, tool.Conflict, err)
	create(t, f.Store, example(f.Other, "findOrder"))
}

func testToolDeletion(t *testing.T, f Fixture) {
	t.Helper()

	head := create(t, f.Store, example(f.Tenant, "findOrder"))
	v := versionOf(t, head, "1.0.0")
	v.Published = true
	head, v, err := f.Store.AddVersion(t.Context(), head, v)
	require.NoError(t, err)
	stale := head
	stale.Revision--
	err = f.Store.DeleteTool(t.Context(), stale)
	requireKind(t, tool.Conflict, err)
	require.ErrorIs(t, err, definition.ErrChanged)
	foreign := head
	foreign.Tenant = f.Other
	requireKind(t, tool.NotFound, f.Store.DeleteTool(t.Context(), foreign))

	require.NoError(t, f.Store.DeleteTool(t.Context(), head))
	requireKind(t, tool.NotFound, f.Store.DeleteTool(t.Context(), head))
	for _, ref := range []tool.Ref{{Slug: head.Slug}, {ID: head.ID}} {
		_, err := f.Store.FindTool(t.Context(), f.Tenant, ref)
		requireKind(t, tool.NotFound, err)
	}
	listed, err := f.Store.ListTools(t.Context(), f.Tenant, registry.ToolQuery{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, listed)
	_, err = f.Store.UpdateTool(t.Context(), head)
	requireKind(t, tool.NotFound, err)

	again := create(t, f.Store, example(f.Tenant, "findOrder"))
	require.NotEqual(t, head.ID, again.ID)
	second := versionOf(t, again, "1.0.0")
	second.Published = true // With the alias that the first one had.
	_, _, err = f.Store.AddVersion(t.Context(), again, second)
	require.NoError(t, err)
	pinned, err := f.Source.Version(t.Context(), f.Tenant, head.ID, v.Digest)
	require.NoError(t, err, "runs that pinned it read it")
	require.Equal(t, v.Digest, pinned.Digest)
}

func testToolRevisions(t *testing.T, f Fixture) {
	t.Helper()

	first := create(t, f.Store, example(f.Tenant, "findOrder"))
	second := first
	second.Description = "Second."
	second, err := f.Store.UpdateTool(t.Context(), second)
	require.NoError(t, err)
	require.Greater(t, second.Revision, first.Revision)
	first.Description = "Late."
	_, err = f.Store.UpdateTool(t.Context(), first)
	requireKind(t, tool.Conflict, err)
	require.ErrorIs(t, err, definition.ErrChanged)
	_, _, err = f.Store.AddVersion(t.Context(), first, versionOf(t, first, "1.0.0"))
	requireKind(t, tool.Conflict, err)
	require.ErrorIs(t, err, definition.ErrChanged)
	versions, err := f.Store.ListVersions(t.Context(), f.Tenant, first.ID)
	require.NoError(t, err)
	require.Empty(t, versions, "a version that lost leaves nothing")
	got, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: first.ID})
	require.NoError(t, err)
	require.Equal(t, "Second.", got.Description)
}

func testToolIsolation(t *testing.T, f Fixture) {
	t.Helper()

	theirs := create(t, f.Store, example(f.Other, "findOrder"))
	for _, ref := range []tool.Ref{{Slug: theirs.Slug}, {ID: theirs.ID}} {
		_, err := f.Store.FindTool(t.Context(), f.Tenant, ref)
		requireKind(t, tool.NotFound, err)
	}
	_, err := f.Store.ListVersions(t.Context(), f.Tenant, theirs.ID)
	requireKind(t, tool.NotFound, err)
	stolen := theirs
	stolen.Tenant = f.Tenant
	_, err = f.Store.UpdateTool(t.Context(), stolen)
	requireKind(t, tool.NotFound, err)
	_, _, err = f.Store.AddVersion(t.Context(), stolen, versionOf(t, stolen, "1.0.0"))
	requireKind(t, tool.NotFound, err)
	list, err := f.Store.ListTools(t.Context(), f.Tenant, registry.ToolQuery{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, list)
}

func testGlobalTools(t *testing.T, f Fixture) {
	t.Helper()

	_, err := f.Store.CreateTool(t.Context(), exampleFor("findOrder"))
	require.Error(t, err)
	global := create(t, f.Platform, exampleFor("findOrder"))
	found, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{Slug: "findOrder"})
	require.NoError(t, err)
	require.Equal(t, global.ID, found.ID)
	_, err = f.Store.UpdateTool(t.Context(), global)
	require.Error(t, err)
	_, _, err = f.Platform.AddVersion(t.Context(), global, versionOf(t, global, "1.0.0"))
	require.NoError(t, err)
	versions, err := f.Store.ListVersions(t.Context(), f.Tenant, global.ID)
	require.NoError(t, err)
	require.Len(t, versions, 1)
}

// A tool for other tenants is not found, and a tool for several tenants does
// not disclose the others to any of them.
func testAudience(t *testing.T, f Fixture) {
	t.Helper()

	shared := create(t, f.Platform, exampleFor("sharedTool", "somebody-else", f.Slug))
	hidden := create(t, f.Platform, exampleFor("hiddenTool", "somebody-else"))
	hidden, v, err := f.Platform.AddVersion(t.Context(), hidden, versionOf(t, hidden, "1.0.0"))
	require.NoError(t, err)
	require.Equal(t, []string{"somebody-else"}, hidden.TenantSlugs, "the platform knows")
	found, err := f.Platform.FindTool(t.Context(), "", tool.Ref{ID: shared.ID})
	require.NoError(t, err)
	require.Equal(t, shared.Policy, found.Policy)

	want := shared
	want.TenantSlugs = nil
	found, err = f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{Slug: "sharedTool"})
	require.NoError(t, err)
	requireSameTool(t, want, found)
	list, err := f.Store.ListTools(t.Context(), f.Tenant, registry.ToolQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1)
	requireSameTool(t, want, list[0])
	page, err := f.Source.Page(t.Context(), f.Tenant, resolver.PageQuery{Limit: 10})
	require.NoError(t, err)
	require.Len(t, page.Entries, 1)
	requireSameTool(t, want, page.Entries[0].Tool)
	policies, err := f.Source.Policies(t.Context(), f.Tenant, []string{shared.ID, hidden.ID})
	require.NoError(t, err)
	require.Equal(t, map[string]tool.Policy{shared.ID: want.Policy}, policies)

	for _, ref := range []tool.Ref{{Slug: hidden.Slug}, {ID: hidden.ID}} {
		_, err = f.Store.FindTool(t.Context(), f.Tenant, ref)
		requireKind(t, tool.NotFound, err)
		c, err := f.Source.Entries(t.Context(), f.Tenant, ref)
		require.NoError(t, err)
		require.Empty(t, c.Entries)
	}
	for _, ref := range []tool.Ref{{Slug: shared.Slug}, {ID: shared.ID}} {
		c, err := f.Source.Entries(t.Context(), f.Tenant, ref)
		require.NoError(t, err)
		require.Len(t, c.Entries, 1)
		requireSameTool(t, want, c.Entries[0].Tool)
		c, err = f.Source.Entries(t.Context(), f.Other, ref)
		require.NoError(t, err)
		require.Empty(t, c.Entries)
	}
	_, err = f.Store.ListVersions(t.Context(), f.Tenant, hidden.ID)
	requireKind(t, tool.NotFound, err)
	_, err = f.Source.Version(t.Context(), f.Tenant, hidden.ID, v.Digest)
	requireKind(t, tool.NotFound, err)
}

func testShadowing(t *testing.T, f Fixture) {
	t.Helper()

	global := create(t, f.Platform, exampleFor("findOrder"))
	own := create(t, f.Store, example(f.Tenant, "findOrder"))
	found, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{Slug: "findOrder"})
	require.NoError(t, err)
	require.Equal(t, own.ID, found.ID)
	found, err = f.Store.FindTool(t.Context(), f.Other, tool.Ref{Slug: "findOrder"})
	require.NoError(t, err)
	require.Equal(t, global.ID, found.ID)
	c, err := f.Source.Entries(t.Context(), f.Tenant, tool.Ref{Slug: "findOrder"})
	require.NoError(t, err)
	require.Len(t, c.Entries, 2)
}

func testListTools(t *testing.T, f Fixture) {
	t.Helper()

	slugs := []string{"aTool", "bTool", "cTool", "dTool"}
	for _, slug := range slugs {
		create(t, f.Store, example(f.Tenant, slug))
	}
	global := exampleFor("bTool")
	global.Implementation, global.Description = tool.Internal, "A needle."
	create(t, f.Platform, global)

	var got []string
	q := registry.ToolQuery{Limit: 2}
	for {
		page, err := f.Store.ListTools(t.Context(), f.Tenant, q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), 2)
		if len(page) == 0 {
			break
		}
		for _, head := range page {
			got = append(got, head.Slug)
		}
		q.AfterSlug, q.AfterID = page[len(page)-1].Slug, page[len(page)-1].ID
	}
	require.Equal(t, []string{"aTool", "bTool", "bTool", "cTool", "dTool"}, got)

	for name, want := range map[string]struct {
		q registry.ToolQuery
		n int
	}{
		"status":                {registry.ToolQuery{Status: tool.Published}, 0},
		"another status":        {registry.ToolQuery{Status: tool.Draft}, 5},
		"type":                  {registry.ToolQuery{Implementation: tool.Internal}, 1},
		"search in description": {registry.ToolQuery{Search: "NEEDLE"}, 1},
		"search in slug":        {registry.ToolQuery{Search: "ctool"}, 1},
		"bucket":                {registry.ToolQuery{Bucket: tool.BucketMCP}, 0},
		"time":                  {registry.ToolQuery{UpdatedSince: time.Now().Add(time.Hour)}, 0},
	} {
		want.q.Limit = 10
		page, err := f.Store.ListTools(t.Context(), f.Tenant, want.q)
		require.NoError(t, err)
		require.Len(t, page, want.n, name)
	}
}

func testVersions(t *testing.T, f Fixture) {
	t.Helper()

	head := create(t, f.Store, example(f.Tenant, "findOrder"))
	first := versionOf(t, head, "1.0.0")
	head, stored, err := f.Store.AddVersion(t.Context(), head, first)
	require.NoError(t, err)
	require.Equal(t, first.Digest, stored.Digest)
	require.False(t, stored.Published)

	again := first
	now := time.Now().UTC().Truncate(time.Millisecond)
	again.Published, again.PublishedAt = true, &now
	head.Status, head.PublishedAt = tool.Published, &now
	head, published, err := f.Store.AddVersion(t.Context(), head, again)
	require.NoError(t, err)
	require.True(t, published.Published)
	require.True(t, now.Equal(*published.PublishedAt))
	found, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{ID: head.ID})
	require.NoError(t, err)
	require.NotNil(t, found.PublishedAt, "the head keeps when it was published")
	require.True(t, now.Equal(*found.PublishedAt))
	require.Equal(t, stored.ID, published.ID)
	require.Equal(t, tool.Published, head.Status)

	head.Description = "Changed."
	_, _, err = f.Store.AddVersion(t.Context(), head, versionOf(t, head, "1.0.0"))
	requireKind(t, tool.Conflict, err)
	head, _, err = f.Store.AddVersion(t.Context(), head, versionOf(t, head, "1.1.0"))
	require.NoError(t, err)
	versions, err := f.Store.ListVersions(t.Context(), f.Tenant, head.ID)
	require.NoError(t, err)
	require.Len(t, versions, 2)
	require.Equal(t, "1.1.0", versions[0].Number, "newest first")
	digest, err := versions[1].Snapshot.Digest()
	require.NoError(t, err)
	require.Equal(t, first.Digest, digest, "content is kept to the digit")
	require.Equal(t, "user:ada", versions[1].CreatedBy)
}

func testSource(t *testing.T, f Fixture) {
	t.Helper()

	head := create(t, f.Store, example(f.Tenant, "findOrder"))
	v := versionOf(t, head, "1.0.0")
	v.Published = true
	head, v, err := f.Store.AddVersion(t.Context(), head, v)
	require.NoError(t, err)
	create(t, f.Store, example(f.Other, "theirTool"))
	create(t, f.Platform, exampleFor("screenRisk"))

	for _, ref := range []tool.Ref{{Slug: head.Slug}, {ID: head.ID}} {
		c, err := f.Source.Entries(t.Context(), f.Tenant, ref)
		require.NoError(t, err)
		require.True(t, c.TenantActive)
		require.Equal(t, f.Slug, c.TenantSlug)
		require.Len(t, c.Entries, 1)
		requireSameTool(t, head, c.Entries[0].Tool)
		require.Len(t, c.Entries[0].Versions, 1)
		info := c.Entries[0].Versions[0]
		require.Equal(
			t,
			resolver.VersionInfo{ID: v.ID, Number: "1.0.0", Digest: v.Digest, Published: true, ReadsDeclared: v.ReadsDeclared},
			info,
		)
	}
	for _, ref := range []tool.Ref{{Slug: "theirTool"}, {Slug: "missingTool"}, {ID: newID()}} {
		c, err := f.Source.Entries(t.Context(), f.Tenant, ref)
		require.NoError(t, err, "what is not there is no error")
		require.Empty(t, c.Entries)
		require.True(t, c.TenantActive)
	}
	c, err := f.Source.Page(t.Context(), f.Tenant, resolver.PageQuery{Limit: 1})
	require.NoError(t, err)
	require.Len(t, c.Entries, 1)
	require.Equal(t, "findOrder", c.Entries[0].Tool.Slug)
	c, err = f.Source.Page(t.Context(), f.Tenant, resolver.PageQuery{After: "findOrder", Limit: 10})
	require.NoError(t, err)
	require.Len(t, c.Entries, 1)
	require.Equal(t, "screenRisk", c.Entries[0].Tool.Slug)

	got, err := f.Source.Version(t.Context(), f.Tenant, head.ID, v.Digest)
	require.NoError(t, err)
	require.Equal(t, "findOrder@1.0.0", got.String())
	_, err = f.Source.Version(t.Context(), f.Other, head.ID, v.Digest)
	requireKind(t, tool.NotFound, err)
	_, err = f.Source.Version(t.Context(), f.Tenant, head.ID, "0000")
	requireKind(t, tool.NotFound, err)
}

func testPolicies(t *testing.T, f Fixture) {
	t.Helper()

	own := create(t, f.Store, example(f.Tenant, "findOrder"))
	global := create(t, f.Platform, exampleFor("screenRisk"))
	theirs := create(t, f.Store, example(f.Other, "theirTool"))
	got, err := f.Source.Policies(t.Context(), f.Tenant, []string{own.ID, global.ID, theirs.ID, newID()})
	require.NoError(t, err)
	require.Equal(t, map[string]tool.Policy{own.ID: own.Policy, global.ID: global.Policy}, got)
}
