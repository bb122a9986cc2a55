package reconcile_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Reconcilers that pass at the same time close each thing once.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	var all []agent.Run
	for range 12 {
		run, _ := s.started()
		s.call(run, true)
		s.terminate(run.WorkflowID, "by hand")
		all = append(all, run)
	}
	var mu sync.Mutex
	closed := map[string]int{}
	require.Eventually(t, func() bool {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				report, err := s.reconciler().Pass(t.Context(), reconcile.PassOptions{})
				mu.Lock()
				defer mu.Unlock()
				for _, f := range report.Findings {
					if f.Closed {
						closed[f.ID]++
					}
				}
				if err != nil && tool.KindOf(err) != tool.Unavailable { // The machine is busy.
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return len(closed) == 24
	}, time.Minute, 20*time.Millisecond)
	for id, n := range closed {
		require.Equal(t, 1, n, id)
	}
	for _, run := range all {
		_, ends := s.ending(run.ID, agent.EventRunCancelled)
		require.Equal(t, 1, ends)
	}
}

// The leader dies, and another takes over and closes what it did not.
func TestLeaderDies(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	quick := func(c *reconcile.Config) { c.Interval, c.Lease = 20*time.Millisecond, time.Second }
	lead := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { s.reconciler(quick).Lead(ctx) })
		stop = func() {
			cancel()
			wg.Wait()
		}
		t.Cleanup(stop)
		return stop
	}
	holder := func() store.Lease {
		lease, err := s.maintenance.ReadLease(t.Context(), store.ReconcilerLease)
		if tool.KindOf(err) == tool.NotFound {
			return store.Lease{}
		}
		require.NoError(t, err)
		return lease
	}
	// One that took the lease and died: it neither renews nor releases it.
	stopFirst := lead()
	require.Eventually(t, func() bool { return holder().PassedAt != nil }, time.Minute, 10*time.Millisecond)
	first := holder()
	stopFirst()
	dead, err := s.maintenance.TakeLease(t.Context(), store.ReconcilerLease, "dead", first.Scope, 2*time.Second, false)
	require.NoError(t, err)
	require.Greater(t, dead.Fence, first.Fence)

	run, _ := s.started()
	s.terminate(run.WorkflowID, "by hand")
	lead()
	lead()
	require.Eventually(t, func() bool { return s.find(run.ID).Status.Final() }, time.Minute, 20*time.Millisecond)
	after := holder()
	require.NotEqual(t, "dead", after.Holder)
	require.Greater(t, after.Fence, dead.Fence)
	_, err = s.maintenance.RenewLease(t.Context(), dead, time.Minute, true)
	storetest.RequireKind(t, tool.Conflict, err)
	_, ends := s.ending(run.ID, agent.EventRunCancelled)
	require.Equal(t, 1, ends)
}

// A record is not reconciled with another namespace, where its runs all seem to
// be lost, unless an operator says so.
func TestAnotherNamespace(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	run := s.recorded()
	_, err := s.maintenance.TakeLease(t.Context(), store.ReconcilerLease, "before", "another", time.Minute, false)
	require.NoError(t, err)
	_, err = s.reconciler().Once(t.Context(), reconcile.PassOptions{})
	storetest.RequireKind(t, tool.Conflict, err)
	require.ErrorContains(t, err, "--adopt-namespace")
	require.Equal(t, agent.RunPending, s.find(run.ID).Status)

	adopt := func(c *reconcile.Config) { c.Adopt = true }
	_, err = s.reconciler(adopt).Once(t.Context(), reconcile.PassOptions{})
	storetest.RequireKind(t, tool.Conflict, err) // Another holds it.
	lease, err := s.maintenance.ReadLease(t.Context(), store.ReconcilerLease)
	require.NoError(t, err)
	require.NoError(t, s.maintenance.ReleaseLease(t.Context(), lease))
	report, err := s.reconciler(adopt).Once(t.Context(), reconcile.PassOptions{})
	require.NoError(t, err)
	require.Equal(t, 1, report.Closed())
	_, err = s.reconciler().Once(t.Context(), reconcile.PassOptions{})
	require.NoError(t, err)
}
