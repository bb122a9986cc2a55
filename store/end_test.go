package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// Callers wait for the end of a run: listeners are woken at once, not with the next batch,
// whoever writes it.
func TestEndsOfRunsWakeListenersSooner(t *testing.T) {
	t.Parallel()

	f := storetest.NewFixture(t, storetest.NewDatabase(t, store.Options{NotifyInterval: time.Hour}))
	events, listening := make(chan store.Wake, 10), make(chan error, 1)
	go func() { listening <- f.Store.Listen(t.Context(), func(w store.Wake) { events <- w }) }()
	conn := f.Conn(t)
	require.Eventually(t, func() (up bool) {
		require.NoError(t, conn.QueryRow(t.Context(), `select exists (select from pg_stat_activity
			where datname = current_database() and state = 'idle' and query = 'listen toolcrib_events')`).Scan(&up))
		return up
	}, time.Minute, 10*time.Millisecond)
	for name, finish := range map[string]func(run agent.Run, end agent.RunEnd){
		"FinishRun": func(_ agent.Run, end agent.RunEnd) { require.NoError(t, f.Store.FinishRun(t.Context(), end)) },
		"Record": func(run agent.Run, end agent.RunEnd) {
			turn := f.TurnOf(t, run.HeadMessageID, 1)
			turn.RunID, turn.Calls, turn.Message.Calls, end.HeadMessageID = run.ID, nil, nil, turn.Message.ID
			done, err := f.Store.Record(t.Context(), loop.Record{Tenant: f.Tenant, RunID: run.ID, Turn: &turn, End: &end})
			require.NoError(t, err)
			require.True(t, done.End)
		},
	} {
		run := f.NewRun(t)
		finish(run, agent.RunEnd{
			Tenant: f.Tenant, RunID: run.ID, Status: agent.RunCompleted, Turns: 1, Execution: "execution",
		})
		for woken := (store.Wake{}); woken.RunID != run.ID; {
			select {
			case woken = <-events:
			case err := <-listening:
				require.NoError(t, err, name)
			case <-time.After(10 * time.Second):
				require.Fail(t, "no wake-up", name)
			}
		}
	}
}
