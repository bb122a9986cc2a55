package wire

import (
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// AdvanceInput asks for an agent run to be taken as far as one process can.
type AdvanceInput struct {
	AgentRunInput

	FirstRunID string `json:"first_run_id"`
	// At is when the workflow scheduled the activity, where that is a local one, whose own time
	// is its worker's.
	At time.Time `json:"at,omitzero"`
	// Tried is how often the next question was put to the model in vain, in place.
	// With it the activity is that question's own: its failures are returned.
	Tried int `json:"tried,omitempty"`
	// Step says that the activity was scheduled for the first call of Resume, which is
	// visible: it makes that call.
	Step bool `json:"step,omitempty"`
	// Stop ends the run with this failure: its calls that have not ended are settled.
	Stop *Failure `json:"stop,omitempty"`
}

// Failure is a [tool.Error] without its cause.
type Failure struct {
	Kind tool.Kind `json:"kind"`
	Msg  string    `json:"msg"`
}

// What one Advance takes of a run at most. It stops between two turns, so that histories
// show progress, and retries are counted anew.
const (
	AdvanceSlice = 5 * time.Minute
	AdvanceTurns = 200
)

// Handover is why an Advance returned before the run was over.
type Handover string

// Reasons of a handover.
const (
	HandoverCalls    Handover = "calls"    // Calls of [RunState.Batch] are the workflow's to make.
	HandoverStep     Handover = "step"     // The only call is visible: an activity of its own begins with it.
	HandoverQuestion Handover = "question" // The model failed; an activity of its own asks again.
	HandoverSlice    Handover = "slice"    // The time or the turns of one activity are used up.
	HandoverDrain    Handover = "drain"    // The worker stops.
	HandoverPause    Handover = "pause"    // The run is paused.
)

// AdvanceOutput is how far an Advance came.
type AdvanceOutput struct {
	// Ended is set when the run is over, and recorded as such.
	Ended *AgentRunOutput `json:"ended,omitempty"`
	// Failure is why a run that is over did not complete.
	Failure *Failure `json:"failure,omitempty"`
	// Execution is Temporal's run id of the execution that the end is recorded for. One
	// that is reset to behind it records the end again.
	Execution string `json:"execution,omitempty"`

	Handover Handover  `json:"handover,omitempty"`
	State    *RunState `json:"state,omitempty"` // Where to continue.
	// Pause is the round that was seen last; zero where the run was never paused.
	Pause agent.PauseRound `json:"pause,omitempty"`
	// RetryIn is how long to wait before the model is asked again, and Cause is why.
	RetryIn time.Duration `json:"retry_in,omitempty"`
	Cause   string        `json:"cause,omitempty"`
	// Tried is how often the model was asked in vain.
	Tried int `json:"tried,omitempty"`

	Turns int        `json:"turns"`          // Turns taken by this activity.
	Calls int        `json:"calls"`          // Calls made by it.
	Made  []CallMade `json:"made,omitempty"` // The first [MaxCallsMade] of them.
}

// MaxCallsMade bounds [AdvanceOutput.Made].
const MaxCallsMade = 40

// CallMade is a call that an Advance made, for people who read histories.
type CallMade struct {
	Tool   string                `json:"tool"` // "slug@version".
	Status tool.InvocationStatus `json:"status,omitempty"`
	// IsError says that the tool answered "no", or did not answer.
	IsError bool  `json:"is_error,omitempty"`
	Millis  int64 `json:"ms"`
	// Retry is why the call is left to a regular activity; there is no status then.
	Retry string `json:"retry,omitempty"`
}

// AdvanceProgress is what an Advance reports in its heartbeats: where an attempt
// after it continues.
type AdvanceProgress struct {
	Turns int    `json:"turns"`
	Calls int    `json:"calls"`
	Head  string `json:"head"`
	Step  string `json:"step"` // Such as "turn 3: model".
	// Model is the attempt of the model that is in progress, for the turn after Turns.
	Model int `json:"model,omitempty"`
	// Tool is what a call in progress reported last.
	Tool *tool.Progress `json:"tool,omitempty"`
}
