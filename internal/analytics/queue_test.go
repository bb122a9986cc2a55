package analytics_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/analytics"
	"github.com/toolcrib/toolcrib/tool"
)

// kept is a sink that keeps events.
type kept struct {
	mu     sync.Mutex
	events []analytics.ToolRun
}

func (k *kept) send(_ context.Context, events []analytics.ToolRun) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = append(k.events, events...)
	return nil
}

var quiet = slog.New(slog.DiscardHandler)

// Each attempt has one event, whatever becomes of it, and the call is answered as without it.
func TestEventsOfCalls(t *testing.T) {
	t.Parallel()

	k := new(kept)
	q := analytics.New(k.send, 10, quiet)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	call := &tool.Call{
		CallIdentity: tool.CallIdentity{
			Principal: tool.Principal{Tenant: "t1", Subject: "key:a"}, RunID: "run", AgentID: "agent", InvocationID: "call",
		},
		Attempt: 2, Version: &tool.Version{Slug: "getOrder", Number: "1.2.0"},
	}
	failure := &tool.Error{Kind: tool.Unavailable, Msg: "no answer from sesame"}
	for _, end := range []struct {
		result *tool.Result
		err    error
	}{{tool.ErrorResult("no"), nil}, {tool.JSONResult([]byte(`1`)), nil}, {nil, failure}} {
		run := q.Middleware(clock)(tool.ExecutorFunc(func(context.Context, *tool.Call) (*tool.Result, error) {
			return end.result, end.err
		}))
		result, err := run.Execute(t.Context(), call)
		require.Equal(t, end.result, result)
		require.Equal(t, end.err, err)
	}
	require.NoError(t, q.Close())
	require.Len(t, k.events, 3)
	require.True(t, k.events[0].IsError)
	require.False(t, k.events[1].IsError)
	require.Equal(t, tool.Unavailable, k.events[2].ErrorKind)
	first := k.events[0]
	require.Equal(t, "getOrder", first.Tool)
	require.Equal(t, time.Second, first.Duration)
	require.Equal(t, 2, first.Attempt)
	require.Equal(t, tool.TenantID("t1"), first.Tenant)
	require.Zero(t, q.Dropped())
}

// A sink that hangs blocks no call: what does not fit the queue is dropped and counted.
func TestAFullQueueDrops(t *testing.T) {
	t.Parallel()

	entered, release := make(chan struct{}), make(chan struct{})
	q := analytics.New(func(context.Context, []analytics.ToolRun) error {
		entered <- struct{}{}
		<-release
		return nil
	}, 2, quiet)
	q.Add(analytics.ToolRun{})
	<-entered // The sink has the first, and the queue is empty.
	for range 5 {
		q.Add(analytics.ToolRun{})
	}
	require.Equal(t, int64(3), q.Dropped())
	go func() { <-entered }()
	close(release)
	require.NoError(t, q.Close())
	q.Add(analytics.ToolRun{})
	require.Equal(t, int64(4), q.Dropped(), "a closed queue takes nothing")
}

// A sink that fails or panics loses its events and nothing else.
func TestFailingSinks(t *testing.T) {
	t.Parallel()

	for name, sink := range map[string]analytics.Sink{
		"error": func(context.Context, []analytics.ToolRun) error { return errors.New("full") },
		"panic": func(context.Context, []analytics.ToolRun) error { panic("broken") },
	} {
		q := analytics.New(sink, 2, quiet)
		q.Add(analytics.ToolRun{})
		require.NoError(t, q.Close(), name)
		require.Equal(t, int64(1), q.Dropped(), name)
	}
}
