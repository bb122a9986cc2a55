package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// A tenant whose canaries cannot be judged stops those of no other.
func TestCanariesAreJudgedPastAFailingTenant(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	failing, other := storetest.NewFixture(t, d), storetest.NewFixture(t, d)
	conn := d.Conn(t)
	for i, f := range []*storetest.Fixture{failing, other} {
		f.Canary(t, "2.0.0")
		_, err := conn.Exec(t.Context(), `update tool_canaries set judged_at = now() - make_interval(mins => $2)
			where tenant_id = $1`, string(f.Tenant), 10-i)
		require.NoError(t, err)
	}
	require.Equal(t, []string{string(failing.Tenant), string(other.Tenant)},
		texts(t, conn, "select json_array_elements_text(canary_tenants(10))"), "those that waited longest are first")
	for _, sql := range []string{
		`create function refuse_judgement() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
		`create trigger refused before update on tool_canaries for each row
			when (old.tenant_id = ` + quote(string(failing.Tenant)) + `) execute function refuse_judgement()`,
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	judged, err := d.Store.JudgeCanaries(t.Context(), 0)
	require.ErrorContains(t, err, string(failing.Tenant))
	require.Equal(t, 1, judged)
	for _, f := range []*storetest.Fixture{failing, other} {
		listed, err := f.Store.ListCanaries(t.Context(), f.Tenant, f.Tool.ID, "", 1)
		require.NoError(t, err)
		require.Equal(t, registry.CanaryRunning, listed[0].State)
	}
}

// However many calls the other versions serve, those of the canary are counted.
func TestBusyToolsHideNoCanary(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	f.Canary(t, "2.0.0")
	conn := d.Conn(t)
	for _, sql := range []string{
		"set session_replication_role = replica",
		`insert into tool_invocations (tenant_id, id, call_id, tool_id, tool_scope_id, tool, version, mode, status)
			select c.tenant_id, uuid_floor(c.started_at + n * interval '1 ms'), 'c', c.tool_id, c.tenant_id, 'x',
				case when n > 20001 then '2.0.0' else '1.0.0' end, 'production', 'completed'
			from tool_canaries c, generate_series(1, 20011) n`,
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	_, err := d.Store.JudgeCanariesOf(t.Context(), f.Tenant, 0)
	require.NoError(t, err)
	listed, err := f.Store.ListCanaries(t.Context(), f.Tenant, f.Tool.ID, "", 1)
	require.NoError(t, err)
	require.Equal(t, registry.CanaryPassed, listed[0].State)
	require.Equal(t, registry.CanaryOutcome{Calls: 4, StableCalls: 10000}, listed[0].Outcome, "until 4 calls")
}

// Counting the calls of a canary reads no rows of the many calls of other versions.
func TestCanariesAreCountedByAnIndex(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	f.Canary(t, "2.0.0")
	conn := d.Conn(t)
	var toolID, since string
	for _, sql := range []string{
		"set session_replication_role = replica",
		`insert into tool_invocations (tenant_id, id, call_id, tool_id, tool_scope_id, tool, version, mode, status)
			select c.tenant_id, uuid_floor(c.started_at + n * interval '1 ms'), 'c', c.tool_id, c.tenant_id, 'x',
				case when n % 100 = 0 then '2.0.0' else '1.0.0' end, 'production', 'completed'
			from tool_canaries c, generate_series(1, 20000) n`,
		"analyze tool_invocations",
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	require.NoError(t, conn.QueryRow(t.Context(), "select tool_id::text, started_at::text from tool_canaries").
		Scan(&toolID, &since))
	plan := explain(t, conn, db.CountOutcomes, f.Tenant, toolID, since, "2.0.0", 100)
	require.Regexp(t, `Index Scan Backward using \w+version\w* on tool_invocations_\w+ \w+\n\s+Index Cond: .*version = '2.0.0'`, plan)
	require.NotRegexp(t, `-> +Sort`, plan)
}
