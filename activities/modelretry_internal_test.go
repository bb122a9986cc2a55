package activities

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// What is announced of the next attempt is what Temporal does: the interval
// doubles up to its maximum, what the provider asks for goes before it, and the
// last attempt is followed by none.
func TestModelRetryDelay(t *testing.T) {
	t.Parallel()

	turn := func(attempt int) *modelTurn {
		return &modelTurn{attempt: attempt, attempts: wire.ModelAttempts, policy: retryPolicy{
			initial: wire.ModelRetryInterval, most: wire.ModelRetryMaximum, coefficient: wire.ModelRetryCoefficient,
		}}
	}
	down := &tool.Error{Kind: tool.Unavailable}
	for attempt, want := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 6: 30 * time.Second, 9: 30 * time.Second,
	} {
		require.Equal(t, want, turn(attempt).delay(down), attempt)
		require.True(t, turn(attempt).again(down), attempt)
	}
	require.Equal(t, time.Minute, turn(1).delay(&tool.Error{Kind: tool.RateLimited, RetryAfter: time.Minute}))
	require.False(t, turn(wire.ModelAttempts).again(down))
	require.False(t, turn(1).again(&tool.Error{Kind: tool.Denied}))
}

// A cause says what the failure says, without what looks like a secret and
// within bounds; what an error wraps is no part of it.
func TestCauseOfAnAttempt(t *testing.T) {
	t.Parallel()

	const secret = "sk-0123456789abcdefghijklmnop"
	require.Equal(
		t, "it refused", causeOf(&tool.Error{Kind: tool.Unavailable, Msg: "it refused", Err: errors.New(secret)}),
	)
	require.NotContains(t, causeOf(&tool.Error{Msg: "Authorization: Bearer " + secret}), secret)
	require.Equal(t, "internal error", causeOf(tool.AsError(errors.New(secret))))
	require.Equal(t, "timeout", causeOf(&tool.Error{Kind: tool.Timeout}))
	require.Len(t, causeOf(&tool.Error{Msg: strings.Repeat("é", maxCauseBytes)}), maxCauseBytes+len("…"))
}
