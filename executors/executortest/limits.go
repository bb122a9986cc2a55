package executortest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

const (
	short = 50 * time.Millisecond
	// slack is the delay allowed after a deadline on a busy machine.
	slack = 20 * time.Second
	// long is enough for a call to start, on any machine.
	long = time.Minute
)

func runDeadline(t *testing.T, h Harness) {
	t.Helper()

	t.Run("of the call", func(t *testing.T) {
		t.Parallel()

		s := h.subject(t, Hangs)
		e := &tool.Error{}
		// A call that had no time to start proves nothing: retry with more.
		for timeout := short; !e.Sent && timeout < long; timeout *= 8 {
			call := s.Call("e1")
			call.Timeout = timeout
			started := time.Now()
			res, err := standard(s.Executor).Execute(t.Context(), call)
			e = requireError(t, res, err)
			require.Less(t, time.Since(started), timeout+slack)
			require.Equal(t, tool.Timeout, e.Kind)
			if h.Inside {
				break
			}
		}
		require.Equal(t, !h.Inside, e.Sent, "it has the call")
	})
	t.Run("of the context, without middleware", func(t *testing.T) {
		t.Parallel()

		s := h.subject(t, Hangs)
		ctx, cancel := context.WithTimeout(t.Context(), short)
		defer cancel()
		started := time.Now()
		res, err := s.Executor.Execute(ctx, s.Call("e1"))
		requireOne(t, res, err)
		require.Less(t, time.Since(started), short+slack)
		require.Equal(t, tool.Timeout, tool.KindOf(err))
	})
}

func runCancellation(t *testing.T, h Harness) {
	t.Helper()

	s := h.subject(t, Hangs)
	ctx, cancel := context.WithCancel(t.Context())
	var cancelled time.Time
	time.AfterFunc(short, func() { cancelled = time.Now(); cancel() })
	res, err := standard(s.Executor).Execute(ctx, s.Call("e1"))
	e := requireError(t, res, err)
	require.Less(t, time.Since(cancelled), slack)
	require.Equal(t, tool.Cancelled, e.Kind)
}

// runExpired checks that a call does not start after its deadline.
func runExpired(t *testing.T, h Harness) {
	t.Helper()

	s := h.subject(t, Hangs)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	res, err := standard(s.Executor).Execute(ctx, s.Call("e1"))
	e := requireError(t, res, err)
	require.Equal(t, tool.Timeout, e.Kind)
	require.False(t, e.Sent, "the call did not start")
}

// runSize checks that an oversized answer is reported, and not passed on.
func runSize(t *testing.T, h Harness) {
	t.Helper()

	s := h.subject(t, Overflows)
	res, err := standard(s.Executor).Execute(t.Context(), s.Call("e1"))
	require.NoError(t, err, "it did answer")
	require.True(t, res.IsError)
	require.Less(t, len(encode(t, res)), MaxBytes)
	require.Contains(t, res.Content[0].Text, "more than the limit")
}
