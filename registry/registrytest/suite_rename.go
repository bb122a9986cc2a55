package registrytest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

func day(from time.Duration) string { return time.Now().Add(from).UTC().Format(time.DateOnly) }

// requireRenamed requires a failure that says what a tool is called now.
func requireRenamed(t *testing.T, err error) {
	t.Helper()
	var renamed *registry.RenamedError
	require.ErrorAs(t, err, &renamed)
	require.NotEmpty(t, renamed.Slug)
	require.ErrorContains(t, err, renamed.Slug)
}

func testRename(t *testing.T, f Fixture) {
	t.Helper()

	head, err := publishAs(t, f.Store, create(t, f.Store,
		example(f.Tenant, "findOrders")), "1.0.0", tool.Interaction{Aliases: []string{"orders"}})
	require.NoError(t, err)
	stale := head
	head, err = f.Store.RenameTool(t.Context(), head, "searchOrders", day(48*time.Hour))
	require.NoError(t, err)
	require.Equal(t, "searchOrders", head.Slug)
	require.Equal(t, stale.Revision+1, head.Revision)
	_, err = f.Store.RenameTool(t.Context(), stale, "another", "")
	requireKind(t, tool.Conflict, err)
	require.ErrorIs(t, err, registry.ErrChanged)

	requireFound := func(name, lastDay string) {
		t.Helper()
		id, by := found(t, f, f.Tenant, name)
		require.Equal(t, head.ID, id, name)
		require.Equal(t, &resolver.Alias{Name: name, RemoveBy: lastDay}, by)
	}
	requireFound("findOrders", day(48*time.Hour))
	requireFound("orders", "")
	_, err = f.Store.FindTool(t.Context(), f.Tenant, tool.Ref{Slug: "findOrders"})
	requireKind(t, tool.NotFound, err)
	requireRenamed(t, err)
	require.ErrorContains(t, err, "searchOrders")

	head, err = publishAs(t, f.Store, head, "1.1.0", tool.Interaction{})
	require.NoError(t, err)
	requireFound("findOrders", day(48*time.Hour))
	id, _ := found(t, f, f.Tenant, "orders")
	require.Empty(t, id, "an alias ends with the version that has it")

	head, err = f.Store.RenameTool(t.Context(), head, "findOrders", day(24*time.Hour))
	require.NoError(t, err, "and back")
	requireFound("searchOrders", day(24*time.Hour))
	id, by := found(t, f, f.Tenant, "findOrders")
	require.Equal(t, head.ID, id)
	require.Nil(t, by, "it is the slug")

	head, err = f.Store.RenameTool(t.Context(), head, "orderSearch", "")
	require.NoError(t, err)
	id, _ = found(t, f, f.Tenant, "findOrders")
	require.Empty(t, id, "without a day it is not kept")
	requireFound("searchOrders", day(24*time.Hour))
}

func testRenameConflicts(t *testing.T, f Fixture) {
	t.Helper()

	head := create(t, f.Store, example(f.Tenant, "findOrders"))
	taken := create(t, f.Store, example(f.Tenant, "taken"))
	_, err := f.Store.RenameTool(t.Context(), head, "taken", "")
	requireKind(t, tool.Conflict, err)
	_, err = publishAs(t, f.Store, taken, "1.0.0", tool.Interaction{Aliases: []string{"findOrders"}})
	require.NoError(t, err)
	_, err = f.Store.RenameTool(t.Context(), head, "searchOrders", day(24*time.Hour))
	requireKind(t, tool.Conflict, err)

	other := create(t, f.Store, example(f.Tenant, "findItems"))
	other, err = f.Store.RenameTool(t.Context(), other, "searchItems", day(24*time.Hour))
	require.NoError(t, err)
	_, err = f.Store.CreateTool(t.Context(), example(f.Tenant, "findItems"))
	requireKind(t, tool.Conflict, err)
	requireRenamed(t, err)
	_, err = f.Store.RenameTool(t.Context(), head, "findItems", "")
	requireKind(t, tool.Conflict, err)
	requireRenamed(t, err)
	_, err = f.Store.CreateTool(t.Context(), example(f.Other, "findItems"))
	require.NoError(t, err, "each tenant has its own names")
	_, err = f.Store.RenameTool(t.Context(), example(f.Other, "findOrders"), "mine", "")
	require.Error(t, err)
	foreign := head
	foreign.Tenant = f.Other
	_, err = f.Store.RenameTool(t.Context(), foreign, "mine", "")
	requireKind(t, tool.NotFound, err)

	_, err = f.Store.RenameTool(t.Context(), other, "gatherItems", day(-48*time.Hour))
	require.NoError(t, err)
	_, err = f.Store.CreateTool(t.Context(), example(f.Tenant, "searchItems"))
	require.NoError(t, err, "its last day is over")
}
