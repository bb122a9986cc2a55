package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

const day = 24 * time.Hour

var noPause = store.RetentionSweep{Pause: -1, Batch: 2}

// removed returns how many rows of each class a sweep deleted.
func removed(t *testing.T, swept []store.Swept) map[store.RetentionClass]int {
	t.Helper()
	out := map[store.RetentionClass]int{}
	for _, s := range swept {
		require.False(t, s.Busy, s.Class)
		if s.Removed > 0 {
			out[s.Class] = s.Removed
		}
	}
	return out
}

func setRule(t *testing.T, p *store.Platform, tenant tool.TenantID, class store.RetentionClass, days int) {
	t.Helper()
	require.NoError(t, p.SetRetentionRule(t.Context(), store.RetentionRule{Tenant: tenant, Class: class, KeepDays: days}))
}

// Runs go by the rule of their tenant, or else by that of all; what changed something outside is
// remembered for longer than its run, and then forgotten.
func TestRunsAndEffectsGoByTheirRules(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{SealInterval: -1})
	f, other := storetest.NewFixture(t, d), storetest.NewFixture(t, d)
	conn := d.Conn(t)
	read := endedRun(t, conn, f, 100*day, string(agent.RunCompleted), false)
	write := endedRun(t, conn, f, 100*day, string(agent.RunCompleted), true)
	third := endedRun(t, conn, f, 95*day, string(agent.RunFailed), false)
	open := endedRun(t, conn, f, 100*day, string(agent.RunRunning), false)
	kept := endedRun(t, conn, other, 100*day, string(agent.RunCompleted), true)
	recent := endedRun(t, conn, other, 10*day, string(agent.RunCompleted), false)
	setRule(t, d.Platform, other.Tenant, store.RetainRuns, 0)

	state, err := d.Platform.RetentionState(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, store.RetainRuns, state[0].Class)
	require.Equal(t, 3, state[0].Due)
	require.WithinDuration(t, time.Now().Add(-100*day), *state[0].Oldest, time.Hour)
	state, err = d.Platform.RetentionState(t.Context(), other.Tenant)
	require.NoError(t, err)
	require.Zero(t, state[0].Due, "the tenant's own rule")

	swept, err := d.Store.SweepRetention(t.Context(), noPause)
	require.NoError(t, err)
	require.Equal(t, map[store.RetentionClass]int{store.RetainRuns: 3}, removed(t, swept))
	require.ElementsMatch(t, []string{f.Run.ID, other.Run.ID, open, kept, recent},
		texts(t, conn, "select id::text from runs"))
	require.Empty(t, texts(t, conn, "select id::text from tool_invocations where run_id = any ($1)",
		[]string{read, write, third}))
	require.Len(t, texts(t, conn, "select effect_id from effects where run_gone_at is not null"), 1,
		"the call that wrote is remembered")

	setRule(t, d.Platform, f.Tenant, store.RetainEffects, 200)
	swept, err = d.Store.SweepRetention(t.Context(), noPause)
	require.NoError(t, err)
	require.Empty(t, removed(t, swept), "not before its time")
	setRule(t, d.Platform, "", store.RetainEffects, 30)
	swept, err = d.Store.SweepRetention(t.Context(), noPause)
	require.NoError(t, err)
	require.Empty(t, removed(t, swept), "the tenant's own rule holds")
	require.NoError(t, d.Platform.DropRetentionRule(t.Context(), f.Tenant, store.RetainEffects))
	state, err = d.Platform.RetentionState(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, 1, state[1].Due)
	swept, err = d.Store.SweepRetention(t.Context(), noPause)
	require.NoError(t, err)
	require.Equal(t, map[store.RetentionClass]int{store.RetainEffects: 1}, removed(t, swept))
	setRule(t, d.Platform, other.Tenant, store.RetainRuns, 1)
	swept, err = d.Store.SweepRetention(t.Context(), noPause)
	require.NoError(t, err)
	require.Equal(t, map[store.RetentionClass]int{store.RetainRuns: 2, store.RetainEffects: 1}, removed(t, swept))
}

// A run of a host's workflow that waits has no end, however old its last event is.
func TestWhatWaitsIsKept(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{SealInterval: -1})
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	hosted := endedRun(t, conn, f, 100*day, "hosted", false)
	execute(t, conn, "update tool_invocations set status = 'waiting' where run_id = $1", hosted)
	swept, err := d.Store.SweepRetention(t.Context(), noPause)
	require.NoError(t, err)
	require.Empty(t, removed(t, swept))
	execute(t, conn, "update tool_invocations set status = 'completed' where run_id = $1", hosted)
	swept, err = d.Store.SweepRetention(t.Context(), noPause)
	require.NoError(t, err)
	require.Equal(t, map[store.RetentionClass]int{store.RetainRuns: 1}, removed(t, swept))
}

func execute(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// Each other class goes by its rule too, and what an open call or an active webhook needs stays.
func TestEveryClassGoesByItsRule(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{SealInterval: -1})
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	old := time.Now().Add(-50 * day)
	hook := f.Webhook(t, nil)
	for _, status := range []string{"delivered", "failed", "pending"} {
		execute(t, conn, `insert into webhook_deliveries (tenant_id, id, webhook_id, type, status, created_at, ended_at)
			values ($1, $2, $3, 'run.completed', $4, $5, case when $4 <> 'pending' then $5::timestamptz end)`,
			f.Tenant, idAt(t, old), hook.ID, status, old)
	}
	execute(t, conn, `insert into schedule_starts (tenant_id, id, schedule_id, scheduled_at, run_id, created_at)
		values ($1, $2, $3, $4, gen_random_uuid(), $4)`, f.Tenant, idAt(t, old), f.Schedule(t, "nightly", nil).ID, old)
	require.NoError(t, f.Store.SetNotes(t.Context(), f.Tenant, f.Agent.ID, []space.Note{
		{Kind: space.Memory, Key: "a", Text: "b"}, {Kind: space.Goal, Key: "a", Text: "b"},
	}))
	execute(t, conn, "update agent_notes set updated_at = $1", old)
	room := f.Space(t, "launch")
	f.Entered(t, room)
	f.Post(t, room, "hello")
	execute(t, conn, "update space_messages set id = $1, updated_at = $2, status = 'complete'", idAt(t, old), old)
	free, shown := f.File(t, nil), f.File(t, func(n *file.File) { n.Name = "shown.png" })
	freeID, shownID := idAt(t, old), idAt(t, old)
	for from, to := range map[string]string{free.ID: freeID, shown.ID: shownID} {
		execute(t, conn, "set session_replication_role = replica")
		execute(t, conn, `update files set id = $2, created_at = $3, expires_at = null, run_id = null, root_run_id = null
			where id = $1`,
			from, to, old)
		execute(t, conn, "set session_replication_role = origin")
	}
	call := f.Lone(t)
	f.Admit(t, call, true, true)
	execute(t, conn, `update tool_invocations set input = json_build_object('file', $1::text)
		where status = 'running'`, shownID)

	swept, err := d.Store.SweepRetention(t.Context(), noPause)
	require.NoError(t, err)
	require.Equal(t, map[store.RetentionClass]int{
		store.RetainDeliveries: 1, store.RetainDeadLetters: 1, store.RetainScheduleStarts: 1,
	}, removed(t, swept), "the others are kept for ever by default")
	for _, class := range []store.RetentionClass{store.RetainFiles, store.RetainNotes, store.RetainSpaceMessages} {
		setRule(t, d.Platform, "", class, 40)
	}
	state, err := d.Platform.RetentionState(t.Context(), "")
	require.NoError(t, err)
	swept, err = d.Store.SweepRetention(t.Context(), noPause)
	require.NoError(t, err)
	want := map[store.RetentionClass]int{store.RetainFiles: 1, store.RetainNotes: 1, store.RetainSpaceMessages: 1}
	require.Equal(t, want, removed(t, swept))
	for _, s := range state {
		require.Equal(t, want[s.Class], s.Due, "%s: what is announced is what is done", s.Class)
	}
	require.Equal(t, []string{shownID}, texts(t, conn, "select id::text from files"), "an open call shows it")
	require.Equal(t, []string{"goal"}, texts(t, conn, "select kind from agent_notes"), "a goal that is not reached")
	require.Equal(t, []string{"pending"}, texts(t, conn, "select status from webhook_deliveries"))
}

// A class is swept by one at a time; the others leave it alone and say so. Each sweep is counted.
func TestSweepsDoNotCollide(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{SealInterval: -1})
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	endedRun(t, conn, f, 100*day, string(agent.RunCompleted), false)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "select pg_advisory_xact_lock(hashtextextended('retention/runs', 0))")
	require.NoError(t, err)
	swept, err := d.Store.SweepRetention(t.Context(), noPause)
	require.NoError(t, err)
	require.Equal(t, store.Swept{Class: store.RetainRuns, Busy: true}, swept[0])
	require.NoError(t, tx.Rollback(t.Context()))

	done := make(chan int)
	for range 3 {
		go func() {
			total := 0
			all, _ := d.Store.SweepRetention(context.WithoutCancel(t.Context()), noPause)
			for _, s := range all {
				total += s.Removed
			}
			done <- total
		}()
	}
	require.Equal(t, 1, <-done+<-done+<-done, "each row is deleted once")
	require.NoError(t, d.Store.MeasureRetention(t.Context()))
	_, err = d.Store.SweepRequests(t.Context())
	require.NoError(t, err)
	_, err = d.Store.SweepRateBuckets(t.Context())
	require.NoError(t, err)
	_, err = d.Store.SweepFiles(t.Context(), 10)
	require.NoError(t, err)
	_, err = d.Store.TakeExpiredMCPSessions(t.Context(), 10)
	require.NoError(t, err)
	_, err = d.Store.DropEmptyPartitions(t.Context())
	require.NoError(t, err)
	for i, stat := range d.Store.SweepStats() {
		require.Equal(t, store.SweepNames()[i], stat.Name)
		require.WithinDuration(t, time.Now(), stat.Succeeded, time.Minute, stat.Name)
		require.Zero(t, stat.Failures, stat.Name)
		if stat.Name == string(store.RetainRuns) {
			require.EqualValues(t, 1, stat.Removed)
			require.False(t, stat.Oldest.IsZero())
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = d.Store.SweepRetention(cancelled, noPause)
	require.Error(t, err)
	for _, stat := range d.Store.SweepStats() {
		if stat.Name == string(store.RetainRuns) {
			require.EqualValues(t, 1, stat.Failures)
		}
	}
}

func TestRetentionRulesAreChecked(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	for kind, rules := range map[tool.Kind][]store.RetentionRule{
		tool.Invalid: {
			{Class: "calls", KeepDays: 1},
			{Class: store.RetainRuns, KeepDays: -1},
			{Class: store.RetainRuns, KeepDays: 40000},
			{Class: store.RetainEffects, KeepDays: 29},
		},
		tool.NotFound: {
			{Tenant: "acme", Class: store.RetainRuns}, {Tenant: "01a205c9-b73e-7ee4-818a-d8f5fa2c6ff6", Class: store.RetainRuns},
		},
	} {
		for _, rule := range rules {
			storetest.RequireKind(t, kind, d.Platform.SetRetentionRule(t.Context(), rule))
		}
	}
	storetest.RequireKind(t, tool.NotFound, d.Platform.DropRetentionRule(t.Context(), tenant, store.RetainRuns))
	setRule(t, d.Platform, tenant, store.RetainRuns, 7)
	rules, err := d.Platform.RetentionRules(t.Context())
	require.NoError(t, err)
	require.Len(t, rules, len(store.RetentionClasses())+1)
	last := rules[len(rules)-1]
	require.NotEmpty(t, last.TenantSlug)
	last.TenantSlug = ""
	require.Equal(t, store.RetentionRule{Tenant: tenant, Class: store.RetainRuns, KeepDays: 7}, last)
}

// A month's partition goes when it holds no row any more, and not before.
func TestEmptyPartitionsAreDropped(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{SealInterval: -1})
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	execute(t, conn, `create table tool_invocations_2020_01
		(like tool_invocations including defaults including constraints)`)
	execute(t, conn, `create table tool_invocations_2020_02
		(like tool_invocations including defaults including constraints)`)
	execute(t, conn, `do $$ begin
		execute format('alter table tool_invocations attach partition tool_invocations_2020_01 for values from (%L) to (%L)',
			uuid_floor('2020-01-01Z'), uuid_floor('2020-02-01Z'));
		execute format('alter table tool_invocations attach partition tool_invocations_2020_02 for values from (%L) to (%L)',
			uuid_floor('2020-02-01Z'), uuid_floor('2020-03-01Z')); end $$`)
	execute(t, conn, "alter table tool_invocations_2020_01 owner to "+store.OwnerRole)
	execute(t, conn, "alter table tool_invocations_2020_02 owner to "+store.OwnerRole)
	execute(t, conn, `insert into tool_invocations (id, tenant_id, call_id, tool, mode, status)
		values (uuid_floor('2020-02-02Z'), $1, 'c', 'x', 'debug', 'completed')`, f.Tenant)
	dropped, err := d.Store.DropEmptyPartitions(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, dropped)
	require.Equal(t, []string{"tool_invocations_2020_02"},
		texts(t, conn, "select relname::text from pg_class where relname ~ '^tool_invocations_2020_..$'"))
	execute(t, conn, "delete from tool_invocations where call_id = 'c'")
	execute(t, conn, "vacuum tool_invocations_2020_02")
	dropped, err = d.Store.DropEmptyPartitions(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, dropped)
}

// A database that lacks steps, or has steps of a newer binary, can be told by their numbers.
func TestSchemaGap(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	missing, unknown, err := d.Store.SchemaGap(t.Context())
	require.NoError(t, err)
	require.Zero(t, missing+unknown)
	conn := d.Conn(t)
	execute(t, conn, "delete from toolcrib_migrations where version = (select max(version) from toolcrib_migrations)")
	execute(t, conn, `insert into toolcrib_migrations (version, name, checksum)
		values (9001, 'later', 'x'), (9002, 'latest', 'x')`)
	missing, unknown, err = d.Store.SchemaGap(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, missing)
	require.Equal(t, 2, unknown)
}
