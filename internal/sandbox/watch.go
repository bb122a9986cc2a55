package sandbox

import (
	"sync"
	"time"
)

// watch lowers the priority of a running child when its tenant's usage is high. The returned
// function ends the watch.
func (l *lane) watch(c *child) (stop func()) {
	if l.isHeavy(c) {
		c.demote()
		return func() {}
	}
	done := make(chan struct{})
	var timer *time.Timer
	var mu sync.Mutex // Serializes the timer and stop.
	step := func() {
		mu.Lock()
		defer mu.Unlock()
		select {
		case <-done:
			return
		default:
		}
		if l.isHeavy(c) {
			c.demote()
			return
		}
		timer.Reset(watchInterval)
	}
	mu.Lock()
	timer = time.AfterFunc(watchInterval, step)
	mu.Unlock()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		close(done)
		timer.Stop()
	}
}

// isHeavy reports whether a running child must run at a lower priority.
func (l *lane) isHeavy(c *child) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.low || l.account(c.tenant).usage(time.Now()) >= heavyUse
}

// watchInterval is the interval at which a running program's usage is checked.
const watchInterval = 50 * time.Millisecond
