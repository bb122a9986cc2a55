package wire

import (
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// NodesInput asks for several calls of a host's workflow to be made in one activity.
type NodesInput struct {
	Principal tool.Principal `json:"principal"`
	RunID     string         `json:"run_id"`
	Calls     []InvokeInput  `json:"calls"`
	// All says that every call is made, pure ones side by side. Otherwise the calls are
	// made one after the other, up to the first that gets no answer.
	All bool `json:"all,omitempty"`
	// Stop begins nothing: calls that have not ended are settled with this failure, all or
	// the first of them.
	Stop *Failure `json:"stop,omitempty"`
}

// NodesOutput is how far an activity came with the calls of a host's workflow.
type NodesOutput struct {
	Ended []NodeEnd `json:"ended,omitempty"` // In the order of the calls.
	// Retry are calls that need another attempt, which is the workflow's to make.
	Retry []NodeRetry `json:"retry,omitempty"`
	// Asks are calls that need an approval.
	Asks []NodeAsk `json:"asks,omitempty"`
	// Handover is why calls are neither: another activity continues with them.
	Handover Handover   `json:"handover,omitempty"`
	Made     []CallMade `json:"made,omitempty"` // The first [MaxCallsMade] that ended or need another attempt.
}

// NodeEnd is how a call ended.
type NodeEnd struct {
	InvokeOutput

	Call int `json:"call"` // Its index in the input.
}

// NodeAsk is a call that needs an approval.
type NodeAsk struct {
	agent.Asking

	Call int `json:"call"` // Its index in the input.
}

// NodeRetry is a call whose attempt in place failed.
type NodeRetry struct {
	Call  int           `json:"call"` // Its index in the input.
	Tried int           `json:"tried"`
	In    time.Duration `json:"in"`
	// Reached is the step of a composition, counted from 1, that needs an approval.
	Reached int `json:"reached,omitempty"`
}
