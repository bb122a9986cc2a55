package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/wait"
)

// Followers of a run are woken when a call of it asks, and when its request ends, whether
// or not that writes an event.
func TestApprovalsWakeListeners(t *testing.T) {
	t.Parallel()

	f := storetest.NewFixture(t, storetest.NewDatabase(t))
	events, listening := make(chan store.Wake, 100), make(chan error, 1)
	go func() { listening <- f.Store.Listen(t.Context(), func(w store.Wake) { events <- w }) }()
	conn := f.Conn(t)
	require.Eventually(t, func() (up bool) {
		require.NoError(t, conn.QueryRow(t.Context(), `select exists (select from pg_stat_activity
			where datname = current_database() and state = 'idle' and query = 'listen toolcrib_events')`).Scan(&up))
		return up
	}, time.Minute, 10*time.Millisecond)
	woken := func(runID, what string) {
		for w := (store.Wake{}); w.RunID != runID; {
			select {
			case w = <-events:
			case err := <-listening:
				require.NoError(t, err, what)
			case <-time.After(10 * time.Second):
				require.Fail(t, "no wake-up", what)
			}
		}
	}
	for name, end := range map[string]func(a wait.Approval) error{
		"approve": func(a wait.Approval) error {
			_, err := f.Store.Decide(t.Context(), f.Verdict(a, "user:bob", true))
			return err
		},
		"reject": func(a wait.Approval) error {
			_, err := f.Store.Decide(t.Context(), f.Verdict(a, "user:bob", false))
			return err
		},
		"end": func(a wait.Approval) error {
			_, err := f.Store.End(t.Context(), f.Tenant, a.ID, wait.Cancelled)
			return err
		},
	} {
		run := f.NewRun(t)
		woken(run.ID, name+": the run's start")
		e := f.Lone(t)
		e.RunID = run.ID
		a := f.Ask(t, f.Request(t, e))
		woken(run.ID, name+": the request")
		require.NoError(t, end(a))
		woken(run.ID, name)
	}
}
