package storetest

import (
	"slices"
	"testing"
	"time"

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
		began := f.beginApply(t)
		moved, err := f.Store.RecordApplied(t.Context(), f.stranger, "theirs", "user:eve", []store.AppliedObject{o}, began)
		require.NoError(t, err)
		require.Empty(t, moved, "it belongs to no set of theirs")
		mine, err := f.Store.ListApplied(t.Context(), f.Tenant, "shop")
		require.NoError(t, err)
		require.Len(t, mine, 1)
	},
	"BeginApply": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.BeginApply(t.Context(), f.stranger)
		require.NoError(t, err, "it is the time, of anything")
	},
	"ClaimRemoval": func(t *testing.T, f foreign) {
		t.Helper()
		o := f.applied(t, "shop", "tool", "search")
		RequireKind(t, tool.Conflict, f.Store.ClaimRemoval(t.Context(), f.stranger, o))
		require.NoError(t, f.Store.ClaimRemoval(t.Context(), f.Tenant, o))
	},
	"ReleaseRemoval": func(t *testing.T, f foreign) {
		t.Helper()
		o := f.applied(t, "shop", "tool", "search")
		require.NoError(t, f.Store.ClaimRemoval(t.Context(), f.Tenant, o))
		require.NoError(t, f.Store.ReleaseRemoval(t.Context(), f.stranger, o))
		RequireKind(t, tool.Conflict, f.Store.ClaimRemoval(t.Context(), f.Tenant, o))
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
			require.NoError(t, f.Store.MarkRemoved(t.Context(), f.stranger, o, good))
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
	_, err := f.Store.RecordApplied(tb.Context(), f.Tenant, set, "user:ada", []store.AppliedObject{o}, f.beginApply(tb))
	require.NoError(tb, err)
	held, err := f.Store.ListApplied(tb.Context(), f.Tenant, set)
	require.NoError(tb, err)
	at := slices.IndexFunc(held, func(h store.AppliedObject) bool { return h.ID == o.ID })
	return held[at]
}

// beginApply returns the time of an apply that begins now.
func (f *Fixture) beginApply(tb testing.TB) time.Time {
	tb.Helper()
	at, err := f.Store.BeginApply(tb.Context(), f.Tenant)
	require.NoError(tb, err)
	return at
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

	both := []store.AppliedObject{desk, search}
	moved, err := f.Store.RecordApplied(t.Context(), f.Tenant, "desks", "user:bo", both, f.beginApply(t))
	require.NoError(t, err)
	require.ElementsMatch(t, []store.AppliedObject{
		{Kind: "agent", ID: desk.ID, Set: "shop"}, {Kind: "tool", ID: search.ID, Set: "shop"},
	}, moved)
	require.Empty(t, list("shop"))
	moved, err = f.Store.RecordApplied(t.Context(), f.Tenant, "desks", "user:bo", both[:1], f.beginApply(t))
	require.NoError(t, err)
	require.Empty(t, moved)

	desk, search = list("desks")[0], list("desks")[1]
	require.NoError(t, f.Store.MarkRemoved(t.Context(), f.Tenant, desk, false))
	require.NoError(t, f.Store.MarkRemoved(t.Context(), f.Tenant, search, true))
	found = list("desks")
	require.Len(t, found, 1)
	require.NotZero(t, found[0].Removed)
	_, err = f.Store.RecordApplied(t.Context(), f.Tenant, "desks", "user:bo", []store.AppliedObject{desk}, f.beginApply(t))
	require.NoError(t, err)
	require.Zero(t, list("desks")[0].Removed)

	_, err = f.Store.RecordApplied(t.Context(), tool.TenantID(uuid.NewString()), "shop", "user:ada",
		[]store.AppliedObject{desk}, f.beginApply(t))
	RequireKind(t, tool.NotFound, err)
}

// testClaimedRemovals: what an apply takes away is no other's meanwhile, and not that of one that saw it before.
func testClaimedRemovals(t *testing.T, d *Database) {
	t.Helper()
	record := func(t *testing.T, f *Fixture, set string, o store.AppliedObject, began time.Time) (lost bool) {
		t.Helper()
		moved, err := f.Store.RecordApplied(t.Context(), f.Tenant, set, "user:bo", []store.AppliedObject{o}, began)
		require.NoError(t, err)
		for _, m := range moved {
			lost = lost || m.Lost
		}
		return lost
	}
	for _, good := range []bool{false, true} {
		f := NewFixture(t, d)
		o := f.applied(t, "shop", "tool", "search")
		require.False(t, record(t, f, "shop", o, f.beginApply(t)))
		RequireKind(t, tool.Conflict, f.Store.ClaimRemoval(t.Context(), f.Tenant, o)) // It was applied since.
		held, err := f.Store.ListApplied(t.Context(), f.Tenant, "shop")
		require.NoError(t, err)
		o = held[0]
		require.NoError(t, f.Store.ClaimRemoval(t.Context(), f.Tenant, o))
		RequireKind(t, tool.Conflict, f.Store.ClaimRemoval(t.Context(), f.Tenant, o)) // By another apply.
		before := f.beginApply(t)
		for _, set := range []string{"shop", "other"} {
			require.True(t, record(t, f, set, o, before), "it is being taken away")
		}
		require.NoError(t, f.Store.MarkRemoved(t.Context(), f.Tenant, o, good))
		for _, set := range []string{"shop", "other"} {
			require.True(t, record(t, f, set, o, before), "it was taken away since")
		}
		require.False(t, record(t, f, "other", o, f.beginApply(t)), "of an apply that saw that it was")

		held, err = f.Store.ListApplied(t.Context(), f.Tenant, "other")
		require.NoError(t, err)
		require.Len(t, held, 1)
		require.Zero(t, held[0].Removed)
		require.NoError(t, f.Store.ClaimRemoval(t.Context(), f.Tenant, held[0]))
		require.NoError(t, f.Store.ReleaseRemoval(t.Context(), f.Tenant, held[0]))
		require.NoError(t, f.Store.ClaimRemoval(t.Context(), f.Tenant, held[0]), "it was not taken away")
		f.exec(t, "update applied_objects set claimed_at = now() - interval '2 minutes' where tenant_id = $1", f.Tenant)
		require.False(t, record(t, f, "other", o, before), "who claimed it is gone")
	}
}
