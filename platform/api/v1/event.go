package v1

import (
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// StreamType is the media type of a stream of events.
const StreamType = "text/event-stream"

// EventPage is a part of a tenant's events.
type EventPage struct {
	Items []tool.Event `json:"items"`
	Next  string       `json:"next,omitempty" doc:"Value of after for the next page; absent if this page is empty"`
}

// EventEnd is the name of a stream's last event, whose data is a [StreamEnd]. A
// stream that stops without it was interrupted: connect again.
const EventEnd = "end"

// StreamEnd says why a stream ended.
type StreamEnd struct {
	Status agent.RunStatus `json:"status" doc:"How the run ended"`
}

// Names is a set of names for the events of calls. The data of an event keeps
// its canonical type under any of its names.
type Names string

// Sets of names. An event without a name in a set keeps its canonical one.
const (
	CanonicalNames    Names = "canonical"    // As tool and agent name them.
	StreamingNames    Names = "streaming"    // tool.started, tool.streaming, tool.done, tool.error.
	DispatchNames     Names = "dispatch"     // tool_invocation_started, …_completed, …_failed.
	ConfirmationNames Names = "confirmation" // tool_use, confirmation_required.
)

// aliases holds the names that each set has for an event. In a set that knows
// only done and failed, a call that ends without an answer has failed.
var aliases = map[Names]map[tool.EventType]string{
	StreamingNames: {
		tool.EventStarted:        "tool.started",
		tool.EventOutputAppended: "tool.streaming",
		tool.EventCompleted:      "tool.done",
		tool.EventFailed:         "tool.error",
		tool.EventCancelled:      "tool.error",
		tool.EventRejected:       "tool.error",
		tool.EventExpired:        "tool.error",
	},
	DispatchNames: {
		tool.EventStarted:   "tool_invocation_started",
		tool.EventCompleted: "tool_invocation_completed",
		tool.EventFailed:    "tool_invocation_failed",
		tool.EventCancelled: "tool_invocation_failed",
		tool.EventRejected:  "tool_invocation_failed",
		tool.EventExpired:   "tool_invocation_failed",
	},
	ConfirmationNames: {
		tool.EventNeedsApproval: "confirmation_required",
		tool.EventPending:       "tool_use",
	},
}

// Of returns the set's name for an event.
func (n Names) Of(t tool.EventType) string {
	if alias, ok := aliases[n][t]; ok {
		return alias
	}
	return string(t)
}
