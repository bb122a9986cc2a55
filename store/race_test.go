package store_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

const racers = 32

// race runs do in many goroutines that start together.
func race(do func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range racers {
		wg.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	wg.Wait()
}

func raceFixture(t *testing.T) *storetest.Fixture {
	t.Helper()
	return storetest.NewFixture(t, storetest.NewDatabase(t, store.Options{MaxConns: 16}))
}

// However many attempts are admitted, each has a fence of its own, and one of
// them may send.
func TestRacingAdmissions(t *testing.T) {
	t.Parallel()

	f := raceFixture(t)
	for range 5 {
		e := f.Lone(t)
		fences := make([]int64, racers)
		var sent atomic.Int32
		race(func(i int) {
			ticket, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: e})
			if err != nil { // Another attempt has sent already.
				require.Equal(t, tool.Unknown, tool.KindOf(err), "%v", err)
				return
			}
			fences[i] = ticket.Fence
			err = f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence)
			if err == nil {
				sent.Add(1)
				return
			}
			require.Equal(t, tool.Conflict, tool.KindOf(err), "%v", err)
		})
		require.Equal(t, int32(1), sent.Load(), "exactly one sends")
		seen := map[int64]bool{}
		for _, fence := range fences {
			require.False(t, fence != 0 && seen[fence], "fences differ")
			seen[fence] = true
		}
	}
}

// Of all settlements one counts, and everyone learns the same outcome.
func TestRacingSettlements(t *testing.T) {
	t.Parallel()

	f := raceFixture(t)
	for name, prepare := range map[string]func(e *ledger.Entry) int64{
		"admitted":       func(e *ledger.Entry) int64 { return f.Admit(t, *e, true, true).Fence },
		"never admitted": func(*ledger.Entry) int64 { return 0 },
		"without effect": func(e *ledger.Entry) int64 { e.EffectID = ""; return 0 },
	} {
		turn := f.NewTurn(t, f.Run, 2)
		e := f.EntryOf(f.Run, turn, "effect-"+uuid.NewString())
		fence := prepare(&e)
		before := len(f.EventTypes(t, f.Run.ID))
		outcomes := make([]ledger.Outcome, racers)
		race(func(i int) {
			s := ledger.Settlement{Entry: e, Fence: fence, Status: tool.StatusFailed, Kind: tool.Timeout, Msg: strconv.Itoa(i)}
			outcome, err := f.Store.Settle(t.Context(), s)
			require.NoError(t, err, name)
			outcomes[i] = outcome
		})
		won := 0
		for _, outcome := range outcomes {
			if outcome.Won {
				won++
			}
			require.Equal(t, outcomes[0].Msg, outcome.Msg, name)
		}
		require.Equal(t, 1, won, name)
		require.Len(t, f.EventTypes(t, f.Run.ID), before+1, name)
		transcript, err := f.Store.Transcript(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Equal(t, turn.Message.ID, transcript[len(transcript)-1].ParentID)
		require.Equal(t, "timeout: "+outcomes[0].Msg, transcript[len(transcript)-1].Content[0].Text)
	}
}

// A turn is stored once, whoever of its attempts is first.
func TestRacingTurns(t *testing.T) {
	t.Parallel()

	f := raceFixture(t)
	key := uuid.NewString()
	turns := make([]agent.Turn, racers)
	race(func(i int) {
		turn, err := f.Store.SaveTurn(t.Context(), agent.Turn{
			Tenant:  f.Tenant,
			RunID:   f.Run.ID,
			Key:     key,
			Message: agent.Message{ParentID: f.Turn.Message.ID, Turn: 2, Content: []tool.Content{tool.Text(strconv.Itoa(i))}},
			Calls: []agent.PreparedCall{
				{
					CallIdentity: tool.CallIdentity{CallID: "c"},
					Name:         "x",
					Refused:      &agent.Refusal{Kind: tool.NotFound, Msg: "no"},
				},
			},
		})
		require.NoError(t, err)
		turns[i] = turn
	})
	for _, turn := range turns {
		require.Equal(t, turns[0], turn)
	}
	require.Equal(t, []tool.EventType{agent.EventRunStarted, agent.EventTurn, agent.EventTurn, tool.EventFailed},
		f.EventTypes(t, f.Run.ID))
}

func TestRacingHostRuns(t *testing.T) {
	t.Parallel()

	f := raceFixture(t)
	ids := make([]string, racers)
	race(func(i int) {
		run, err := f.Store.BeginRun(t.Context(), agent.Run{
			Tenant: f.Tenant, Kind: agent.RunKindHost, WorkflowID: "host", FirstRunID: "first",
		})
		require.NoError(t, err)
		ids[i] = run.ID
	})
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
}

// Whoever begins a run, and with whatever plan: all are told of the same one.
func TestRacingPlans(t *testing.T) {
	t.Parallel()

	f := raceFixture(t)
	for _, kind := range []agent.RunKind{agent.RunKindAgent, agent.RunKindToolCall} {
		run, err := f.Store.CreateRun(
			t.Context(), agent.Run{Tenant: f.Tenant, Kind: kind, WorkflowID: "t/" + uuid.NewString()}, agent.Message{},
		)
		require.NoError(t, err)
		run.FirstRunID = "first"
		begun := make([]agent.Run, racers)
		race(func(i int) {
			run := run
			run.Plan = &agent.Plan{Agent: strconv.Itoa(i)}
			got, err := f.Store.BeginRun(t.Context(), run)
			require.NoError(t, err)
			begun[i] = got
		})
		for _, b := range begun {
			require.Equal(t, agent.RunRunning, b.Status, kind)
			require.NotNil(t, b.Plan, kind)
			require.Equal(t, begun[0].Plan, b.Plan, kind)
		}
	}
}

// A call that waited for another to write the run sees what that one wrote.
func TestBeginRunSeesThePlanItWaitedFor(t *testing.T) {
	t.Parallel()

	f := raceFixture(t)
	for name, plan := range map[string]*agent.Plan{"with a plan": {Agent: "late"}, "without": nil} {
		for _, begun := range []bool{false, true} {
			if begun && plan == nil {
				continue // It waits for nobody.
			}
			run, err := f.Store.CreateRun(
				t.Context(),
				agent.Run{Tenant: f.Tenant, Kind: agent.RunKindAgent, WorkflowID: "t/wait"},
				agent.Message{},
			)
			require.NoError(t, err)
			if begun {
				_, err = f.Store.BeginRun(t.Context(), run)
				require.NoError(t, err)
			}
			conn := f.Conn(t)
			tx, err := conn.Begin(t.Context())
			require.NoError(t, err)
			_, err = tx.Exec(
				t.Context(),
				`update runs set status = 'running', plan = '{"agent":"first"}' where id = $1`,
				run.ID,
			)
			require.NoError(t, err)
			seen := make(chan agent.Run)
			go func() {
				defer close(seen)
				run.Plan = plan
				if got, err := f.Store.BeginRun(t.Context(), run); err == nil {
					seen <- got
				}
			}()
			awaitLock(t, conn)
			require.NoError(t, tx.Commit(t.Context()))
			got := <-seen
			require.Equal(t, agent.RunRunning, got.Status, name)
			require.NotNil(t, got.Plan, name)
			require.Equal(t, "first", got.Plan.Agent, name)
		}
	}
}

// Many workers make the same partitions while calls go on: each is made once,
// and no call is lost.
func TestRacingPartitions(t *testing.T) {
	t.Parallel()

	f := raceFixture(t)
	conn := f.Conn(t)
	var made atomic.Int32
	for _, partition := range texts(t, conn, "select relname::text from "+tables+` and c.relispartition
		and c.relname <> 'tool_invocations_default'`) {
		_, err := conn.Exec(t.Context(), "drop table "+partition)
		require.NoError(t, err)
	}
	entries := make([]ledger.Entry, racers)
	for i := range entries {
		entries[i] = f.Lone(t)
	}
	race(func(i int) {
		if i%4 == 0 {
			n, err := f.Store.EnsurePartitions(t.Context(), 3)
			for tool.KindOf(err) == tool.Unavailable { // The table was locked for two seconds.
				made.Add(int32(n))
				n, err = f.Store.EnsurePartitions(t.Context(), 3)
			}
			require.NoError(t, err)
			made.Add(int32(n))
			return
		}
		ticket, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: entries[i], Repeatable: true, Send: true})
		require.NoError(t, err)
		_, err = f.Store.Settle(t.Context(), storetest.Completed(entries[i], ticket.Fence))
		require.NoError(t, err)
	})
	// Calls that came before the month's partition keep it from being made in the last two days of a month.
	require.Contains(t, []int32{3, 4}, made.Load())
	require.Empty(t, texts(t, conn, "select conname::text from pg_constraint where conname like 'outside%'"))
	for i, e := range entries {
		if i%4 != 0 {
			record, err := f.Store.FindInvocation(t.Context(), f.Tenant, e.InvocationID)
			require.NoError(t, err)
			require.Equal(t, tool.StatusCompleted, record.Status)
		}
	}
}

// awaitLock returns once another session waits for a lock that conn holds.
func awaitLock(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	require.Eventually(t, func() bool {
		var waiting bool
		err := conn.QueryRow(t.Context(), `
			select exists (select from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid)))`).Scan(&waiting)
		return err == nil && waiting
	}, time.Minute, time.Millisecond)
}

// A call that finds its tool changed stops it while the server is being asked
// again: neither keeps the other from ending.
func TestStoppingAToolMeetsARefresh(t *testing.T) {
	t.Parallel()

	f := raceFixture(t)
	server, err := f.Store.CreateServer(t.Context(), mcpserver.Server{
		Tenant: f.Tenant, Slug: "files", Name: "Files", Connection: definition.Connection{URL: "https://example.com/mcp"},
		Status: definition.ServerActive,
	})
	require.NoError(t, err)
	seen := &mcpserver.ToolDefinition{Name: "read", Digest: "d1"}
	changes := mcpserver.Changes{
		Put: []mcpserver.Tool{
			{
				Name: "read", ToolID: f.Tool.ID, State: mcpserver.StatePinned, Pinned: seen, Seen: seen, SeenAt: time.Now(),
				ChangedAt: time.Now(),
			},
		},
	}
	server, err = f.Store.SaveServer(t.Context(), server, changes)
	require.NoError(t, err)

	conn := f.Conn(t)
	tx, err := conn.Begin(t.Context()) // Does what StopChangedTool does, in two steps.
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "update mcp_remote_tools set state = 'changed' where tool_id = $1", f.Tool.ID)
	require.NoError(t, err)
	saved := make(chan error, 1)
	go func() {
		changes.Stop = map[string]string{f.Tool.ID: "the server changed its definition"}
		_, err := f.Store.SaveServer(t.Context(), server, changes)
		saved <- err
	}()
	awaitLock(t, conn)
	_, err = tx.Exec(t.Context(), "select from tool_registry where id = $1 for no key update nowait", f.Tool.ID)
	require.NoError(t, err, "whoever waits for the one row does not hold the other")
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-saved)
}

func TestRacingEdits(t *testing.T) {
	t.Parallel()

	f := raceFixture(t)
	var won atomic.Int32
	race(func(i int) {
		head := f.Tool
		head.Description = strconv.Itoa(i)
		_, _, err := f.Store.AddVersion(t.Context(), head, storetest.VersionOf(t, head, "2.0.0"))
		if err == nil {
			won.Add(1)
			return
		}
		require.Equal(t, tool.Conflict, tool.KindOf(err), "%v", err)
	})
	require.Equal(t, int32(1), won.Load())
}

// Calls of one run write its events at the same time; the numbers have no gaps
// and the tenant's stream, read meanwhile, passes none over.
func TestEventsAreGaplessUnderLoad(t *testing.T) {
	t.Parallel()

	f := raceFixture(t)
	entries := make([]ledger.Entry, racers)
	for i := range entries {
		entries[i] = f.Lone(t)
	}
	want := 2 + 2*racers
	times := make([]int, want+1) // How often each number came.
	done := make(chan struct{})
	go func() {
		defer close(done)
		var cursor store.EventCursor
		for seen := 0; seen < want && t.Context().Err() == nil; {
			events, err := f.Store.TenantEvents(t.Context(), f.Tenant, cursor, 7)
			if err != nil {
				return
			}
			for _, event := range events {
				times[event.Seq]++
				cursor = event.Cursor
			}
			seen += len(events)
		}
	}()
	race(func(i int) {
		ticket, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: entries[i], Repeatable: true, Send: true})
		require.NoError(t, err)
		_, err = f.Store.Settle(t.Context(), storetest.Completed(entries[i], ticket.Fence))
		require.NoError(t, err)
	})
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the stream passed an event over")
	}
	for seq := 1; seq <= want; seq++ {
		require.Equal(t, 1, times[seq], "event %d", seq)
	}
	require.Equal(t, want, len(f.EventTypes(t, f.Run.ID))) //nolint:testifylint // The list itself says nothing.
}

// A connection that served one tenant brings nothing of it to the next user,
// after success, failure and cancellation alike.
func TestConnectionsForgetTheirTenant(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{MaxConns: 1})
	f := storetest.NewFixture(t, d)
	stranger := d.Tenant(t)
	for name, use := range map[string]func(){
		"success": func() { _, err := d.Store.FindRun(t.Context(), f.Tenant, f.Run.ID); require.NoError(t, err) },
		"failure": func() {
			_, err := d.Store.CreateTool(t.Context(), tool.Tool{
				Tenant: f.Tenant, Slug: f.Tool.Slug, Status: tool.Draft, Version: "1.0.0",
			})
			storetest.RequireKind(t, tool.Conflict, err)
		},
		"transaction": func() {
			stale := f.Tool
			stale.Revision = 0
			_, _, err := d.Store.AddVersion(t.Context(), stale, storetest.VersionOf(t, stale, "9.0.0"))
			storetest.RequireKind(t, tool.Conflict, err)
		},
	} {
		use()
		require.Empty(t, store.TenantOf(t.Context(), t, d.Store), name)
		_, err := d.Store.FindRun(t.Context(), stranger, f.Run.ID)
		storetest.RequireKind(t, tool.NotFound, err)
	}
}
