package tool

import (
	"encoding/json"
	"time"
)

// ClientTool is a client-executed tool as the client defines it: no code, only
// what the model is shown and what the client displays.
type ClientTool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	Intent      Intent
	// RequiresResponse waits for the client's answer, for Timeout at most;
	// without it, DefaultResult is returned at once.
	RequiresResponse bool
	Timeout          time.Duration // [DefaultTimeout] when zero; to the millisecond.
	DefaultResult    json.RawMessage
}

// Definition returns the whole definition of the tool.
func (c ClientTool) Definition() Definition {
	return Definition{
		Name: c.Name, Description: c.Description, InputSchema: c.InputSchema, Implementation: Client,
		Execution:   Execution{TimeoutSeconds: c.Timeout.Round(time.Millisecond).Seconds()},
		Interaction: Interaction{Intent: c.Intent, RequiresResponse: c.RequiresResponse, DefaultResult: c.DefaultResult},
	}
}
