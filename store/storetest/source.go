package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

func testSource(t *testing.T, d *Database) {
	t.Helper()
	f := NewFixture(t, d)
	other := d.Tenant(t)
	global, err := d.Platform.Registry().CreateTool(t.Context(), tool.Tool{
		Slug: f.Tool.Slug, Status: tool.Draft, Active: true, Version: "1.0.0",
	})
	require.NoError(t, err)
	only, err := d.Platform.Registry().CreateTool(t.Context(), tool.Tool{
		Slug: "webFetch", Status: tool.Draft, Active: true, Version: "1.0.0",
	})
	require.NoError(t, err)
	_, _, err = d.Platform.Registry().AddVersion(t.Context(), only, VersionOf(t, only, "1.0.0"))
	require.NoError(t, err)

	t.Run("OwnShadowsGlobal", func(t *testing.T) {
		t.Parallel()
		c, err := f.Store.Entries(t.Context(), f.Tenant, tool.Ref{Slug: f.Tool.Slug})
		require.NoError(t, err)
		require.True(t, c.TenantActive)
		require.NotEmpty(t, c.TenantSlug)
		require.Len(t, c.Entries, 2)
		require.Equal(t, f.Tool.ID, c.Entries[0].Tool.ID)
		require.Equal(
			t, []resolver.VersionInfo{{ID: f.Version.ID, Number: "1.0.0", Digest: f.Version.Digest, Published: true}},
			c.Entries[0].Versions,
		)
		require.Equal(t, global.ID, c.Entries[1].Tool.ID)
		require.Empty(t, c.Entries[1].Versions)
		found, err := f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{Slug: f.Tool.Slug})
		require.NoError(t, err)
		require.Equal(t, f.Tool.ID, found.ID)
	})

	t.Run("GlobalIsForAll", func(t *testing.T) {
		t.Parallel()
		for _, ref := range []tool.Ref{{Slug: "webFetch"}, {ID: only.ID}} {
			c, err := f.Store.Entries(t.Context(), other, ref)
			require.NoError(t, err)
			require.Len(t, c.Entries, 1)
			require.True(t, c.Entries[0].Tool.Global())
			require.Len(t, c.Entries[0].Versions, 1)
			v, err := f.Store.Version(t.Context(), other, only.ID, c.Entries[0].Versions[0].Digest)
			require.NoError(t, err)
			require.Equal(t, "webFetch@1.0.0", v.String())
		}
	})

	t.Run("Pages", func(t *testing.T) {
		t.Parallel()
		var seen []string
		q := resolver.PageQuery{Limit: 1}
		for {
			c, err := f.Store.Page(t.Context(), f.Tenant, q)
			require.NoError(t, err)
			if len(c.Entries) == 0 {
				break
			}
			for _, e := range c.Entries {
				require.Equal(t, c.Entries[0].Tool.Slug, e.Tool.Slug, "a page of one slug has all its tools")
				seen = append(seen, e.Tool.ID)
			}
			q.After = c.Entries[0].Tool.Slug
		}
		require.ElementsMatch(t, []string{f.Tool.ID, global.ID, only.ID}, seen)
		require.Equal(t, only.ID, seen[2])
	})

	t.Run("Policies", func(t *testing.T) {
		t.Parallel()
		policies, err := f.Store.Policies(t.Context(), f.Tenant, []string{f.Tool.ID, only.ID, NewID(t), "no id"})
		require.NoError(t, err)
		require.Equal(t, map[string]tool.Policy{f.Tool.ID: f.Tool.Policy, only.ID: only.Policy}, policies)
	})

	t.Run("TellsOfSuspension", func(t *testing.T) {
		t.Parallel()
		tenant := d.Tenant(t)
		_, err := d.Platform.SetTenantStatus(t.Context(), tenant, store.TenantSuspended)
		require.NoError(t, err)
		c, err := f.Store.Entries(t.Context(), tenant, tool.Ref{Slug: "webFetch"})
		require.NoError(t, err)
		require.False(t, c.TenantActive)
	})

	t.Run("UnknownTenant", func(t *testing.T) {
		t.Parallel()
		for _, tenant := range []tool.TenantID{"", "nobody", tool.TenantID(NewID(t))} {
			_, err := f.Store.Entries(t.Context(), tenant, tool.Ref{Slug: "webFetch"})
			RequireKind(t, tool.NotFound, err)
		}
	})
}
