package agent

import "github.com/toolcrib/toolcrib/tool"

// EventOutputAppended reports output of the model while its answer was still
// being generated; its data is an [Output]. See [tool.EventOutputAppended] for
// tools.
const EventOutputAppended tool.EventType = "agent.output_appended"

// Output is a piece of output of a model, or of a tool with CallID, while it
// runs. Pieces are for live display and may be missing: the message and the
// invocation contain the complete text.
//
// A retried attempt sends its output again from the start. A reader therefore
// keeps, for each turn and call, the text of the highest attempt it has seen: a
// higher attempt replaces the text, and pieces of a lower one are ignored.
// [EventTurn], or the end of the call, ends the text.
type Output struct {
	Tenant  tool.TenantID `json:"-"`
	RunID   string        `json:"-"`
	Turn    int           `json:"turn"`
	Attempt int           `json:"attempt"` // Counted from 1.
	CallID  string        `json:"call_id,omitempty"`
	Text    string        `json:"text"`
}

// EventType returns the type of the event that reports o.
func (o Output) EventType() tool.EventType {
	if o.CallID != "" {
		return tool.EventOutputAppended
	}
	return EventOutputAppended
}
