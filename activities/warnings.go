package activities

import (
	"sync"
	"time"
)

const (
	// warningInterval is how often a warning is logged that one cause may repeat
	// with every call.
	warningInterval = time.Minute
	// maxWarned is how many causes are remembered; beyond that, old ones are
	// forgotten, and all of them if there are none.
	maxWarned = 1024
)

// warnings lets a warning through once in an interval for each cause, and counts
// those in between. Its zero value is ready. It is safe for concurrent use.
type warnings struct {
	mu   sync.Mutex
	last map[string]*warned
}

// warned is when a cause was last let through, and how often not since then.
type warned struct {
	at   time.Time
	held int
}

// pass reports whether a warning is to be logged now, and how many of the same
// cause were not since the last that was.
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
