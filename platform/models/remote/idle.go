package remote

import (
	"context"
	"sync/atomic"
	"time"
)

// idleTimer ends an exchange that goes without a byte for too long. A nil timer
// ends nothing.
type idleTimer struct {
	after time.Duration
	timer *time.Timer
	fired atomic.Bool
}

func startIdleTimer(after time.Duration, cancel context.CancelFunc) *idleTimer {
	i := &idleTimer{after: after}
	i.timer = time.AfterFunc(after, func() {
		i.fired.Store(true)
		cancel()
	})
	return i
}

// heard notes that bytes came.
func (i *idleTimer) heard() {
	if i != nil && !i.fired.Load() {
		i.timer.Reset(i.after)
	}
}

// stop ends the timer.
func (i *idleTimer) stop() {
	if i != nil {
		i.timer.Stop()
	}
}

// over reports whether the exchange was ended for its silence.
func (i *idleTimer) over() bool { return i != nil && i.fired.Load() }
