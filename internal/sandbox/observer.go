package sandbox

import (
	"errors"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Observer observes a pool, for metrics. Its methods are called concurrently
// and must not block.
type Observer interface {
	// Started is called when a child is ready.
	Started()
	// Ended is called when a child has ended: why is one of the constants End…, or
	// the outcome of the run that ended it.
	Ended(why string)
	// Waited reports how long a run waited for its child.
	Waited(d time.Duration)
	// Ran reports the duration and outcome of a run: "answered", a [Class],
	// "cancelled", or "lost" where the child was killed by another process.
	Ran(language Language, outcome string, d time.Duration)
}

// Reasons for the end of a child other than a run.
const (
	EndIdle     = "idle"     // It was idle.
	EndReplaced = "replaced" // It reached its number of runs, or kept too much memory.
	EndEvicted  = "evicted"  // Another tenant needed the place.
	EndClosed   = "closed"   // The pool was closed.
)

// Outcomes of a run besides the classes.
const (
	answered  = "answered"
	abandoned = "cancelled"
	lost      = "lost"
)

// outcomeOf names how a run ended.
func outcomeOf(sound bool, err error) string {
	if e, ok := errors.AsType[*ProgramError](err); ok {
		return string(e.Class)
	}
	switch kind := tool.KindOf(err); {
	case err == nil && !sound:
		return string(OverTime) // It answered too late.
	case err == nil:
		return answered
	case kind == tool.Cancelled || kind == tool.Timeout:
		return abandoned
	default:
		return lost
	}
}

type noObserver struct{}

func (noObserver) Started() {}

func (noObserver) Ended(string) {}

func (noObserver) Waited(time.Duration) {}

func (noObserver) Ran(Language, string, time.Duration) {}
