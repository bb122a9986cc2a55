package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// pause pauses or resumes a run of the fixture, and returns its new round.
func (f *Fixture) pause(tb testing.TB, run agent.Run, pause bool) agent.PauseRound {
	tb.Helper()
	round, err := f.Store.ChangePause(tb.Context(), agent.PauseChange{
		Tenant: f.Tenant, RunID: run.ID, Pause: pause, By: "user:ada", Reason: "the shop is closed", Lease: time.Minute,
	})
	require.NoError(tb, err)
	return round
}

// requirePaused checks how a run stands.
func (f *Fixture) requirePaused(tb testing.TB, run agent.Run, round agent.PauseRound) {
	tb.Helper()
	found, err := f.Store.FindRun(tb.Context(), f.Tenant, run.ID)
	require.NoError(tb, err)
	require.Equal(tb, round, found.PauseRound)
	require.Equal(tb, round.Paused(), found.Paused != nil)
	if found.Paused != nil {
		require.Equal(tb, "user:ada", found.Paused.By)
		require.Equal(tb, "the shop is closed", found.Paused.Reason)
		require.WithinDuration(tb, time.Now(), found.Paused.At, time.Hour)
	}
}

// requirePauseDue checks whether the workflow of a run is to be given its round.
func requirePauseDue(tb testing.TB, d *Database, run agent.Run, want bool) {
	tb.Helper()
	var due bool
	row := d.Conn(tb).QueryRow(tb.Context(), `select pause_due is not null from runs where id = $1`, run.ID)
	require.NoError(tb, row.Scan(&due))
	require.Equal(tb, want, due)
}

func testPauses(t *testing.T, d *Database) {
	t.Helper()
	t.Run("Changes", func(t *testing.T) { testPauseChanges(t, NewFixture(t, d)) })
	t.Run("Below", func(t *testing.T) { testPauseBelow(t, NewFixture(t, d)) })
	t.Run("Delivery", func(t *testing.T) { testPauseDelivery(t, NewFixture(t, d)) })
	t.Run("Race", func(t *testing.T) { testPauseRace(t, NewFixture(t, d)) })
	t.Run("RaceWithRunsBelow", func(t *testing.T) { testPauseRaceBelow(t, NewFixture(t, d)) })
}

// A run is paused and resumed once, with one event each; what has ended is not.
func testPauseChanges(t *testing.T, f *Fixture) {
	t.Helper()
	for i, change := range []struct {
		pause bool
		want  agent.PauseRound
	}{{false, 0}, {true, 1}, {true, 0}, {false, 2}, {false, 0}, {true, 3}} {
		require.Equal(t, change.want, f.pause(t, f.Run, change.pause), i)
	}
	f.requirePaused(t, f.Run, 3)
	events, err := f.Store.ListEvents(t.Context(), f.Tenant, f.Run.ID, 0, 100)
	require.NoError(t, err)
	events = slices.DeleteFunc(events, func(e tool.Event) bool {
		return e.Type != agent.EventRunPaused && e.Type != agent.EventRunResumed
	})
	require.Len(t, events, 3)
	require.Equal(t, agent.EventRunResumed, events[1].Type)
	require.JSONEq(t, `{"by":"user:ada","reason":"the shop is closed"}`, string(events[0].Data))

	requests, err := f.Store.Requests(t.Context(), f.Tenant, []string{f.Run.ID})
	require.NoError(t, err)
	require.Equal(t, map[string]agent.Requests{f.Run.ID: {Pause: 3}}, requests)

	require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
		Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCancelled, Kind: tool.Cancelled, Execution: "e",
	}))
	require.Zero(t, f.pause(t, f.Run, false))
	_, err = f.Store.ChangePause(t.Context(), agent.PauseChange{Tenant: f.Tenant, RunID: NewID(t), Pause: true})
	RequireKind(t, tool.NotFound, err)
}

// What is below a run is paused with it, and what begins there later. A run below is not
// paused by itself.
func testPauseBelow(t *testing.T, f *Fixture) {
	t.Helper()
	child := f.nested(t, f.Run)
	f.pause(t, f.Run, true)
	f.pause(t, f.Run, false)
	later := f.nested(t, f.Run)
	require.Zero(t, f.pause(t, child, true))
	f.requirePaused(t, later, 2)
	require.Equal(t, agent.PauseRound(3), f.pause(t, f.Run, true))
	paused := f.nested(t, f.Run)
	for _, run := range []agent.Run{f.Run, child, later, paused} {
		f.requirePaused(t, run, 3)
	}
	requirePauseDue(t, f.Database, child, false)
	require.Equal(t, agent.PauseRound(4), f.pause(t, f.Run, false))
	for _, run := range []agent.Run{f.Run, child, later, paused} {
		f.requirePaused(t, run, 4)
	}
}

// A round is claimed when its lease is over, until it was delivered, or the run has ended.
// A later round is not delivered with an earlier one.
func testPauseDelivery(t *testing.T, f *Fixture) {
	t.Helper()
	claim := func() []agent.UndeliveredPause {
		claimed, err := f.Store.ClaimPauses(t.Context(), 1000, time.Minute)
		require.NoError(t, err)
		return slices.DeleteFunc(claimed, func(u agent.UndeliveredPause) bool { return u.Tenant != f.Tenant })
	}
	due := func() {
		_, err := f.Conn(t).Exec(t.Context(), `update runs set pause_due = now() where id = $1`, f.Run.ID)
		require.NoError(t, err)
	}
	round := f.pause(t, f.Run, true)
	require.Empty(t, claim(), "the lease of who paused it")
	due()
	want := agent.UndeliveredPause{Tenant: f.Tenant, RunID: f.Run.ID, WorkflowID: f.Run.WorkflowID, Round: round}
	require.Equal(t, []agent.UndeliveredPause{want}, claim())
	require.Empty(t, claim(), "the lease of who claimed it")
	f.pause(t, f.Run, false)
	require.NoError(t, f.Store.PauseDelivered(t.Context(), want))
	requirePauseDue(t, f.Database, f.Run, true)
	due()
	want.Round++
	require.Equal(t, []agent.UndeliveredPause{want}, claim())
	require.NoError(t, f.Store.PauseDelivered(t.Context(), want))
	requirePauseDue(t, f.Database, f.Run, false)
	require.Empty(t, claim())

	f.pause(t, f.Run, true)
	due()
	require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
		Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCompleted, Execution: "e",
	}))
	require.Empty(t, claim(), "the run has ended")
}

// Of changes that race, each that counts has a round of its own, in turn.
func testPauseRace(t *testing.T, f *Fixture) {
	t.Helper()
	var mu sync.Mutex
	var rounds []agent.PauseRound
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			round, err := f.Store.ChangePause(t.Context(), agent.PauseChange{
				Tenant: f.Tenant, RunID: f.Run.ID, Pause: i%2 == 0, By: "user:ada", Reason: "the shop is closed",
			})
			mu.Lock()
			defer mu.Unlock()
			if round > 0 || err != nil {
				rounds = append(rounds, round)
			}
		})
	}
	group.Wait()
	slices.Sort(rounds)
	for i, round := range rounds {
		require.Equal(t, agent.PauseRound(i+1), round)
	}
	require.NotEmpty(t, rounds)
	f.requirePaused(t, f.Run, rounds[len(rounds)-1])
}

// A run that is recorded while the one above it is paused has its state.
func testPauseRaceBelow(t *testing.T, f *Fixture) {
	t.Helper()
	for i := range 20 {
		pause := i%2 == 0
		var child agent.Run
		var group sync.WaitGroup
		group.Go(func() { child = f.nested(t, f.Run) })
		group.Go(func() { f.pause(t, f.Run, pause) })
		group.Wait()
		f.requirePaused(t, child, agent.PauseRound(i+1))
	}
}
