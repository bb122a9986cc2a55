package tool

import (
	"encoding/json"
	"time"
)

// EventType names what happened in a run. All packages share one set of types.
type EventType string

// Events of a call.
const (
	EventStarted        EventType = "tool.started"
	EventOutputAppended EventType = "tool.output_appended"
	EventCompleted      EventType = "tool.completed"
	EventFailed         EventType = "tool.failed"
	EventCancelled      EventType = "tool.cancelled"
	EventNeedsApproval  EventType = "tool.needs_approval"
	EventApproved       EventType = "tool.approved"
	EventEscalated      EventType = "tool.approval_escalated"
	EventRejected       EventType = "tool.rejected"
	EventExpired        EventType = "tool.expired"
	EventPending        EventType = "tool.pending"
	EventResultReceived EventType = "tool.result_received"
	// EventWarning is for people to review: its data gives the reason, such as
	// deprecated or egress_drift.
	EventWarning EventType = "tool.warning"
)

// WarningOutputMismatch is the reason of an [EventWarning] for a result that was passed on
// although it does not match its tool's output schema; its message has the place.
const WarningOutputMismatch = "output_mismatch"

// Event is one entry of a run's log. Within the run, events and output together are
// numbered without gaps.
type Event struct {
	RunID        string          `json:"run_id"`
	Seq          int64           `json:"seq"`
	Type         EventType       `json:"type"`
	InvocationID string          `json:"invocation_id,omitempty"`
	Data         json.RawMessage `json:"data,omitempty"`
	At           time.Time       `json:"at"`
}

// EndEvent returns the type of the event that reports an invocation's final
// status.
func EndEvent(s InvocationStatus) EventType {
	switch s {
	case StatusCompleted:
		return EventCompleted
	case StatusCancelled:
		return EventCancelled
	case StatusRejected:
		return EventRejected
	case StatusExpired:
		return EventExpired
	case StatusFailed, StatusUnknown, StatusPending, StatusApproved, StatusRunning, StatusWaiting:
		return EventFailed
	default:
		return EventFailed
	}
}
