package activities

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// How long an activity retries an unavailable, locked or busy database. The sum is shorter than
// Temporal's timeout beyond a tool's own (workflows/options.go).
const (
	admitPatience      = 30 * time.Second // Also of marking as sent, and of reverting the mark.
	settlePatience     = 5 * time.Minute  // The result of a tool may be lost otherwise.
	fastSettlePatience = 10 * time.Second
	turnPatience       = time.Minute // The model's answer was paid for.
)

// patiently retries fn, which must be idempotent, on retryable errors, for at most the given time.
func patiently[T any](ctx context.Context, patience time.Duration, fn func() (T, error)) (T, error) {
	deadline := time.Now().Add(patience)
	for delay := 50 * time.Millisecond; ; delay = min(2*delay, time.Second) {
		v, err := fn()
		if err == nil || tool.KindOf(err) != tool.Unavailable || time.Now().Add(delay).After(deadline) {
			return v, err
		}
		select {
		case <-ctx.Done():
			return v, err
		case <-time.After(delay):
		}
	}
}
