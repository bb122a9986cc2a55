package agent

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Agent is a named agent of a tenant: its draft head and its state.
type Agent struct {
	ID     string        `json:"id"`
	Tenant tool.TenantID `json:"tenant_id"`
	Slug   string        `json:"slug"`
	Definition
	Status      tool.Status `json:"status"`
	Version     string      `json:"version"` // Number of the head, semver.
	Revision    int64       `json:"revision"`
	PublishedAt *time.Time  `json:"published_at,omitempty"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
	// Assigned are the ids of tools that are assigned to it beside its definition. Only what is read
	// for a plan has them.
	Assigned []string `json:"-"`
}

// Definition is the content of an agent; a version pins it by digest.
type Definition struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	Instructions string          `json:"instructions"` // The system prompt.
	Model        string          `json:"model"`        // "provider/name", such as "scripted/support-desk".
	ModelOptions json.RawMessage `json:"model_options,omitempty"`
	// FallbackModels are asked in order where Model, or the one before, is unavailable.
	FallbackModels []FallbackModel `json:"fallback_models,omitempty"`
	Tools          []tool.Ref      `json:"tools"`
	ToolMode       ToolMode        `json:"tool_mode,omitempty"` // Sequential when empty.
	Limits         Limits          `json:"limits"`
	// MaxConcurrency limits, by concurrency group, the pure calls that a run
	// has in flight at once. It applies within the limits of the group's tools,
	// and replaces the default where the tools set none.
	MaxConcurrency map[string]int `json:"max_concurrency,omitempty"`
	// OnUnavailableTool is the handling of a tool of the agent that cannot be
	// used when a run begins. OmitTool when empty.
	OnUnavailableTool UnavailablePolicy `json:"on_unavailable_tool,omitempty"`
	// OutputSchema is a JSON Schema that the final answer of a run matches, as JSON; empty for a
	// text. What differs in form only is repaired; for other answers the model is asked again,
	// and a run whose model gives none that matches fails with tool.Invalid.
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	// TextToolCalls is the treatment of tool calls that the model writes in its text. Empty: they
	// are text.
	TextToolCalls TextToolCalls `json:"text_tool_calls,omitempty"`
	// Spaces are the slugs of the spaces that the agent may enter where it is a member, or
	// [AllSpaces]. Empty: it works outside of spaces.
	Spaces []string `json:"spaces,omitempty"`
	// ToolGroups are groups of tools that the agent has beside Tools; see [UserFacing].
	ToolGroups []string `json:"tool_groups,omitempty"`
	// Skills are named instructions that tools of type prompt in mode skill can
	// run the agent with.
	Skills map[string]Skill `json:"skills,omitempty"`
}

// FallbackModel is a model that is asked where another one is unavailable.
type FallbackModel struct {
	Model        string          `json:"model"`                   // "provider/name".
	ModelOptions json.RawMessage `json:"model_options,omitempty"` // Its own: none of the first model's apply.
}

// MaxFallbackModels bounds the fallback models of an agent.
const MaxFallbackModels = 4

// Skill is a named way of working that an agent declares.
type Skill struct {
	Description  string `json:"description,omitempty"`
	Instructions string `json:"instructions"` // Precede the message to the agent.
}

// Digest returns the sha256, in hexadecimal, of the definition's canonical JSON.
func (d Definition) Digest() (string, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return "", err
	}
	return tool.Digest(raw)
}

// Version is an immutable snapshot of an agent under a number.
type Version struct {
	ID          string        `json:"id"`
	AgentID     string        `json:"agent_id"`
	Tenant      tool.TenantID `json:"tenant_id"`
	Slug        string        `json:"slug"`
	Number      string        `json:"version"`
	Digest      string        `json:"digest"`
	Published   bool          `json:"published"`
	Snapshot    Definition    `json:"snapshot"`
	PublishedAt *time.Time    `json:"published_at,omitempty"`
	CreatedAt   time.Time     `json:"created_at"`
}

// ToolMode is how the calls of one turn are scheduled.
type ToolMode string

// Tool modes. In both, output stands in call order.
const (
	Sequential   ToolMode = "sequential"    // One after the other.
	ParallelSafe ToolMode = "parallel_safe" // Runs of pure calls at once, everything else alone.
)

// TextToolCalls is the treatment of tool calls that a model writes in the text of its answer.
type TextToolCalls string

// Treatments of tool calls in a text. In both, an answer with native calls is not searched.
const (
	TextToolCallsFallback TextToolCalls = "fallback" // Tools are offered natively.
	TextToolCallsOnly     TextToolCalls = "only"     // Tools are described in the instructions; none is offered natively.
)

// TextToolCallsList lists every treatment.
func TextToolCallsList() []TextToolCalls {
	return []TextToolCalls{TextToolCallsFallback, TextToolCallsOnly}
}

// UnavailablePolicy is the handling of a tool of an agent that cannot be used
// when a run begins, for example because it is disabled or has no version that
// meets the agent's constraint.
type UnavailablePolicy string

// Policies for tools that cannot be used.
const (
	OmitTool  UnavailablePolicy = "omit"   // The run begins without the tool and with an event tool.warning.
	RefuseRun UnavailablePolicy = "refuse" // The run is refused before it is accepted.
)

// UnavailablePolicies lists every policy; the first is the default.
func UnavailablePolicies() []UnavailablePolicy { return []UnavailablePolicy{OmitTool, RefuseRun} }

// Limits bounds a run. A zero field takes its default.
type Limits struct {
	MaxTurns        int `json:"max_turns,omitempty"`          // Model turns; default 20.
	MaxCalls        int `json:"max_calls,omitempty"`          // Tool calls in all; default 100.
	MaxCallsPerTurn int `json:"max_calls_per_turn,omitempty"` // Default 32.
	TimeoutSeconds  int `json:"timeout_s,omitempty"`          // Wall clock of the run; default 3600.
}

// Defaults of [Limits].
const (
	DefaultMaxTurns        = 20
	DefaultMaxCalls        = 100
	DefaultMaxCallsPerTurn = 32
	DefaultRunTimeout      = time.Hour
)

// WithDefaults returns l with every zero field set to its default.
func (l Limits) WithDefaults() Limits {
	if l.MaxTurns <= 0 {
		l.MaxTurns = DefaultMaxTurns
	}
	if l.MaxCalls <= 0 {
		l.MaxCalls = DefaultMaxCalls
	}
	if l.MaxCallsPerTurn <= 0 {
		l.MaxCallsPerTurn = DefaultMaxCallsPerTurn
	}
	if l.TimeoutSeconds <= 0 {
		l.TimeoutSeconds = int(DefaultRunTimeout / time.Second)
	}
	return l
}
