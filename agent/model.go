package agent

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// Model answers a transcript with text, tool calls, or both.
//
// Generate fails with a tool.Error whose kind says whether a retry could help;
// it must not retry by itself. Implementations are safe for concurrent use.
type Model interface {
	Generate(ctx context.Context, req *ModelRequest) (*ModelResponse, error)
}

// LocalModel is a [Model] that may answer within the process: where Local is true,
// what it is asked goes nowhere else.
type LocalModel interface {
	Model
	Local() bool
}

// IsLocal reports whether a model answers within the process.
func IsLocal(m Model) bool {
	local, ok := m.(LocalModel)
	return ok && local.Local()
}

// ModelFunc lets a function be a [Model].
type ModelFunc func(ctx context.Context, req *ModelRequest) (*ModelResponse, error)

// Generate calls f.
func (f ModelFunc) Generate(ctx context.Context, req *ModelRequest) (*ModelResponse, error) {
	return f(ctx, req)
}

// ModelRequest is one turn put to a model.
type ModelRequest struct {
	Model        string          // What follows the provider in the agent's model name.
	Options      json.RawMessage // The agent's model options; may be empty.
	Instructions string
	Messages     []Message // In order; tool messages follow the message that asked. Shared: never change them.
	Tools        []ToolSpec
	// ProviderTools are those that the model's provider runs by itself. A model
	// that knows none leaves them out.
	ProviderTools []ProviderTool
	Turn          int // Counted from 1.

	Tenant tool.TenantID // Whose run it is; a model may have a key for each tenant.
	// Stream, unless nil, is told of the answer as it comes. It returns at once,
	// and must not be called after Generate has returned, nor by two goroutines
	// at a time. What it was told does not count: the response says it again.
	Stream func(Delta)
}

// Delta is the next piece of an answer that is still being made.
type Delta struct {
	Text string
}

// ToolSpec is a tool as a model is told of it.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// ModelResponse is a model's answer. One without calls ends the run.
type ModelResponse struct {
	Text  string
	Calls []Call
	Usage Usage
	// Content is the answer's text again, in order with what the provider's own
	// tools did, as [ProviderBlock]; empty where there is nothing but Text.
	Content []tool.Content
	// Truncated reports that the answer was cut off, by a token limit say. Its
	// last call must not be executed.
	Truncated bool
}
