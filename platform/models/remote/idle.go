package remote

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// idleTimer cancels an exchange when no byte arrives for too long after the
// first. A nil timer does nothing.
type idleTimer struct {
	after  time.Duration
	cancel context.CancelFunc
	fired  atomic.Bool

	mu      sync.Mutex
	timer   *time.Timer // Nil until it has begun.
	stopped bool
}

// heard records that bytes arrived. The first call starts the timer.
func (i *idleTimer) heard() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.stopped || i.fired.Load():
	case i.timer == nil:
		i.timer = time.AfterFunc(i.after, func() {
			i.fired.Store(true)
			i.cancel()
		})
	default:
		i.timer.Reset(i.after)
	}
}

// stop stops the timer permanently.
func (i *idleTimer) stop() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped = true
	if i.timer != nil {
		i.timer.Stop()
	}
}

// over reports whether the exchange was cancelled for being idle.
func (i *idleTimer) over() bool { return i != nil && i.fired.Load() }
