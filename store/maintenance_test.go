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

func maintenance(t *testing.T, d *storetest.Database) *store.Maintenance {
	t.Helper()
	m, err := store.OpenMaintenance(t.Context(), d.URL, store.Options{SetRole: store.MaintenanceRole, MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return m
}

// One process holds a lease. It prolongs it; another takes it when it has ended,
// and from then on the first can't prolong it any more.
func TestLease(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	m := maintenance(t, d)
	_, err := m.ReadLease(t.Context(), "work")
	storetest.RequireKind(t, tool.NotFound, err)

	var holders atomic.Int32
	var wg sync.WaitGroup
	for _, holder := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			if _, err := m.TakeLease(t.Context(), "work", holder, "s", time.Minute, false); err == nil {
				holders.Add(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, int32(1), holders.Load())
	held, err := m.ReadLease(t.Context(), "work")
	require.NoError(t, err)
	require.Equal(t, int64(1), held.Fence)
	require.Nil(t, held.PassedAt)

	again, err := m.TakeLease(t.Context(), "work", held.Holder, "s", time.Minute, false)
	require.NoError(t, err)
	require.Equal(t, held.Fence, again.Fence, "it is the holder's own")
	again, err = m.RenewLease(t.Context(), held, time.Minute, true)
	require.NoError(t, err)
	require.NotNil(t, again.PassedAt)
	require.Positive(t, again.Left)

	other, err := m.TakeLease(t.Context(), "work", "next", "s", time.Minute, false)
	storetest.RequireKind(t, tool.Conflict, err)
	require.Equal(t, held.Holder, other.Holder)
	_, err = d.Conn(t).Exec(t.Context(), "update leases set expires_at = now()") // The holder has died.
	require.NoError(t, err)
	next, err := m.TakeLease(t.Context(), "work", "next", "s", time.Minute, false)
	require.NoError(t, err)
	require.Equal(t, int64(2), next.Fence)
	_, err = m.RenewLease(t.Context(), held, time.Minute, true)
	storetest.RequireKind(t, tool.Conflict, err)
	require.NoError(t, m.ReleaseLease(t.Context(), held), "it is not its own to release")
	_, err = m.RenewLease(t.Context(), next, time.Minute, false)
	require.NoError(t, err)

	require.NoError(t, m.ReleaseLease(t.Context(), next))
	bound, err := m.TakeLease(t.Context(), "work", "next", "another", time.Minute, false)
	storetest.RequireKind(t, tool.Conflict, err)
	require.Equal(t, "s", bound.Scope)
	_, err = m.TakeLease(t.Context(), "work", "next", "another", time.Minute, true)
	require.NoError(t, err)
}

// A run is closed once, as it was seen, and only so.
func TestCloseRun(t *testing.T) {
	t.Parallel()

	f := storetest.NewFixture(t, storetest.NewDatabase(t))
	run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
	require.NoError(t, err)
	closure := store.RunClosure{
		Tenant: f.Tenant, RunID: run.ID, StatusSeen: run.Status, SeqSeen: run.LastSeq, Status: agent.RunFailed,
		Kind: tool.Unknown, Msg: "gone", Reason: "r",
	}
	for _, other := range []func(*store.RunClosure){
		func(c *store.RunClosure) { c.StatusSeen = agent.RunPending },
		func(c *store.RunClosure) { c.SeqSeen-- },
	} {
		changed := closure
		other(&changed)
		closed, err := f.Store.CloseRun(t.Context(), changed)
		require.NoError(t, err)
		require.False(t, closed)
	}
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if closed, err := f.Store.CloseRun(t.Context(), closure); err == nil && closed {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, int32(1), won.Load())
	closure.Status = agent.RunRunning
	_, err = f.Store.CloseRun(t.Context(), closure)
	storetest.RequireKind(t, tool.Invalid, err)
}

// The maintenance role is refused to a login that is more, or is not it.
func TestMaintenanceLogin(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	_, err := store.OpenMaintenance(t.Context(), d.URL, store.Options{})
	storetest.RequireKind(t, tool.Denied, err)
	require.ErrorContains(t, err, store.MaintenanceRole)
	_, err = store.OpenMaintenance(t.Context(), d.URL, store.Options{SetRole: store.AppRole})
	storetest.RequireKind(t, tool.Denied, err)
}

// Pages of what is open hold every tenant's, each once.
func TestOpenRuns(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	m := maintenance(t, d)
	want := map[string]bool{}
	for range 3 {
		f := storetest.NewFixture(t, d)
		want[f.Run.ID] = true
		for range 2 {
			want[f.NewRun(t).ID] = true
		}
		over := f.NewRun(t)
		require.NoError(
			t, f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.Tenant, RunID: over.ID, Status: agent.RunFailed}),
		)
	}
	got := map[string]bool{}
	var after store.OpenRun
	for {
		page, err := m.OpenRuns(t.Context(), after, 0, 2)
		require.NoError(t, err)
		for _, run := range page {
			require.False(t, got[run.ID])
			got[run.ID] = true
			after = run
		}
		if len(page) < 2 {
			break
		}
	}
	require.Equal(t, want, got)
	young, err := m.OpenRuns(t.Context(), store.OpenRun{}, time.Hour, 10)
	require.NoError(t, err)
	require.Empty(t, young)
}
