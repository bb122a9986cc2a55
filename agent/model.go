package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Model answers a transcript with text, tool calls, or both.
//
// Generate fails with a tool.Error whose kind says whether a retry could help;
// it must not retry by itself. Implementations are safe for concurrent use.
type Model interface {
	Generate(ctx context.Context, req *ModelRequest) (*ModelResponse, error)
}

// LocalModel is a [Model] that may answer within the process: where Local is
// true, its requests do not leave the process.
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

// ModelRequest is one turn to send to a model.
type ModelRequest struct {
	Model        string          // The agent's model name without the provider.
	Options      json.RawMessage // The agent's model options; may be empty.
	Instructions string
	Messages     []Message // In order; tool messages follow the message that made the calls. Shared: never change them.
	Tools        []ToolSpec
	// ProviderTools are the tools that the model's provider runs by itself. A
	// model that does not support them ignores them.
	ProviderTools []ProviderTool
	Turn          int // Counted from 1.

	Tenant tool.TenantID // The tenant of the run; a model may have a key for each tenant.
	// Patience is how long the request may wait before it is sent where the provider's rate limits
	// are used up. Zero leaves it to the model.
	Patience time.Duration
	// Stream, unless nil, receives the answer as it is generated. It does not block,
	// and must not be called after Generate has returned, nor concurrently. Deltas are
	// for display only: the response contains the whole answer.
	Stream func(Delta)
}

// Delta is the next piece of an answer that is still being generated.
type Delta struct {
	Text string
}

// ToolSpec is a tool as it is described to a model.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
	// Options are those of the tool's definition; nil for none.
	Options *ToolOptions `json:"-"`
}

// OmittedTool is a tool that a model was not offered, with the reason.
type OmittedTool struct {
	Name   string
	Reason string
}

// ModelResponse is a model's answer. One without calls ends the run.
type ModelResponse struct {
	Text  string
	Calls []Call
	Usage Usage
	// Content is the answer's text in order with the provider's own tool blocks, see
	// [ProviderBlock]; empty if there is only Text.
	Content []tool.Content
	// Omitted are tools of the request that the model was not offered, since its provider has no
	// form for their schemas. The others were.
	Omitted []OmittedTool
	// Waited is how long the request waited for the provider's rate limits before it was sent.
	Waited time.Duration
	// Truncated reports that the answer was cut off, for example by a token
	// limit. Its last call must not be executed.
	Truncated bool
}
