package store_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Runs that ended long ago go with all that belongs to them, the effects of
// their calls too; what is newer, under way or above a run that is kept stays.
func TestPurgeRuns(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{SealInterval: -1})
	f := storetest.NewFixture(t, d)
	other := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	exec := func(sql string, args ...any) {
		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	ended := func(f *storetest.Fixture, age time.Duration, status string) string {
		return endedRun(t, conn, f, age, status, false)
	}
	day := 24 * time.Hour
	old := ended(f, 100*day, string(agent.RunCompleted))
	theirs := ended(other, 100*day, string(agent.RunFailed))
	kept := []string{
		f.Run.ID, other.Run.ID, ended(f, 10*day, string(agent.RunCompleted)), ended(f, 100*day, string(agent.RunRunning)),
	}
	parent, child := ended(f, 100*day, string(agent.RunCompleted)), ended(f, 99*day, string(agent.RunRunning))
	exec("update runs set parent_run_id = $2, parent_invocation_id = gen_random_uuid(), depth = 1 where id = $1", child,
		parent)
	kept = append(kept, parent, child)
	for _, x := range []*storetest.Fixture{f, other} {
		require.NoError(t, d.Store.SealEvents(t.Context(), x.Tenant))
	}

	_, err := d.Platform.PurgeRuns(t.Context(), time.Now().Add(-time.Hour))
	storetest.RequireKind(t, tool.Invalid, err)
	purged, err := d.Platform.PurgeRuns(t.Context(), time.Now().Add(-90*day))
	require.NoError(t, err)
	require.Equal(t, 2, purged)
	require.ElementsMatch(t, kept, texts(t, conn, "select id::text from runs"))
	for _, table := range []string{"messages", "run_events", "event_seals", "tool_invocations", "approvals"} {
		require.Empty(t, texts(t, conn, "select run_id::text from "+table+" where run_id = any ($1)", []string{old, theirs}),
			table)
		require.NotEmpty(t, texts(t, conn, "select run_id::text from "+table+" where run_id = any ($1)", kept), table)
	}
	require.Equal(t, []string{"0"}, texts(t, conn, `select count(*)::text from effects e
		where not exists (select from tool_invocations i where i.tenant_id = e.tenant_id and i.effect_id = e.effect_id)`))
	require.Equal(t, []string{"4"}, texts(t, conn, "select count(*)::text from approval_decisions"))

	exec("update runs set status = 'cancelled' where id = $1", child)
	purged, err = d.Platform.PurgeRuns(t.Context(), time.Now().Add(-90*day))
	require.NoError(t, err)
	require.Equal(t, 2, purged, "the run below first, then the one above")
	_, err = conn.Exec(t.Context(), "set role "+store.AppRole)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "select purge_runs(now(), 1)")
	require.ErrorContains(t, err, "permission denied")
}

// endedRun makes a run with one call that ended so long ago, and returns its id. The call may be one
// that changed something outside.
func endedRun(
	t *testing.T, conn *pgx.Conn, f *storetest.Fixture, age time.Duration, status string, write bool,
) string {
	t.Helper()
	exec := func(sql string, args ...any) {
		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	run := f.NewRun(t)
	turn := f.NewTurn(t, run, 1)
	e := f.EntryOf(run, turn, "effect-"+run.ID)
	_, err := f.Store.Decide(t.Context(), f.Verdict(f.Ask(t, f.Request(t, e)), "user:bob", true))
	require.NoError(t, err)
	ticket := f.Admit(t, e, true, true)
	_, err = f.Store.Settle(t.Context(), storetest.Completed(e, ticket.Fence))
	require.NoError(t, err)
	at := time.Now().Add(-age)
	id := idAt(t, at)
	exec("set session_replication_role = replica") // Moves the run into the past, with what refers to it.
	exec("update runs set id = $2, status = $3, completed_at = $4, created_at = $4 where id = $1", run.ID, id, status, at)
	for _, table := range []string{"messages", "run_events", "run_output", "tool_invocations", "approvals"} {
		exec("update "+table+" set run_id = $2 where run_id = $1", run.ID, id)
	}
	exec("update run_events set at = $2 where run_id = $1", id, at)
	class := tool.EgressNone
	if write {
		class = tool.EgressWrite
	}
	exec("update tool_invocations set egress_class = $2 where run_id = $1", id, string(class))
	exec(`update effects e set created_at = $2 from tool_invocations i
		where i.run_id = $1 and i.effect_id = e.effect_id`, id, at)
	exec("set session_replication_role = origin")
	return id
}
