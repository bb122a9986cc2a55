package agent

import "github.com/toolcrib/toolcrib/tool"

// EventOutputAppended tells of what the model said while its answer was still
// being made; its data is an [Output]. See [tool.EventOutputAppended] for tools.
const EventOutputAppended tool.EventType = "agent.output_appended"

// Output is a piece of what a model, or a tool with CallID, says while it is at
// work. Pieces are for watching: what counts is in the message and the
// invocation that they end in, and pieces may be missing.
//
// An attempt that is repeated says everything again. So a reader keeps, of each
// turn and call, the text of the highest attempt it has seen: a higher one
// drops what came before, and what still comes from a lower one is ignored.
// [EventTurn], or the end of the call, ends the text.
type Output struct {
	Tenant  tool.TenantID `json:"-"`
	RunID   string        `json:"-"`
	Turn    int           `json:"turn"`
	Attempt int           `json:"attempt"` // Counted from 1.
	CallID  string        `json:"call_id,omitempty"`
	Text    string        `json:"text"`
}

// EventType returns the event that tells of o.
func (o Output) EventType() tool.EventType {
	if o.CallID != "" {
		return tool.EventOutputAppended
	}
	return EventOutputAppended
}
