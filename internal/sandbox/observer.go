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
	// Ended is called when a child is gone: why is one of the constants End…,
	// or the outcome of the run that it was killed for or died of.
	Ended(why string)
	// Waited reports how long a run waited for its child.
	Waited(d time.Duration)
	// Ran reports how long a run took, and how it ended: "answered", a [Class],
	// "cancelled", or "lost" where the child was killed from outside.
	Ran(language Language, outcome string, d time.Duration)
}

// Why a child ended that no run brought down.
const (
	EndIdle     = "idle"     // Nothing used it for a while.
	EndReplaced = "replaced" // It had its share of runs, or kept too much memory.
	EndEvicted  = "evicted"  // Another tenant needed the place.
	EndClosed   = "closed"   // The pool was closed.
)

// How a run ended, beside the classes.
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
		return string(OverTime) // It answered, and was shot all the same.
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
