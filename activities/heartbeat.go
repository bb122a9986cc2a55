package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/tool"
)

// maxHeartbeatInterval bounds how long a cancellation goes unnoticed, unless the
// worker throttles heartbeats more.
const maxHeartbeatInterval = 2 * time.Second

// heartbeat reports to Temporal that the activity is alive for as long as it
// runs, which is also how it learns that it was cancelled. Temporal is told
// the latest progress. The returned function stops it.
func heartbeat(ctx context.Context, latest ...func() tool.Progress) (stop func()) {
	timeout := activity.GetInfo(ctx).HeartbeatTimeout
	if timeout <= 0 {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(min(timeout/3, maxHeartbeatInterval))
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
				var details []any
				for _, fn := range latest {
					details = append(details, fn())
				}
				activity.RecordHeartbeat(ctx, details...)
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// progressReport keeps what a running call last reported of itself.
type progressReport struct {
	mu   sync.Mutex
	last tool.Progress
}

func (r *progressReport) set(p tool.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = p
}

func (r *progressReport) get() tool.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}
