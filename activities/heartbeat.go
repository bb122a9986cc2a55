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

// heartbeat reports to Temporal that the activity is alive until the returned
// function is called, which is also how it learns that it was cancelled, with the
// latest progress. It goes on after the activity's context has ended: an answer is
// settled then too, and a settlement may have to wait.
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
			case <-tick.C:
				var details []any
				for _, fn := range latest {
					details = append(details, fn())
				}
				activity.RecordHeartbeat(context.WithoutCancel(ctx), details...)
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
