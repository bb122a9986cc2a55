package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// A request to cancel is recorded for one execution, and comes to listeners of requests
// only. A run that has ended, and one of another tenant, are unchanged.
func TestRequestCancel(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{NotifyInterval: -1}) // No wake-ups of events, which come late.
	tenant, other := d.Tenant(t), d.Tenant(t)
	begin := func(workflow string) string {
		run, err := d.Store.BeginRun(t.Context(), agent.Run{
			ID: storetest.NewID(t), Tenant: tenant, Kind: agent.RunKindToolCall, Mode: tool.Production,
			WorkflowID: workflow, FirstRunID: "f", Status: agent.RunRunning,
		})
		require.NoError(t, err)
		return run.ID
	}
	run, ended := begin("a"), begin("b")
	require.NoError(t, d.Store.FinishRun(t.Context(), agent.RunEnd{
		Tenant: tenant, RunID: ended, Status: agent.RunCompleted, Execution: "e",
	}))

	wakes, events := make(chan string, 10), make(chan store.Wake, 10)
	ctx, cancel := context.WithCancel(t.Context())
	listening := make(chan error, 2)
	go func() {
		listening <- d.Store.ListenControl(ctx, func(of tool.TenantID, runID string) { wakes <- string(of) + runID })
	}()
	go func() { listening <- d.Store.Listen(ctx, func(w store.Wake) { events <- w }) }()
	receive := func() string {
		t.Helper()
		select {
		case w := <-wakes:
			return w
		case <-time.After(time.Minute):
			t.Fatal("no wake-up")
			return ""
		}
	}
	require.Empty(t, receive(), "there may be requests from before")

	for of, want := range map[tool.TenantID]bool{other: false, tenant: true} {
		requested, err := d.Store.RequestCancel(t.Context(), of, run, "first")
		require.NoError(t, err)
		require.Equal(t, want, requested)
	}
	require.Equal(t, string(tenant)+run, receive())
	requested, err := d.Store.RequestCancel(t.Context(), tenant, ended, "first")
	require.NoError(t, err)
	require.False(t, requested)

	requests, err := d.Store.Requests(t.Context(), tenant, []string{run, ended})
	require.NoError(t, err)
	require.Equal(t, map[string]agent.Requests{run: {CancelExecution: "first"}}, requests)
	requests, err = d.Store.Requests(t.Context(), other, []string{run})
	require.NoError(t, err)
	require.Empty(t, requests)
	found, err := d.Store.FindRun(t.Context(), tenant, run)
	require.NoError(t, err)
	require.Equal(t, "first", found.CancelExecution)

	_, err = d.Store.RequestCancel(t.Context(), tenant, run, "second")
	require.NoError(t, err)
	require.Equal(t, string(tenant)+run, receive())
	require.Empty(t, wakes)
	require.Empty(t, events, "it is no event")
	cancel()
	for range 2 {
		require.Equal(t, tool.Cancelled, tool.KindOf(<-listening))
	}
}

// A store that is closed ends its listeners.
func TestCloseEndsListeners(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	s, err := store.Open(t.Context(), d.URL, store.Options{SetRole: store.AppRole})
	require.NoError(t, err)
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.ListenControl(t.Context(), func(tool.TenantID, string) { close(ready) })
	}()
	<-ready
	s.Close()
	require.ErrorIs(t, <-ended, store.ErrClosed)
	require.ErrorIs(t, s.Listen(t.Context(), func(store.Wake) {}), store.ErrClosed)
}
