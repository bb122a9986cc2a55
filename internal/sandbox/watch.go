package sandbox

import (
	"sync"
	"time"
)

// watch lowers the priority of a child at work when its tenant's usage is high.
// The returned function ends the watch.
func (l *lane) watch(c *child) (stop func()) {
	if l.isHeavy(c) {
		c.demote()
		return func() {}
	}
	done := make(chan struct{})
	var timer *time.Timer
	var mu sync.Mutex // Orders the timer's steps and the end.
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

// isHeavy reports whether a child at work is to run at a lower priority.
func (l *lane) isHeavy(c *child) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.low || l.account(c.tenant).usage(time.Now()) >= heavyUse
}

// watchInterval is how often the usage of a program at work is looked at.
const watchInterval = 50 * time.Millisecond
