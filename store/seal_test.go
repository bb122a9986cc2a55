package store_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// sealFixture is a fixture without background numbering, and a pool as
// superuser for transactions that a test holds open.
func sealFixture(t *testing.T) (*storetest.Fixture, *pgxpool.Pool) {
	t.Helper()
	f := storetest.NewFixture(t, storetest.NewDatabase(t, store.Options{SealInterval: -1, MaxConns: 10}))
	config, err := pgxpool.ParseConfig(f.URL)
	require.NoError(t, err)
	config.MaxConns = 10 // As many transactions as a test holds open.
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return f, pool
}

// appendEvent adds an event to a run as the queries do, in a transaction that
// the caller ends.
func appendEvent(t *testing.T, tx pgx.Tx, tenant tool.TenantID, run string) (seq int64) {
	t.Helper()
	err := tx.QueryRow(t.Context(), `
		with bumped as (
			update runs set last_seq = last_seq + 1 where tenant_id = $1 and id = $2 returning last_seq
		)
		insert into run_events (tenant_id, run_id, seq, type) select $1, $2, b.last_seq, 'test.written' from bumped b
		returning seq`, tenant, run).Scan(&seq)
	require.NoError(t, err)
	return seq
}

func begin(t *testing.T, pool *pgxpool.Pool) pgx.Tx {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(t.Context()) })
	return tx
}

// follower reads a tenant's stream and holds it to its promises.
type follower struct {
	cursor store.EventCursor
	seen   map[string][]int64 // Numbers of events by run.
}

// read takes everything there is, a few events at a time.
func (r *follower) read(t *testing.T, s *store.Store, tenant tool.TenantID) {
	t.Helper()
	if r.seen == nil {
		r.seen = map[string][]int64{}
	}
	for {
		page, err := s.TenantEvents(t.Context(), tenant, r.cursor, 3)
		require.NoError(t, err)
		if len(page) == 0 {
			return
		}
		for _, e := range page {
			require.Greater(t, e.Cursor, r.cursor)
			if before := r.seen[e.RunID]; len(before) > 0 {
				require.Greater(t, e.Seq, before[len(before)-1], "events of a run come in its order")
			}
			r.cursor, r.seen[e.RunID] = e.Cursor, append(r.seen[e.RunID], e.Seq)
		}
	}
}

// Transactions begin, write and end in any order, some are rolled back, and
// followers read in between: each event that committed comes once to each.
func TestStreamSkipsNothingInAnyOrderOfCommits(t *testing.T) {
	t.Parallel()

	for _, seed := range []uint64{1, 2, 3, 4, 5} {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()

			f, pool := sealFixture(t)
			random := rand.New(rand.NewPCG(seed, 0))
			tenant := f.Tenant
			runs := make([]string, 6)
			want := map[string][]int64{}
			for i := range runs {
				runs[i] = f.NewRun(t).ID
			}
			horizon, err := f.Store.EventHorizon(t.Context(), tenant)
			require.NoError(t, err)
			followers := []*follower{{cursor: horizon}, {cursor: horizon}, {cursor: horizon}}
			open := map[string]pgx.Tx{}
			written := map[string][]int64{}
			for range 400 {
				run := runs[random.IntN(len(runs))]
				tx, busy := open[run]
				switch action := random.IntN(10); {
				case action < 2:
					followers[random.IntN(len(followers))].read(t, f.Store, tenant)
				case !busy:
					open[run] = begin(t, pool)
					written[run] = append(written[run], appendEvent(t, open[run], tenant, run))
				case action < 6:
					written[run] = append(written[run], appendEvent(t, tx, tenant, run))
				case action < 9:
					require.NoError(t, tx.Commit(t.Context()))
					want[run] = append(want[run], written[run]...)
					delete(open, run)
					delete(written, run)
				default:
					require.NoError(t, tx.Rollback(t.Context()))
					delete(open, run)
					delete(written, run)
				}
			}
			for run, tx := range open {
				require.NoError(t, tx.Commit(t.Context()))
				want[run] = append(want[run], written[run]...)
			}
			for i, r := range followers {
				r.read(t, f.Store, tenant)
				require.Equal(t, want, r.seen, "follower %d", i)
			}
			require.Zero(t, unsettled(t, pool, tenant), "what is numbered is not looked at again")
		})
	}
}

// unsettled counts the events that the next numbering would look at.
func unsettled(t *testing.T, pool *pgxpool.Pool, tenant tool.TenantID) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `
		select count(*) from run_events e join tenant_event_heads h on h.tenant_id = e.tenant_id
		where e.tenant_id = $1 and e.id > h.settled_id`, tenant).Scan(&n))
	return n
}

// Transactions that wrote no events of the tenant delay nothing, however long
// they last: in another database of the server, in this one, of another tenant.
func TestLongTransactionsElsewhereDelayNothing(t *testing.T) {
	t.Parallel()

	f, pool := sealFixture(t)
	other := storetest.NewFixture(t, f.Database)
	elsewhere := storetest.Connect(t, storetest.NewEmpty(t))
	for _, sql := range []string{"begin isolation level repeatable read", "create table held (id int)"} {
		_, err := elsewhere.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	reader := begin(t, pool)
	_, err := reader.Exec(t.Context(), "set transaction isolation level repeatable read")
	require.NoError(t, err)
	_, err = reader.Exec(t.Context(), "select count(*), pg_current_xact_id() from run_events")
	require.NoError(t, err)
	writer := begin(t, pool)
	late := appendEvent(t, writer, other.Tenant, other.Run.ID)

	var mine follower
	mine.read(t, f.Store, f.Tenant)
	require.Equal(t, map[string][]int64{f.Run.ID: {1, 2}}, mine.seen)
	tx := begin(t, pool)
	seq := appendEvent(t, tx, f.Tenant, f.Run.ID)
	require.NoError(t, tx.Commit(t.Context()))
	mine.read(t, f.Store, f.Tenant)
	require.Equal(t, []int64{1, 2, seq}, mine.seen[f.Run.ID])

	var theirs follower
	theirs.read(t, f.Store, other.Tenant)
	require.Equal(t, map[string][]int64{other.Run.ID: {1, 2}}, theirs.seen)
	require.NoError(t, writer.Commit(t.Context()))
	theirs.read(t, f.Store, other.Tenant)
	require.Equal(t, []int64{1, 2, late}, theirs.seen[other.Run.ID],
		"the event of the long transaction is not passed over")
}

// Any number of readers number the same events while they are written: all see
// the same stream, without gaps.
func TestManyReadersSealAtOnce(t *testing.T) {
	t.Parallel()

	f, pool := sealFixture(t)
	const writers, each, readers = 4, 40, 6
	var writing, reading sync.WaitGroup
	done := make(chan struct{})
	for range writers {
		run := f.NewRun(t).ID
		writing.Go(func() {
			for i := range each {
				tx, err := pool.Begin(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				appendEvent(t, tx, f.Tenant, run)
				if i%5 == 4 {
					err = tx.Rollback(t.Context())
				} else {
					err = tx.Commit(t.Context())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	streams := make([][]store.TenantEvent, readers)
	for i := range streams {
		reading.Go(func() {
			var cursor store.EventCursor
			for over := false; ; {
				page, err := f.Store.TenantEvents(t.Context(), f.Tenant, cursor, 50)
				if err != nil {
					t.Error(err)
					return
				}
				if len(page) > 0 {
					streams[i], cursor = append(streams[i], page...), page[len(page)-1].Cursor
					continue
				}
				if over {
					return
				}
				select {
				case <-done:
					over = true // What was written last may have come after this page.
				default:
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	require.Len(t, streams[0], 2+writers*(1+each*4/5))
	for i, e := range streams[0] {
		require.Equal(t, store.EventCursor(i+1), e.Cursor, "numbers have no gaps")
	}
	for _, stream := range streams[1:] {
		require.Equal(t, streams[0], stream)
	}
}

// A store numbers what it wrote, though no one reads the stream; what is left
// when it closes as well.
func TestStoreSealsInTheBackground(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{SealInterval: 5 * time.Millisecond})
	f := storetest.NewFixture(t, d)
	conn := d.Conn(t)
	sealed := func() (n int) {
		require.NoError(
			t, conn.QueryRow(t.Context(), "select count(*) from event_seals where tenant_id = $1", f.Tenant).Scan(&n),
		)
		return n
	}
	require.Eventually(t, func() bool { return sealed() == 2 }, 30*time.Second, 5*time.Millisecond)

	slow, err := store.Open(t.Context(), d.URL, store.Options{SetRole: store.AppRole, SealInterval: time.Hour})
	require.NoError(t, err)
	_, err = slow.Admit(t.Context(), ledger.AdmitRequest{Entry: f.Entry(t)})
	require.NoError(t, err)
	slow.Close()
	require.Equal(t, 3, sealed())
}

// A backlog is numbered in batches, and none of it twice.
func TestSealEventsInBatches(t *testing.T) {
	t.Parallel()

	f, pool := sealFixture(t)
	_, err := pool.Exec(t.Context(), `
		insert into run_events (tenant_id, run_id, seq, type) select $1, $2, n, 'test.written' from generate_series(3, 2700) n`,
		f.Tenant, f.Run.ID)
	require.NoError(t, err)
	horizon, err := f.Store.EventHorizon(t.Context(), f.Tenant)
	require.NoError(t, err)
	require.Equal(t, store.EventCursor(2700), horizon)
	require.NoError(t, f.Store.SealEvents(t.Context(), f.Tenant))
	var mine follower
	mine.read(t, f.Store, f.Tenant)
	require.Len(t, mine.seen[f.Run.ID], 2700)

	// The numbers go with the events.
	_, err = pool.Exec(t.Context(), "delete from runs where tenant_id = $1", f.Tenant)
	require.NoError(t, err)
	var left int
	require.NoError(
		t, pool.QueryRow(t.Context(), "select count(*) from event_seals where tenant_id = $1", f.Tenant).Scan(&left),
	)
	require.Zero(t, left)
	again, err := f.Store.EventHorizon(t.Context(), f.Tenant)
	require.NoError(t, err)
	require.Equal(t, horizon, again, "numbers are not given again")
}

// What it costs to number events does not depend on how many a tenant has.
func TestSealEventsReadsNewEventsOnly(t *testing.T) {
	t.Parallel()

	f, pool := sealFixture(t)
	add := func(from, to int) {
		t.Helper()
		_, err := pool.Exec(t.Context(), `
			insert into run_events (tenant_id, run_id, seq, type) select $1, $2, n, 'test.written' from generate_series($3::int, $4) n`,
			f.Tenant, f.Run.ID, from, to)
		require.NoError(t, err)
	}
	add(3, 20000)
	require.NoError(t, f.Store.SealEvents(t.Context(), f.Tenant))
	conn := f.Conn(t) // One session, which reads the catalogs once.
	blocks := func() int {
		t.Helper()
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "select set_config('app.tenant_id', $1, true)", f.Tenant)
		require.NoError(t, err)
		var plan string
		err = tx.QueryRow(t.Context(), fmt.Sprintf(
			"explain (analyze, buffers, format json) select seal_events('%s', 1000)", f.Tenant)).Scan(&plan)
		require.NoError(t, err)
		require.NoError(t, tx.Commit(t.Context()))
		n, err := strconv.Atoi(regexp.MustCompile(`"Shared Hit Blocks": (\d+)`).FindStringSubmatch(plan)[1])
		require.NoError(t, err)
		return n
	}
	for seq := 20001; seq < 20004; seq++ {
		add(seq, seq)
		blocks()
	}
	add(20004, 20004)
	require.Less(t, blocks(), 100)
	require.Less(t, blocks(), 100)
	require.Zero(t, unsettled(t, pool, f.Tenant))
}

// A cursor that no event has reached is of another database.
func TestCursorBeyondTheStreamIsRefused(t *testing.T) {
	t.Parallel()

	f, _ := sealFixture(t)
	_, err := f.Store.TenantEvents(t.Context(), f.Tenant, 3, 10)
	storetest.RequireKind(t, tool.Conflict, err)
	var e *tool.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, e.Msg, "ends at 2")
	page, err := f.Store.TenantEvents(t.Context(), f.Tenant, 2, 10)
	require.NoError(t, err)
	require.Empty(t, page)
	require.Equal(t, agent.EventTurn, f.EventTypes(t, f.Run.ID)[1])
}
