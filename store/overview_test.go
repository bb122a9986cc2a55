package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// An overview reads parts of indexes that are bounded by its counts: never what is older.
func TestOverviewUsesIndexes(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	for _, sql := range []string{
		`insert into runs (id, tenant_id, kind, mode, status, workflow_id, completed_at)
			select (substr(uuid_floor(now() - n * interval '1 minute')::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid,
				'` + string(f.Tenant) + `', 'agent', 'production', 'completed', 'w' || n, now() from generate_series(1, 20000) n`,
		`insert into tool_invocations (id, tenant_id, call_id, tool, mode, status)
			select (substr(uuid_floor(now() - n * interval '1 minute')::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid,
				'` + string(f.Tenant) + `', 'c', 'x', 'production', case when n % 10 = 0 then 'failed' else 'completed' end
			from generate_series(1, 20000) n`,
		"analyze runs", "analyze tool_invocations",
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	now := time.Now().UTC()
	runs := explain(t, conn, db.CountRuns, f.Tenant, now.Add(-time.Hour), store.MostCounted, []string{"completed"})
	require.Regexp(t, `Index Only Scan using runs_status on runs`, runs)
	// Partitions without rows may be read in another way.
	hours := explain(t, conn, db.CountCallsByHour, f.Tenant, store.MostCounted, now.Add(-23*time.Hour), now)
	require.Regexp(t, `Index Only Scan .*using \w+pkey on tool_invocations_\w+`, hours)
	failing := explain(t, conn, db.ListFailingTools, f.Tenant, now.Add(-time.Hour), store.MostCounted, 5)
	require.Contains(t, failing, "failed_status")
	waiting := explain(t, conn, db.CountWaiting, f.Tenant, store.MostCounted)
	require.Regexp(t, `Index Scan using approvals_(pending|overdue)`, waiting)
	require.Contains(t, waiting, "pending_tool_calls_open")
	require.NotContains(t, waiting, "Seq Scan on runs")

	found, err := f.Store.Overview(t.Context(), f.Tenant, now)
	require.NoError(t, err)
	require.Len(t, found.Hours, 24)
	require.Equal(t, "x", found.Failing[0].Tool)
	require.InDelta(t, 6, found.Failures, 1)
}

// A search reads the tools of the tenant in the order of an index, and none of other tenants.
func TestSearchOfNamesUsesIndexes(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	other := d.Tenant(t)
	_, err := conn.Exec(t.Context(), `insert into tool_registry (id, tenant_id, slug, name, version)
		select gen_random_uuid(), case when n % 200 = 0 then $1::uuid else $2::uuid end, 'tool' || n, 'Tool ' || n, '1.0.0'
		from generate_series(1, 5000) n`, f.Tenant, other)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "analyze tool_registry")
	require.NoError(t, err)
	plan := explain(t, conn,
		db.SearchNames, 20, []string{"tool400"}, "tool400", []string{"tool"}, f.Tenant, []string{"x.y"}, false, 20, "",
	)
	require.NotContains(t, plan, "Seq Scan on tool_registry")
	require.Regexp(t, `Index Cond: .*scope_id = `, plan)

	found, err := f.Store.SearchNames(
		t.Context(),
		f.Tenant,
		store.NameQuery{Text: "tool400", Kinds: []string{store.NamedTool}},
	)
	require.NoError(t, err)
	require.Equal(t, "tool400", found[0].Name)
	require.Len(t, found, 2, "its own alone")
}
