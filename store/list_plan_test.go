package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// idAt returns an id of a point in time.
func idAt(t *testing.T, at time.Time) string {
	t.Helper()
	id, err := uuid.NewV7()
	require.NoError(t, err)
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id.String()
}

// explain returns the plan of a query of ours for the values at hand.
func explain(t *testing.T, conn *pgx.Conn, sql string, args ...any) string {
	t.Helper()
	_, err := conn.Exec(t.Context(), "set plan_cache_mode = force_custom_plan")
	require.NoError(t, err)
	return strings.Join(texts(t, conn, "explain (costs off) "+sql, args...), "\n")
}

// Pages by status are read from an index in their order, without sorting and
// without reading what has another status.
func TestPagesByStatusUseAnIndex(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	for _, sql := range []string{
		`insert into runs (id, tenant_id, kind, mode, status, workflow_id)
			select (substr(uuid_floor(now() - n * interval '10 ms')::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, %[1]s, 'agent', 'production',
				case when n %% 1000 = 0 then 'failed' else 'completed' end, 'w' || n from generate_series(1, 20000) n`,
		`insert into tool_invocations (id, tenant_id, call_id, tool, mode, status)
			select (substr(uuid_floor(now() - n * interval '10 ms')::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, %[1]s, 'c', 'x', 'production',
				case when n %% 1000 = 0 then 'failed' else 'completed' end from generate_series(1, 20000) n`,
		"analyze runs", "analyze tool_invocations",
	} {
		if strings.Contains(sql, "%[1]s") {
			sql = fmt.Sprintf(sql, "'"+string(f.Tenant)+"'")
		}
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	runs := explain(t, conn, db.ListRuns, f.Tenant, nil, "failed", "", nil, "", "", nil, false, false, nil, nil, 50)
	require.Contains(t, runs, "runs_status")
	require.NotContains(t, runs, "Sort")
	calls := explain(t, conn, db.ListInvocations, f.Tenant, nil, "", "failed", "", "", nil, nil, nil, nil, nil, 50)
	// Partitions without rows, or with few, may be read in another way.
	require.Regexp(t, `Index Scan using \w+failed_status\w* on tool_invocations_\w+ \w+\n\s+Index Cond: .*failed_status = 'failed'`,
		calls)
	done := explain(t, conn, db.ListInvocations, f.Tenant, nil, "completed", "", "", "", nil, nil, nil, nil, nil, 50)
	require.Regexp(t, `Index Scan Backward using \w+pkey\w* on tool_invocations_\w+`, done, "most calls completed")
	require.NotRegexp(t, `-> +Sort`, done)

	page, err := f.Store.ListInvocations(t.Context(), f.Tenant, store.InvocationQuery{Status: "failed"})
	require.NoError(t, err)
	require.Len(t, page, 20)
}

// Failed calls of one agent are read from an index in their order, among calls of it that completed and failed calls
// of others.
func TestFailedCallsOfAnAgentUseAnIndex(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	_, err := conn.Exec(t.Context(), fmt.Sprintf(
		`insert into tool_invocations (id, tenant_id, call_id, tool, mode, agent_id, status)
			select (substr(uuid_floor(now() - n * interval '10 ms')::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid, '%[1]s', 'c', 'x',
				'production', case when n %% 10 = 0 then '%[2]s' else '%[3]s' end::uuid,
				case when n %% 20 = 0 or n %% 3 = 0 then 'failed' else 'completed' end from generate_series(1, 20000) n`,
		f.Tenant, uuidOf(1), uuidOf(2)))
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "analyze tool_invocations")
	require.NoError(t, err)

	failed := explain(t, conn, db.ListInvocations, f.Tenant, nil, "", "failed", "", "", nil, uuidOf(1), nil, nil, nil, 50)
	require.Regexp(t,
		`Index Scan using \w+agent_id_failed\w* on tool_invocations_\w+ \w+\n\s+Index Cond: .*agent_id = .*failed_status = 'failed'`,
		failed)
	require.NotRegexp(t, `-> +Sort`, failed)
	all := explain(t, conn, db.ListInvocations, f.Tenant, nil, "", "", "", "", nil, uuidOf(1), nil, nil, nil, 50)
	require.NotRegexp(t, `-> +Sort`, all)
	page, err := f.Store.ListInvocations(t.Context(), f.Tenant, store.InvocationQuery{
		AgentID: uuidOf(1), Status: tool.StatusFailed, Limit: 20,
	})
	require.NoError(t, err)
	require.Len(t, page, 20)
	for _, call := range page {
		require.Equal(t, uuidOf(1), call.AgentID)
		require.Equal(t, tool.StatusFailed, call.Status)
	}
}

// uuidOf returns the nth id of a test.
func uuidOf(n int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012x", n) }

// Pages of calls that have not ended read those alone.
func TestPagesOfOpenCallsUseAnIndex(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	for _, sql := range []string{
		`create temp table calls as select n, n % 1000 = 0 as open,
			(substr(uuid_floor(now() - n * interval '10 ms')::text, 1, 24) || lpad(to_hex(n), 12, '0'))::uuid as id from generate_series(1, 20000) n`,
		`insert into effects (tenant_id, effect_id, phase, fence, attempt, invocation_id, version_digest, arguments_digest, status)
			select '` + string(f.Tenant) + `', 'e' || n, case when open then 'sent' else 'done' end, 1, 1, id, '', '',
				case when not open then 'completed' end from calls`,
		`insert into tool_invocations (id, tenant_id, call_id, effect_id, tool, mode, status)
			select id, '` + string(f.Tenant) + `', 'c', 'e' || n, 'x', 'production', case when open then 'running' else 'completed' end from calls`,
		"analyze effects", "analyze tool_invocations",
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	plan := explain(t, conn, db.ListOpenInvocations, f.Tenant, "running", nil, "", "", nil, nil, nil, nil, nil, 50)
	require.Regexp(t, `Index Only Scan using effects_open on effects`, plan)
	// Partitions without rows may be read in another way.
	require.Regexp(t, `Index Scan using \w+pkey on tool_invocations_\w+ \w+\n\s+Index Cond: .*id = e.invocation_id`, plan)
	require.NotRegexp(t, `-> +Sort`, plan)
	page, err := f.Store.ListInvocations(t.Context(), f.Tenant, store.InvocationQuery{Status: tool.StatusRunning})
	require.NoError(t, err)
	require.Len(t, page, 20)
	require.Greater(t, page[0].InvocationID, page[19].InvocationID, "newest first")
}

// What a turn changes is in no index, so that rows are updated in place.
func TestATurnUpdatesRowsInPlace(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	e := f.Lone(t)
	f.Admit(t, e, true, true)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	for table, sql := range map[string]string{
		"tool_invocations_%": `update tool_invocations set status = 'completed', output = '{}', is_error = true, error_kind = '', error = '',
			completed_at = now() where tenant_id = $1 and id = $2`,
		"runs": "update runs set last_seq = last_seq + 1, turns = turns + 1, head_message_id = $2 where tenant_id = $1",
	} {
		_, err := tx.Exec(t.Context(), sql, f.Tenant, e.InvocationID)
		require.NoError(t, err)
		var updated, inPlace int
		require.NoError(t, tx.QueryRow(t.Context(), `select sum(n_tup_upd), sum(n_tup_hot_upd) from pg_stat_xact_user_tables
			where relname like $1`, table).Scan(&updated, &inPlace))
		require.NotZero(t, updated)
		require.Equal(t, updated, inPlace, table)
	}
}

// since and until keep partitions of other months from being read.
func TestTimesPrunePartitions(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	_, err := d.Platform.EnsurePartitions(t.Context(), 3)
	require.NoError(t, err)
	conn := d.Conn(t)
	now := time.Now().UTC()
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	name := func(months int) string { return "tool_invocations_" + first.AddDate(0, months, 0).Format("2006_01") }
	plan := explain(t, conn, db.ListInvocations, f.Tenant, nil, "", "", "", "", nil, nil, nil, first.AddDate(0, 1, 0),
		first.AddDate(0, 2, 0), 50)
	require.Contains(t, plan, name(1))
	require.NotContains(t, plan, name(0))
	require.NotContains(t, plan, name(2))

	e := f.Lone(t)
	f.Admit(t, e, true, true)
	for query, want := range map[*store.InvocationQuery]int{
		{Since: now.Add(-time.Hour)}:                         1,
		{Since: now.Add(time.Hour)}:                          0,
		{Until: now.Add(time.Hour)}:                          1,
		{Until: now.Add(-time.Hour)}:                         0,
		{Until: time.Date(1, 1, 1, 1, 0, 0, 0, time.UTC)}:    0,
		{Since: time.Date(1, 1, 1, 1, 0, 0, 0, time.UTC)}:    1,
		{Since: time.Date(9999, 1, 1, 1, 0, 0, 0, time.UTC)}: 0,
	} {
		page, err := f.Store.ListInvocations(t.Context(), f.Tenant, *query)
		require.NoError(t, err)
		require.Len(t, page, want, "%+v", *query)
	}
}

// A partition is attached without searching a default partition that holds
// rows: PostgreSQL says that a constraint spares it the search.
func TestPartitionIsAttachedWithoutASearch(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	_, err := d.Conn(t).Exec(t.Context(), `
		insert into tool_invocations (id, tenant_id, call_id, tool, mode, status) values ($1, $2, 'c', 'x', 'production', 'completed')`,
		idAt(t, time.Now().AddDate(-1, 0, 0)), f.Tenant)
	require.NoError(t, err)

	config, err := pgx.ParseConfig(d.URL)
	require.NoError(t, err)
	var notices []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Message) }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	for range 2 {
		_, err = conn.Exec(t.Context(), "set client_min_messages = debug1")
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "select ensure_invocation_partitions(4)")
		require.NoError(t, err)
		var fence *string
		require.NoError(t, conn.QueryRow(t.Context(), "select fence_default_partition(4)").Scan(&fence))
		if fence != nil {
			_, err = conn.Exec(t.Context(), "select validate_default_fence($1)", *fence)
			require.NoError(t, err)
		}
	}
	require.Contains(
		t, strings.Join(notices, "\n"),
		`updated partition constraint for default partition "tool_invocations_default" is implied by existing constraints`,
	)
	require.Empty(t, texts(t, conn, "select conname::text from pg_constraint where conname like 'outside%'"))
	made, err := f.Store.EnsurePartitions(t.Context(), 6)
	require.NoError(t, err)
	require.Equal(t, 2, made)

	// Rows of a time to come stay in the default partition, and are reported.
	_, err = conn.Exec(t.Context(), `
		insert into tool_invocations (id, tenant_id, call_id, tool, mode, status) values ($1, $2, 'c', 'x', 'production', 'completed')`,
		idAt(t, time.Now().UTC().AddDate(0, 7, 15-time.Now().UTC().Day())), f.Tenant)
	require.NoError(t, err)
	_, err = f.Store.EnsurePartitions(t.Context(), 7)
	require.ErrorContains(t, err, "value is not acceptable")
	require.Empty(t, texts(t, conn, "select conname::text from pg_constraint where conname like 'outside%'"),
		"later calls of that time are taken")
}
