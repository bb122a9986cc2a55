package tool

import (
	"fmt"
	"time"
)

// Lane is how the first attempt of a call runs.
//
// An agent run makes it in place, within the activity that advances the run, unless the
// lane is visible: see [Execution.InPlace]. In a workflow of a host, the fast lane makes
// it a local activity within the workflow task, recorded in the history as one marker.
// Both have the same ledger as any other attempt and are several times faster. An
// attempt that fails there and may be retried continues as a regular activity, whose
// attempts are recorded one by one.
type Lane string

// Lanes.
const (
	LaneAuto    Lane = "auto"    // Fast where the tool allows it; the default.
	LaneVisible Lane = "visible" // Every attempt is an activity of its own.
	LaneFast    Lane = "fast"    // Fast; a definition that does not allow it is refused.
)

// Valid reports whether l is one of the lanes. Empty is auto.
func (l Lane) Valid() bool {
	return l == "" || l == LaneAuto || l == LaneVisible || l == LaneFast
}

// MaxFastTimeout is the longest timeout of a tool whose calls may take the fast
// lane, since a workflow task must not be blocked for longer.
const MaxFastTimeout = 5 * time.Second

// FastLane reports whether the first attempt of a call of a type with the given
// traits takes the fast lane and, if it may not, why. It is the only place that
// decides this; plans pin the answer, so that a run keeps its lanes.
func (e Execution) FastLane(t Traits) (fast bool, obstacle string) {
	switch {
	case !e.Repeatable():
		obstacle = "it is neither pure nor idempotent, and a workflow's task may run twice"
	case e.Timeout() > MaxFastTimeout:
		obstacle = fmt.Sprintf("its timeout_s is %v, and the fast lane allows %v", e.Timeout().Seconds(),
			MaxFastTimeout.Seconds())
	case e.TenantMaxConcurrency > 0:
		obstacle = "its tenant_max_concurrency makes calls wait for others, and a workflow's task must not wait"
	case !t.Quick:
		obstacle = fmt.Sprintf("calls of type %s run where they can be watched", t.Implementation)
	}
	return obstacle == "" && e.Lane != LaneVisible, obstacle
}

// MaxInPlaceTimeout is the longest timeout of a tool that an agent run calls within its
// own activity.
const MaxInPlaceTimeout = 5 * time.Minute

// InPlace reports whether an agent run makes the first attempt of a call within its own
// activity: calls of a worker's executor, unless every attempt is to be visible, or waits for
// other calls of its tenant. Plans pin the answer.
func (e Execution) InPlace(t Traits) bool {
	return e.Lane != LaneVisible && e.withinActivity(t)
}

// Stepwise reports whether the first attempt of a visible call is made by an activity of
// its own that then asks the model the next question, if the turn has no other call.
func (e Execution) Stepwise(t Traits) bool {
	return e.Lane == LaneVisible && e.withinActivity(t)
}

func (e Execution) withinActivity(t Traits) bool {
	return t.RunBy == RunByWorker && e.Timeout() <= MaxInPlaceTimeout && e.TenantMaxConcurrency == 0
}
