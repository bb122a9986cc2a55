package store_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// BenchmarkPureCall is what the ledger adds to a pure call: two round trips.
func BenchmarkPureCall(b *testing.B) {
	f := storetest.NewFixture(b, storetest.NewDatabase(b, store.Options{MaxConns: 16}))
	call := func() {
		e := f.Lone(b)
		ticket, err := f.Store.Admit(b.Context(), ledger.AdmitRequest{Entry: e, Repeatable: true, Send: true})
		require.NoError(b, err)
		_, err = f.Store.Settle(b.Context(), ledger.Settlement{
			Entry: e, Fence: ticket.Fence, Status: tool.StatusCompleted, Result: tool.JSONResult(json.RawMessage(`{"ok":true}`)),
		})
		require.NoError(b, err)
	}
	b.Run("OneAtATime", func(b *testing.B) {
		for b.Loop() {
			call()
		}
	})
	b.Run("Parallel", func(b *testing.B) {
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				call()
			}
		})
	})
}

// BenchmarkResolve is a look-up that misses every cache.
func BenchmarkResolve(b *testing.B) {
	f := storetest.NewFixture(b, storetest.NewDatabase(b))
	for b.Loop() {
		_, err := f.Store.Entries(b.Context(), f.Tenant, tool.Ref{Slug: f.Tool.Slug})
		require.NoError(b, err)
	}
}

// BenchmarkOpenTurn reads what a run's four-hundredth turn starts from: by a
// worker that made the turn before, and by one that never saw the run.
func BenchmarkOpenTurn(b *testing.B) {
	d := storetest.NewDatabase(b)
	f := storetest.NewFixture(b, d)
	turn, previous := f.Turn, ""
	for i := range 400 {
		f.Answer(b, turn)
		previous = turn.Message.ID
		turn = f.NewTurnFrom(b, f.Run, previous, uuid.NewString(), i+2)
	}
	f.Answer(b, turn)
	open := func(b *testing.B, s *store.Store, head string) {
		b.Helper()
		_, err := s.OpenTurn(b.Context(), f.Tenant, f.Run.ID, head, "new")
		require.NoError(b, err)
	}
	b.Run("Following", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			open(b, f.Store, previous)
			b.StartTimer()
			open(b, f.Store, turn.Message.ID)
		}
	})
	b.Run("New", func(b *testing.B) {
		for b.Loop() {
			open(b, f.Store, turn.Message.ID) // As a retried turn does, which reads everything.
		}
	})
}

// BenchmarkTurn is a turn of one pure call in place: two round trips.
func BenchmarkTurn(b *testing.B) {
	f := storetest.NewFixture(b, storetest.NewDatabase(b, store.Options{MaxConns: 1, SealInterval: time.Hour}))
	run := f.NewRun(b)
	conn := f.Conn(b)
	before := backends(b, conn)
	head, number := run.HeadMessageID, 0
	_, err := f.Store.OpenTurn(b.Context(), f.Tenant, run.ID, head, "1")
	require.NoError(b, err)
	for b.Loop() {
		number++
		if number%10 == 0 {
			b.StopTimer()
			run = f.NewRun(b)
			head = run.HeadMessageID
			_, err := f.Store.OpenTurn(b.Context(), f.Tenant, run.ID, head, "1")
			require.NoError(b, err)
			b.StartTimer()
		}
		turn := f.TurnOf(b, head, number)
		turn.RunID = run.ID
		head = turn.Message.ID
		e := f.EntryOf(run, turn, "effect-"+turn.Calls[0].InvocationID)
		e.Arguments, e.ArgumentsStored, e.Hidden = turn.Calls[0].Arguments, false, true
		done, err := f.Store.Record(b.Context(), loop.Record{
			Tenant: f.Tenant, RunID: run.ID, Turn: &turn,
			Begin: []ledger.AdmitRequest{{Entry: e, Repeatable: true, Send: true}},
		})
		require.NoError(b, err)
		require.NotNil(b, done.Tickets[0])
		done, err = f.Store.Record(b.Context(), loop.Record{
			Tenant: f.Tenant, RunID: run.ID, Ended: []ledger.Settlement{storetest.Completed(e, 1)},
			Ask: &loop.Question{Head: head, Key: uuid.NewString()},
		})
		require.NoError(b, err)
		require.NotNil(b, done.Open)
	}
	b.ReportMetric(float64((backends(b, conn)-before).Microseconds())/float64(b.N), "postgres-µs/op")
}

// BenchmarkSealEvents numbers what forty runs wrote meanwhile: twelve events each.
func BenchmarkSealEvents(b *testing.B) {
	f := storetest.NewFixture(b, storetest.NewDatabase(b, store.Options{MaxConns: 1, SealInterval: -1}))
	conn := f.Conn(b)
	const events = 40 * 12
	before := backends(b, conn)
	for b.Loop() {
		b.StopTimer()
		_, err := conn.Exec(b.Context(), `
			with fresh as (
				insert into runs (id, tenant_id, kind, mode, status, workflow_id)
				select gen_random_uuid(), $1, 'agent', 'production', 'running', 'w' from generate_series(1, 40)
				returning id
			)
			insert into run_events (tenant_id, run_id, seq, type, data)
			select $1, r.id, n, 'test.written', '{"a":1}' from generate_series(1, 12) n, fresh r`, f.Tenant)
		require.NoError(b, err)
		b.StartTimer()
		require.NoError(b, f.Store.SealEvents(b.Context(), f.Tenant))
	}
	b.ReportMetric(float64((backends(b, conn)-before).Microseconds())/float64(b.N*events), "postgres-µs/event")
}

// backends returns the processor time that PostgreSQL spent on the other connections to
// the database so far; zero where it cannot be read.
func backends(b *testing.B, conn *pgx.Conn) time.Duration {
	b.Helper()
	rows, err := conn.Query(b.Context(),
		"select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
	require.NoError(b, err)
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	require.NoError(b, err)
	const tick = 10 * time.Millisecond
	var spent time.Duration
	for _, pid := range pids {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0
		}
		_, after, _ := strings.Cut(string(raw), ") ")
		fields := strings.Fields(after)
		for _, field := range fields[11:13] { // utime and stime.
			ticks, err := strconv.Atoi(field)
			require.NoError(b, err)
			spent += time.Duration(ticks) * tick
		}
	}
	return spent
}
