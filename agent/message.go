package agent

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Role is the author of a message.
type Role string

// Roles.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is an immutable entry of a transcript. User and assistant messages
// form a chain by ParentID; a tool message is attached to the assistant message
// that asked for it, at the Position of its call. A workflow that is reset
// therefore forks the chain and loses nothing.
type Message struct {
	ID        string         `json:"id"`
	ParentID  string         `json:"parent_id,omitempty"`
	RunID     string         `json:"run_id"`
	Turn      int            `json:"turn"`
	Role      Role           `json:"role"`
	Content   []tool.Content `json:"content,omitempty"`
	Calls     []Call         `json:"calls,omitempty"` // Of an assistant message.
	Position  int            `json:"position"`        // Of a tool message: which of the calls it answers.
	CallID    string         `json:"call_id,omitempty"`
	IsError   bool           `json:"is_error,omitempty"`
	Usage     *Usage         `json:"usage,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
}

// Call is a tool call as a model wrote it, unchecked.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments are as the model wrote them: JSON, or malformed JSON in a JSON
	// string.
	Arguments json.RawMessage `json:"arguments"`
	// Repaired reports, until the call is prepared, that the arguments were written in malformed
	// JSON, as a part of a text. The receipt of the call then says so.
	Repaired bool `json:"-"`
}

// Usage is what a model turn consumed.
type Usage struct {
	InputTokens  int `json:"input_tokens"` // All of them, those from a cache included.
	OutputTokens int `json:"output_tokens"`

	CachedInputTokens int `json:"cached_input_tokens,omitempty"` // Of the input: tokens read from a provider's cache.
	ReasoningTokens   int `json:"reasoning_tokens,omitempty"`    // Of the output: tokens that are not part of the answer.
}
