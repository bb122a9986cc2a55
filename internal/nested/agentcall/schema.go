package agentcall

import "encoding/json"

// DefaultSchema returns the input schema of a tool that runs an agent and
// declares none: one argument, the prompt.
func DefaultSchema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"prompt":{"type":"string","minLength":1,"description":"What the agent is to do, with everything it must know."}},"required":["prompt"],"additionalProperties":false}`)
}
