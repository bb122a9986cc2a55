package activities

import (
	"sync"
	"time"
)

const (
	// warningInterval is the minimum interval between warnings of one cause.
	warningInterval = time.Minute
	// maxWarned bounds the remembered causes; beyond it, old ones are dropped, or all if there
	// are none.
	maxWarned = 1024
)

// warnings rate-limits warnings by cause, and counts the suppressed ones. Its zero value is ready to use. It
// is safe for concurrent use.
type warnings struct {
	mu   sync.Mutex
	last map[string]*warned
}

// warned is the last warning of a cause, and the number suppressed since.
type warned struct {
	at   time.Time
	held int
}

// pass reports whether to log a warning now, and how many of the same cause were suppressed since the last.
func (w *warnings) pass(cause string, now time.Time) (held int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.last[cause]
	if before != nil && now.Sub(before.at) < warningInterval {
		before.held++
		return 0, false
	}
	if before != nil {
		held = before.held
	}
	if w.last == nil || before == nil && len(w.last) >= maxWarned {
		w.forget(now)
	}
	w.last[cause] = &warned{at: now}
	return held, true
}

func (w *warnings) forget(now time.Time) {
	for cause, before := range w.last {
		if now.Sub(before.at) >= warningInterval {
			delete(w.last, cause)
		}
	}
	if w.last == nil || len(w.last) >= maxWarned {
		w.last = make(map[string]*warned)
	}
}
