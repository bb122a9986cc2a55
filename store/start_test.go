package store_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// A run and its start are recorded together, byte for byte, and both or neither.
func TestAcceptRunRecordsRunAndStart(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t, storetest.NewDatabase(t))
	a := f.Acceptance(t)
	a.Run.Tool = "getOrder"
	run, err := f.Store.AcceptRun(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, agent.RunPending, run.Status)
	require.Equal(t, "getOrder", run.Tool)
	found, err := f.Store.FindRun(t.Context(), f.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, "getOrder", found.Tool)

	start, err := f.Store.FindStart(t.Context(), agent.StartKey{Tenant: f.Tenant, WorkflowID: run.WorkflowID})
	require.NoError(t, err)
	want := a.Start
	want.RunStatus, want.CreatedAt = agent.RunPending, start.CreatedAt
	require.Equal(t, want, start)

	_, err = f.Store.AcceptRun(t.Context(), a)
	storetest.RequireKind(t, tool.Conflict, err)
	require.NoError(t, f.Store.DeleteStart(t.Context(), start))
	_, err = f.Store.AcceptRun(t.Context(), a)
	storetest.RequireKind(t, tool.Conflict, err)
	_, err = f.Store.FindStart(t.Context(), agent.StartKey{Tenant: f.Tenant, WorkflowID: run.WorkflowID})
	storetest.RequireKind(t, tool.NotFound, err)
}

// A due start is claimed by one process, for the length of its lease.
func TestClaimStarts(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	const n = 20
	for range n {
		f.Start(t)
	}
	held := f.Acceptance(t)
	held.Lease = time.Minute
	_, err := f.Store.AcceptRun(t.Context(), held)
	require.NoError(t, err)

	backlog, err := f.Store.CountStarts(t.Context())
	require.NoError(t, err)
	require.Equal(t, n+1, backlog.Count)
	var mu sync.Mutex
	seen := map[agent.StartKey]int{}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				keys, err := f.Store.ClaimStarts(t.Context(), 3, time.Minute)
				if err != nil || len(keys) == 0 {
					return
				}
				mu.Lock()
				for _, key := range keys {
					seen[key]++
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	left, err := f.Store.ClaimStarts(t.Context(), n, time.Minute) // A claimer leaves when it meets only locked rows.
	require.NoError(t, err)
	for _, key := range left {
		seen[key]++
	}
	require.Len(t, seen, n)
	for key, times := range seen {
		require.Equal(t, 1, times)
		require.Equal(t, f.Tenant, key.Tenant)
		require.NotEqual(t, held.Start.WorkflowID, key.WorkflowID)
		start, err := f.Store.FindStart(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, 1, start.Attempts)
	}
}

// A start of a tenant that is suspended waits until the tenant is active, and is not counted as late.
func TestStartsOfASuspendedTenantWait(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t, storetest.NewDatabase(t))
	f.Start(t)
	for _, c := range []struct {
		status store.TenantStatus
		due    int
	}{{store.TenantSuspended, 0}, {store.TenantActive, 1}} {
		_, err := f.Platform.SetTenantStatus(t.Context(), f.Tenant, c.status)
		require.NoError(t, err)
		backlog, err := f.Store.CountStarts(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.due, backlog.Count)
		keys, err := f.Store.ClaimStarts(t.Context(), 10, time.Minute)
		require.NoError(t, err)
		require.Len(t, keys, c.due)
	}
}

// An attempt that lost its claim neither postpones the start nor ends the run.
func TestAttemptsAreFenced(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t, storetest.NewDatabase(t))
	stale := f.Start(t)
	keys, err := f.Store.ClaimStarts(t.Context(), 1, time.Minute)
	require.NoError(t, err)
	require.Len(t, keys, 1)

	require.NoError(t, f.Store.PostponeStart(t.Context(), stale, 0, "stale"))
	end := agent.RunEnd{Status: agent.RunFailed, Kind: tool.Invalid, Msg: "refused"}
	ended, err := f.Store.EndStart(t.Context(), stale, end)
	require.NoError(t, err)
	require.False(t, ended)
	current, err := f.Store.FindStart(t.Context(), keys[0])
	require.NoError(t, err)
	require.Empty(t, current.LastError)
	require.Equal(t, agent.RunPending, current.RunStatus)

	ended, err = f.Store.EndStart(t.Context(), current, end)
	require.NoError(t, err)
	require.True(t, ended)
	run, err := f.Store.FindRun(t.Context(), f.Tenant, current.RunID)
	require.NoError(t, err)
	require.Equal(t, agent.RunFailed, run.Status)
	require.Equal(t, "refused", run.Error)
	require.EqualValues(t, 1, run.LastSeq, "the end is an event")
	_, err = f.Store.FindStart(t.Context(), keys[0])
	storetest.RequireKind(t, tool.NotFound, err)

	again := f.Acceptance(t) // The caller's name for the call is free again.
	again.Run.WorkflowID, again.Start.WorkflowID = run.WorkflowID, run.WorkflowID
	_, err = f.Store.AcceptRun(t.Context(), again)
	require.NoError(t, err)
}

// A run that began is not ended by who thinks that it did not, and one that
// ended unbegun does not begin.
func TestRunsThatEndUnbegun(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t, storetest.NewDatabase(t))
	end := agent.RunEnd{Tenant: f.Tenant, Status: agent.RunCancelled, Kind: tool.Cancelled, Msg: "cancelled"}
	begin := func(start agent.Start) agent.Run {
		run, err := f.Store.BeginRun(t.Context(), agent.Run{
			ID: start.RunID, Tenant: f.Tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: start.WorkflowID,
			FirstRunID: storetest.NewID(t), Status: agent.RunRunning,
		})
		require.NoError(t, err)
		return run
	}
	first := f.Start(t)
	require.Equal(t, agent.RunRunning, begin(first).Status)
	end.RunID = first.RunID
	ended, err := f.Store.EndPendingRun(t.Context(), end)
	require.NoError(t, err)
	require.False(t, ended)

	second := f.Start(t)
	end.RunID = second.RunID
	ended, err = f.Store.EndPendingRun(t.Context(), end)
	require.NoError(t, err)
	require.True(t, ended)
	run := begin(second)
	require.True(t, run.EndedUnbegun())
	require.Equal(t, agent.RunCancelled, run.Status)
}

// What an execution reports wins over an end that the platform wrote.
func TestARealEndWins(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t, storetest.NewDatabase(t))
	run := f.Run // Which is under way.
	finish := func(status agent.RunStatus, execution, msg string) agent.Run {
		require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
			Tenant: f.Tenant, RunID: run.ID, Status: status, Execution: execution, Msg: msg,
		}))
		found, err := f.Store.FindRun(t.Context(), f.Tenant, run.ID)
		require.NoError(t, err)
		return found
	}
	require.Equal(t, agent.RunFailed, finish(agent.RunFailed, "", "lost").Status)
	require.Equal(t, agent.RunFailed, finish(agent.RunCancelled, "", "lost again").Status, "the platform ends a run once")
	found := finish(agent.RunCompleted, "e1", "")
	require.Equal(t, agent.RunCompleted, found.Status)
	require.Equal(t, "e1", found.EndedBy)
	require.Empty(t, found.Error)
	require.Equal(t, agent.RunCompleted, finish(agent.RunFailed, "", "late").Status, "and never over a real end")
	require.Equal(t, agent.RunCompleted, finish(agent.RunFailed, "e1", "again").Status)
}

// The bound on unfinished runs holds exactly, however many are accepted at once,
// and a run that ends makes room.
func TestUnfinishedRunsAreBounded(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	other := storetest.NewFixture(t, d)
	const bound = 10 // One of them is the fixture's run.
	var accepted atomic.Int64
	var group sync.WaitGroup
	failures := make(chan error, 4*bound)
	for range 4 * bound {
		a := f.Acceptance(t)
		a.MaxUnfinished = bound
		group.Go(func() {
			if _, err := f.Store.AcceptRun(t.Context(), a); err == nil {
				accepted.Add(1)
			} else {
				failures <- err
			}
		})
	}
	group.Wait()
	close(failures)
	unfinished := int64(0)
	for _, status := range []agent.RunStatus{agent.RunPending, agent.RunRunning} {
		unfinished += int64(countRuns(t, f, status))
	}
	require.EqualValues(t, bound, unfinished)
	for err := range failures {
		storetest.RequireKind(t, tool.RateLimited, err)
		var e *tool.Error
		require.ErrorAs(t, err, &e)
		require.Positive(t, e.RetryAfter)
	}

	a := other.Acceptance(t)
	a.MaxUnfinished = bound
	_, err := f.Store.AcceptRun(t.Context(), a)
	require.NoError(t, err, "another tenant is not held up")

	require.NoError(
		t, f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunFailed}),
	)
	a = f.Acceptance(t)
	a.MaxUnfinished = bound
	_, err = f.Store.AcceptRun(t.Context(), a)
	require.NoError(t, err)
	a = f.Acceptance(t)
	a.MaxUnfinished = bound
	_, err = f.Store.AcceptRun(t.Context(), a)
	storetest.RequireKind(t, tool.RateLimited, err)
}

// A tenant's own limit holds exactly, in place of that of the servers, until it is taken back.
func TestTenantHasItsOwnLimitOfRuns(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	other := storetest.NewFixture(t, d)
	const bound = 50
	changed, err := d.Platform.SetTenantMaxUnfinished(t.Context(), f.Tenant, bound+1) // And the fixture's run.
	require.NoError(t, err)
	require.Equal(t, bound+1, changed.MaxUnfinishedRuns)
	var group sync.WaitGroup
	failures := make([]error, 2*bound)
	for i := range failures {
		a := f.Acceptance(t)
		a.MaxUnfinished = 10_000
		group.Go(func() { _, failures[i] = f.Store.AcceptRun(t.Context(), a) })
	}
	group.Wait()
	accepted, pauses := 0, map[time.Duration]bool{}
	for _, err := range failures {
		if err == nil {
			accepted++
			continue
		}
		var e *tool.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, tool.RateLimited, e.Kind)
		require.Contains(t, e.Msg, "has 51 unfinished runs, and its limit is 51")
		require.Contains(t, e.Msg, "cancel some")
		require.GreaterOrEqual(t, e.RetryAfter, 5*time.Second)
		require.Less(t, e.RetryAfter, 10*time.Second)
		pauses[e.RetryAfter] = true
	}
	require.Equal(t, bound, accepted)
	require.Greater(t, len(pauses), 1, "they are not to return at the same moment")

	a := other.Acceptance(t)
	a.MaxUnfinished = 10_000
	_, err = other.Store.AcceptRun(t.Context(), a)
	require.NoError(t, err, "another tenant has the limit of the servers")
	a = f.Acceptance(t)
	_, err = f.Store.AcceptRun(t.Context(), a)
	storetest.RequireKind(t, tool.RateLimited, err)

	// A child run is not refused: its parent waits for it, and would keep its place for ever.
	call := storetest.NewID(t)
	_, err = f.Conn(t).Exec(t.Context(), `insert into tool_invocations (id, tenant_id, run_id, call_id, tool, mode, status)
		values ($1, $2, $3, 'c', 'ask', 'production', 'running')`, call, f.Tenant, f.Run.ID)
	require.NoError(t, err)
	_, err = f.Store.CreateRun(t.Context(), agent.Run{
		ID: storetest.NewID(t), Tenant: f.Tenant, Kind: agent.RunKindAgent, AgentID: f.Agent.ID, Mode: tool.Production,
		WorkflowID: "t/child", Principal: f.Principal, Depth: 1, Parent: &agent.Parent{RunID: f.Run.ID, InvocationID: call},
	}, agent.Message{})
	require.NoError(t, err)

	_, err = d.Platform.SetTenantMaxUnfinished(t.Context(), f.Tenant, 0)
	require.NoError(t, err)
	a.MaxUnfinished = 10_000
	_, err = f.Store.AcceptRun(t.Context(), a)
	require.NoError(t, err, "the limit of the servers is valid again")
	for _, most := range []int{-1, store.MostUnfinishedRuns + 1} {
		_, err = d.Platform.SetTenantMaxUnfinished(t.Context(), f.Tenant, most)
		storetest.RequireKind(t, tool.Invalid, err)
	}
	_, err = d.Platform.SetTenantMaxUnfinished(t.Context(), tool.TenantID(storetest.NewID(t)), 1)
	storetest.RequireKind(t, tool.NotFound, err)
}

// What waits and runs is counted by tenant; those with the deepest queues are named.
func TestQueueDepths(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	deep, shallow := storetest.NewFixture(t, d), storetest.NewFixture(t, d)
	before, err := d.Store.QueueDepths(t.Context(), 10)
	require.NoError(t, err)
	for range 3 {
		deep.Start(t)
	}
	shallow.Start(t)
	ended := shallow.Start(t)
	_, err = d.Store.EndPendingRun(t.Context(), agent.RunEnd{
		Tenant: shallow.Tenant, RunID: ended.RunID, Status: agent.RunCancelled,
	})
	require.NoError(t, err)
	got, err := d.Store.QueueDepths(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, before.Pending+4, got.Pending)
	require.Equal(t, before.Running, got.Running)
	require.Len(t, got.Tenants, 1)
	require.Equal(t, deep.Tenant, got.Tenants[0].Tenant)
	require.NotEmpty(t, got.Tenants[0].Slug)
	require.GreaterOrEqual(t, got.Tenants[0].Pending, 3)
	require.Positive(t, got.Tenants[0].OldestS)
	require.GreaterOrEqual(t, got.OldestS, got.Tenants[0].OldestS)
	all, err := d.Store.QueueDepths(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, all.Tenants, 2)
}

func countRuns(t *testing.T, f *storetest.Fixture, status agent.RunStatus) int {
	t.Helper()
	runs, err := f.Store.ListRuns(t.Context(), f.Tenant, store.RunQuery{Status: status, Limit: 1000})
	require.NoError(t, err)
	return len(runs)
}

// Nobody takes over the messages of another tenant's run.
func TestTakenOverMessagesAreTheTenants(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	theirs := storetest.NewFixture(t, d)
	ours := storetest.NewFixture(t, d)
	a := ours.Acceptance(t)
	a.Run.Continues = &agent.Continued{RunID: theirs.Run.ID, Turn: 1}
	a.First = &agent.Message{Content: []tool.Content{tool.Text("hello")}}
	messages, err := d.Store.Transcript(t.Context(), theirs.Tenant, theirs.Run.ID)
	require.NoError(t, err)
	require.NotEmpty(t, messages)
	a.Before = messages
	run, err := d.Store.AcceptRun(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, a.Run.Continues, run.Continues)
	got, err := d.Store.Transcript(t.Context(), ours.Tenant, run.ID)
	require.NoError(t, err)
	require.Len(t, got, 1, "only the first message of the run itself")
}
