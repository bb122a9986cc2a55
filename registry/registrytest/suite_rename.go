package registrytest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

func day(from time.Duration) string { return time.Now().Add(from).UTC().Format(time.DateOnly) }

// requireRenamed requires an error with the new slug of a renamed tool.
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
	require.ErrorIs(t, err, definition.ErrChanged)

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

	taken := create(t, f.Store, example(f.Tenant, "taken"))
	_, err := publishAs(t, f.Store, taken, "1.0.0", tool.Interaction{Aliases: []string{"findOrders"}})
	require.NoError(t, err)
	head := create(t, f.Store, example(f.Tenant, "findOrders"))
	_, err = f.Store.RenameTool(t.Context(), head, "taken", "")
	requireKind(t, tool.Conflict, err)
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

// A former name of a published version is reserved like a former slug: until its
// last day, no tool can be created under it, renamed to it or imported with it,
// unless the tool drops its former names.
func testFormerNames(t *testing.T, f Fixture) {
	t.Helper()

	names := tool.Interaction{
		Aliases:     []string{"orders"},
		FormerNames: map[string]string{"findOrders": day(48 * time.Hour), "oldOrders": day(-48 * time.Hour)},
	}
	head, err := publishAs(t, f.Store, create(t, f.Store, example(f.Tenant, "searchOrders")), "1.0.0", names)
	require.NoError(t, err)
	other := create(t, f.Store, example(f.Tenant, "another"))

	held, err := f.Store.FurtherNames(t.Context(), f.Tenant, []string{"findOrders", "oldOrders", "orders", "searchOrders"})
	require.NoError(t, err)
	require.ElementsMatch(t, []registry.FurtherName{
		{Name: "findOrders", ToolID: head.ID, Slug: "searchOrders", LastDay: day(48 * time.Hour)},
		{Name: "orders", ToolID: head.ID, Slug: "searchOrders"},
	}, held)
	held, err = f.Store.FurtherNames(t.Context(), f.Other, []string{"findOrders", "orders"})
	require.NoError(t, err)
	require.Empty(t, held)

	requireKept := func(err error) {
		t.Helper()
		requireKind(t, tool.Conflict, err)
		requireRenamed(t, err)
		require.ErrorContains(t, err, "until "+day(48*time.Hour))
		require.ErrorContains(t, err, "--drop-former")
	}
	_, err = f.Store.CreateTool(t.Context(), example(f.Tenant, "findOrders"))
	requireKept(err)
	_, err = f.Store.RenameTool(t.Context(), other, "findOrders", day(time.Hour))
	requireKept(err)
	server, err := f.Store.CreateServer(t.Context(), mcpserver.Server{Tenant: f.Tenant, Slug: "shop", Status: "active"})
	require.NoError(t, err)
	brought := example(f.Tenant, "findOrders")
	_, err = f.Store.SaveServer(t.Context(), server, mcpserver.Changes{Create: []tool.Tool{brought}})
	requireKept(err)
	slug := map[string]string{"searchOrders": day(time.Hour)}
	_, err = publishAs(t, f.Store, other, "1.0.0", tool.Interaction{FormerNames: slug})
	requireKind(t, tool.Conflict, err)
	_, err = f.Store.CreateTool(t.Context(), example(f.Tenant, "oldOrders"))
	require.NoError(t, err, "its last day is over")

	head, err = f.Store.RenameTool(t.Context(), head, "searchOrders", "")
	require.NoError(t, err)
	_, err = f.Store.CreateTool(t.Context(), example(f.Tenant, "findOrders"))
	require.NoError(t, err, "it gave its former names up")
	id, _ := found(t, f, f.Tenant, "orders")
	require.Equal(t, head.ID, id, "and kept its aliases")
}
