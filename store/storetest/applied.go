package storetest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// appliedCases are the foreign-tenant cases of sets of definitions.
var appliedCases = map[string]func(t *testing.T, f foreign){
	"RecordApplied": func(t *testing.T, f foreign) {
		t.Helper()
		o := f.applied(t, "shop", "tool", "search")
		moved, err := f.Store.RecordApplied(t.Context(), f.stranger, "theirs", "user:eve", []store.AppliedObject{o})
		require.NoError(t, err)
		require.Empty(t, moved, "it belongs to no set of theirs")
		mine, err := f.Store.ListApplied(t.Context(), f.Tenant, "shop")
		require.NoError(t, err)
		require.Len(t, mine, 1)
	},
	"ListApplied": func(t *testing.T, f foreign) {
		t.Helper()
		f.applied(t, "shop", "tool", "search")
		theirs, err := f.Store.ListApplied(t.Context(), f.stranger, "shop")
		require.NoError(t, err)
		require.Empty(t, theirs)
	},
	"MarkRemoved": func(t *testing.T, f foreign) {
		t.Helper()
		o := f.applied(t, "shop", "tool", "search")
		for _, good := range []bool{true, false} {
			require.NoError(t, f.Store.MarkRemoved(t.Context(), f.stranger, o.Kind, o.ID, good))
		}
		mine, err := f.Store.ListApplied(t.Context(), f.Tenant, "shop")
		require.NoError(t, err)
		require.Len(t, mine, 1)
		require.Zero(t, mine[0].Removed)
	},
}

// applied records an object of the fixture's tenant in a set.
func (f *Fixture) applied(tb testing.TB, set, kind, slug string) store.AppliedObject {
	tb.Helper()
	o := store.AppliedObject{Kind: kind, ID: uuid.NewString(), Slug: slug}
	_, err := f.Store.RecordApplied(tb.Context(), f.Tenant, set, "user:ada", []store.AppliedObject{o})
	require.NoError(tb, err)
	return o
}

// testAppliedSets: an object belongs to the set that it was applied with last, and one that was taken away is
// taken back by its definition.
func testAppliedSets(t *testing.T, d *Database) {
	t.Helper()
	f := NewFixture(t, d)
	search, desk := f.applied(t, "shop", "tool", "search"), f.applied(t, "shop", "agent", "desk")

	list := func(set string) []store.AppliedObject {
		found, err := f.Store.ListApplied(t.Context(), f.Tenant, set)
		require.NoError(t, err)
		return found
	}
	found := list("shop")
	require.Equal(t, []string{"desk", "search"}, []string{found[0].Slug, found[1].Slug})
	require.Equal(t, "user:ada", found[0].By)
	require.Empty(t, list("other"))

	moved, err := f.Store.RecordApplied(t.Context(), f.Tenant, "desks", "user:bo", []store.AppliedObject{desk, search})
	require.NoError(t, err)
	require.ElementsMatch(t, []store.AppliedObject{
		{Kind: "agent", ID: desk.ID, Set: "shop"}, {Kind: "tool", ID: search.ID, Set: "shop"},
	}, moved)
	require.Empty(t, list("shop"))
	moved, err = f.Store.RecordApplied(t.Context(), f.Tenant, "desks", "user:bo", []store.AppliedObject{desk})
	require.NoError(t, err)
	require.Empty(t, moved)

	require.NoError(t, f.Store.MarkRemoved(t.Context(), f.Tenant, "agent", desk.ID, false))
	require.NoError(t, f.Store.MarkRemoved(t.Context(), f.Tenant, "tool", search.ID, true))
	found = list("desks")
	require.Len(t, found, 1)
	require.NotZero(t, found[0].Removed)
	_, err = f.Store.RecordApplied(t.Context(), f.Tenant, "desks", "user:bo", []store.AppliedObject{desk})
	require.NoError(t, err)
	require.Zero(t, list("desks")[0].Removed)

	_, err = f.Store.RecordApplied(t.Context(), tool.TenantID(uuid.NewString()), "shop", "user:ada",
		[]store.AppliedObject{desk})
	RequireKind(t, tool.NotFound, err)
}
