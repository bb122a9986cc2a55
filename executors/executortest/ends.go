package executortest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// runEnds tests each behaviour against the table of how calls end.
func runEnds(t *testing.T, h Harness) {
	t.Helper()

	t.Run(string(Answers), func(t *testing.T) {
		t.Parallel()

		s := h.subject(t, Answers)
		res, err := standard(s.Executor).Execute(t.Context(), s.Call("e1"))
		require.NoError(t, err)
		require.False(t, res.IsError)
		require.NotEmpty(t, res.Content)
	})
	t.Run(string(SaysNo), func(t *testing.T) {
		t.Parallel()

		s := h.subject(t, SaysNo)
		res, err := standard(s.Executor).Execute(t.Context(), s.Call("e1"))
		require.NoError(t, err, "a tool that says no has answered")
		require.True(t, res.IsError)
		require.Contains(t, encode(t, res), Reason, "the model can act on it")
	})
	for _, tt := range []struct {
		behaviour  Behaviour
		kinds      []tool.Kind
		sent       bool
		retryAfter time.Duration
	}{
		{Refuses, []tool.Kind{tool.Denied}, true, 0},
		{Saturated, []tool.Kind{tool.RateLimited}, true, RetryAfter},
		{Fails, []tool.Kind{tool.Unavailable}, true, 0},
		{Unreachable, []tool.Kind{tool.Unavailable}, false, 0},
		{BreaksOff, []tool.Kind{tool.Unavailable, tool.Timeout}, true, 0},
	} {
		t.Run(string(tt.behaviour), func(t *testing.T) {
			t.Parallel()

			s := h.subject(t, tt.behaviour)
			res, err := standard(s.Executor).Execute(t.Context(), s.Call("e1"))
			e := requireError(t, res, err)
			require.Contains(t, tt.kinds, e.Kind, "%v", err)
			require.Equal(t, tt.sent && !h.Inside, e.Sent, "Sent means that a request was sent: %v", err)
			require.Equal(t, tt.retryAfter, e.RetryAfter)
		})
	}
}

// runPanic checks that a panic fails its own call only, with an internal error.
func runPanic(t *testing.T, h Harness) {
	t.Helper()

	s := h.subject(t, Panics)
	for range 2 {
		res, err := standard(s.Executor).Execute(t.Context(), s.Call("e1"))
		e := requireError(t, res, err)
		require.Equal(t, tool.InternalError, e.Kind)
		require.Equal(t, "internal error", e.Msg, "no detail is shown")
	}
}
