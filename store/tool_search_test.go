package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// A search reads an index alone, and the rows of what it finds. It ends where the page is full.
func TestToolSearchesReadAnIndexAlone(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	storetest.Seed(t, conn,
		`insert into tenants (id, slug, name) select gen_random_uuid(), 'crowd-' || n, 'x' from generate_series(1, 100) n`,
		`insert into tool_registry (id, tenant_id, slug, name, description, implementation_type, status, version)
			select gen_random_uuid(), t.id, 'tool' || n, 'Name ' || n, repeat('what it does ', case when n = 77 then 100 else 9 end),
				'http', 'draft', '1.0.0'
			from tenants t, generate_series(1, case when t.slug like 'crowd-%' then 50 else 3000 end) n order by random()`,
		"vacuum analyze tool_registry",
	)
	_, err := conn.Exec(t.Context(), "set role "+store.AppRole)
	require.NoError(t, err)
	_, err = conn.Prepare(t.Context(), "search_tools", db.SearchTools)
	require.NoError(t, err)
	explain := func(search string) string {
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), db.SetTenantInOrder, f.Tenant, "0", "0", "0", "")
		require.NoError(t, err)
		plan := strings.Join(texts(t, conn, fmt.Sprintf(`explain (analyze, costs off, timing off, summary off)
			execute search_tools('%s', false, '', '00000000-0000-0000-0000-000000000000', '%s', '', null, '', '', '', false, '', '', 50)`,
			f.Tenant, search)), "\n")
		require.NoError(t, tx.Rollback(t.Context()))
		return plan
	}
	rare := explain("name 2999")
	require.Regexp(t, `Index Only Scan using tool_registry_texts on tool_registry x \(actual rows=0 loops=2\)`, rare,
		"one row of two loops")
	require.Regexp(t, `Rows Removed by Filter: (1499|1500)\s+Heap Fetches`, rare)
	require.Regexp(t, `Index Scan using tool_registry_pkey on tool_registry r \(actual rows=1 loops=1\)`, rare)
	common := explain("what it")
	require.Regexp(t, `Index Only Scan using tool_registry_texts on tool_registry x \(actual rows=25 loops=2\)`, common)
	require.NotRegexp(t, `Rows Removed by Filter: \d\d`, common)
	require.Regexp(t, `Index Scan using tool_registry_pkey on tool_registry r \(actual rows=1 loops=50\)`, common)
}

// A search finds what has its text, whatever the length of that, in pages of any size.
func TestToolSearchesFindEveryText(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	other := d.Tenant(t)
	found, err := d.Store.FindTenant(t.Context(), f.Tenant)
	require.NoError(t, err)
	create := func(in registry.Store, tenant tool.TenantID, slug, name, description string, slugs ...string) tool.Tool {
		head := tool.Tool{Tenant: tenant, Slug: slug, Status: tool.Draft, Active: true, Version: "1.0.0"}
		head.TenantSlugs = slugs
		head.Name, head.Description, head.Implementation = name, description, tool.HTTP
		head, err := in.CreateTool(t.Context(), head)
		require.NoError(t, err, slug)
		return head
	}
	for i, length := range []int{0, 5, 988, 989, 990, 991, 992, 993, 994, 1000, 1001, 1500, 9000} {
		create(d.Store, f.Tenant, fmt.Sprintf("own%c", 'a'+i), "Name",
			"A NEEDLE, "+strings.Repeat("x", max(length-10, 0)))
		create(d.Store, f.Tenant, fmt.Sprintf("plain%c", 'a'+i), "Name", strings.Repeat("é", length/2)+" ends")
	}
	create(d.Store, f.Tenant, "midNeedle", "Name", "")
	create(d.Store, f.Tenant, "named", "Of Needles", "Éa")
	create(d.Store, other, "foreign", "Needle", "Needle")
	create(d.Platform.Registry(), "", "everyones", "Needle", "")
	create(d.Platform.Registry(), "", "granted", "Needle", "", found.Slug)
	create(d.Platform.Registry(), "", "withheld", "Needle", "", "another")
	archived := create(d.Store, f.Tenant, "kept", "Needle", "")
	now := time.Now().UTC()
	archived.Status, archived.ArchivedAt, archived.ArchivedBy = tool.Disabled, &now, "user:ada"
	_, err = d.Store.UpdateTool(t.Context(), archived)
	require.NoError(t, err)

	list := func(q registry.ToolQuery) (slugs []string) {
		for {
			page, err := d.Store.ListTools(t.Context(), f.Tenant, q)
			require.NoError(t, err)
			for _, head := range page {
				slugs = append(slugs, head.Slug)
			}
			if len(page) < q.Limit {
				return slugs
			}
			last := page[len(page)-1]
			q.AfterSlug, q.AfterID = last.Slug, last.ID
		}
	}
	all, err := d.Store.ListTools(t.Context(), f.Tenant, registry.ToolQuery{Limit: 100})
	require.NoError(t, err)
	for _, search := range []string{"needle", "NEEDLE", "e", "ends", "named of", "no such text", "É", "Éa"} {
		var want []string
		for _, head := range all {
			text := strings.ToLower(head.Slug + " " + head.Name + " " + head.Description)
			if strings.Contains(text, strings.ToLower(search)) {
				want = append(want, head.Slug)
			}
		}
		for _, limit := range []int{1, 3, 100} {
			require.Equal(t, want, list(registry.ToolQuery{Search: search, Limit: limit}), "%s by %d", search, limit)
		}
	}
	got := list(registry.ToolQuery{Search: "needle", Limit: 100})
	require.Len(t, got, 17)
	require.True(t, slices.Contains(got, "granted") && slices.Contains(got, "everyones"), got)
	require.Equal(t, []string{"kept"}, list(registry.ToolQuery{Search: "needle", Archived: true, Limit: 100}))
	require.Empty(t, list(registry.ToolQuery{Search: "needle", Status: tool.Published, Limit: 100}))
}
