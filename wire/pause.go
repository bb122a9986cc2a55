package wire

import "github.com/toolcrib/toolcrib/agent"

// PauseSignal tells a workflow that its run is paused, or is resumed. Its input is a
// [Pause]. A workflow passes it on to those below, except detached ones. It is safe to send
// again, and late: the highest round counts.
const PauseSignal = "toolcrib.pause"

// Pause is whether a run is paused.
type Pause struct {
	RunID string           `json:"run_id"` // Of the outermost run.
	Round agent.PauseRound `json:"round"`
	// Paused is what the round says, for people who read histories.
	Paused bool `json:"paused"`
}

// NewPause returns the message that a run has a round.
func NewPause(runID string, round agent.PauseRound) Pause {
	return Pause{RunID: runID, Round: round, Paused: round.Paused()}
}
