package agent

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// PauseRound counts how often a run was paused and resumed, together. Of two, the higher
// one is the later one: that is how a message that comes late is known.
type PauseRound int

// Paused reports whether a run with this round is paused.
func (r PauseRound) Paused() bool { return r%2 == 1 }

// Pause says that a run is paused.
type Pause struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"` // Subject of who paused it.
	Reason string    `json:"reason,omitempty"`
}

// PauseChange asks for a run to be paused, or to be resumed.
type PauseChange struct {
	Tenant tool.TenantID
	RunID  string
	Pause  bool   // False to resume it.
	By     string // Subject of who asks.
	Reason string // For people; empty for none.
	// Lease is for how long nothing but the caller gives it to the run's workflow.
	Lease time.Duration
}

// UndeliveredPause is a run whose workflow is to be given its round.
type UndeliveredPause struct {
	Tenant     tool.TenantID
	RunID      string
	WorkflowID string
	Round      PauseRound
}

// Requests are what was asked of a run that is in progress.
type Requests struct {
	// CancelExecution is Temporal's run id of the execution that is to stop; empty for none.
	CancelExecution string
	Pause           PauseRound // Zero where the run was never paused.
}

// Events of a run that is paused and resumed.
const (
	EventRunPaused  tool.EventType = "run.paused"
	EventRunResumed tool.EventType = "run.resumed"
)

// PauseChanged is the payload of [EventRunPaused] and [EventRunResumed].
type PauseChanged struct {
	By     string `json:"by"` // Subject.
	Reason string `json:"reason,omitempty"`
}
