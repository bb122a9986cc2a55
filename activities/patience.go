package activities

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// How long an activity itself waits for a database that is away, locked or busy.
// Together they are shorter than what Temporal adds to a tool's own time
// (workflows/options.go).
const (
	admitPatience      = 30 * time.Second // Also of marking as sent, and of taking the mark back.
	settlePatience     = 5 * time.Minute  // What a tool answered may not be had again.
	fastSettlePatience = 10 * time.Second
	turnPatience       = time.Minute // What the model said was paid for.
)

// patiently repeats fn, which must be safe to repeat, for as long as it fails
// in a way that may pass, at most for the given time.
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
