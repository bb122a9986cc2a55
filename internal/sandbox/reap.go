package sandbox

import (
	"slices"
	"time"
)

// reapLater schedules the end of idle children, and drops accounts without state.
func (l *lane) reapLater() {
	if l.reaper != nil || l.closed {
		return
	}
	switch {
	case len(l.idle) > 0:
		l.reaper = time.AfterFunc(l.cfg.MaxIdle-time.Since(l.idle[0].since), l.reap)
	case len(l.accounts) > 0:
		l.reaper = time.AfterFunc(max(l.cfg.MaxIdle, time.Second), l.reap)
	}
}

func (l *lane) reap() {
	l.mu.Lock()
	now := time.Now()
	var old []*child
	l.idle = slices.DeleteFunc(l.idle, func(c *child) bool {
		over := now.Sub(c.since) >= l.cfg.MaxIdle
		if over {
			old = append(old, c)
		}
		return over
	})
	l.live -= len(old)
	for _, a := range l.accounts {
		l.forget(a, now)
	}
	l.reaper = nil
	l.reapLater()
	l.mu.Unlock()
	for _, c := range old {
		l.bury(c, EndIdle)
	}
}
