package tool

import (
	"encoding/json"
	"math"
	"time"
)

// Definition is the content of a tool: what the model is shown, what runs, and
// how it runs. A version pins a [Snapshot] of it. Fields that an executor or a
// client interprets are carried as data.
type Definition struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Category    string `json:"category,omitempty"`
	Icon        string `json:"icon,omitempty"`

	InputSchema  json.RawMessage `json:"input_schema,omitempty"`  // JSON Schema, an object at the top.
	OutputSchema json.RawMessage `json:"output_schema,omitempty"` // JSON Schema of the structured result.
	// OutputCheck is the handling of an answer that does not match
	// OutputSchema; [OutputRefuse] when empty.
	OutputCheck OutputCheck `json:"output_check,omitempty"`

	Implementation Implementation  `json:"implementation_type"`
	Config         json.RawMessage `json:"implementation_config,omitempty"` // A JSON object; its shape is the executor's.
	// Artifact is the uploaded program that runs; the registry sets it. Nil for
	// any other tool.
	Artifact *ArtifactPin `json:"artifact,omitempty"`

	Execution   Execution   `json:"execution"`
	Interaction Interaction `json:"interaction"`
}

// Execution configures the scheduling and retries of a tool's calls.
type Execution struct {
	// Pure tools have no side effects: their calls repeat and run in parallel freely.
	Pure bool `json:"is_pure,omitempty"`
	// Idempotent tools honour an idempotency key, so that a repeated call has one effect.
	Idempotent bool `json:"idempotent,omitempty"`
	// ConcurrencyGroup names the tools whose parallel calls share a limit; "default" when empty.
	ConcurrencyGroup string `json:"concurrency_group,omitempty"`
	// MaxConcurrency limits the group's parallel calls within one run; 1 when zero.
	MaxConcurrency int `json:"max_concurrency,omitempty"`
	// TenantMaxConcurrency limits the calls that run at once across all runs and workers of a
	// tenant; zero for no limit. It is that of the ConcurrencyGroup, if one is named, otherwise
	// that of the tool alone: see [Execution.SlotScope]. Attempts wait for their turn, in no
	// particular order.
	TenantMaxConcurrency int `json:"tenant_max_concurrency,omitempty"`
	// TimeoutSeconds bounds one attempt, to the millisecond; 30 when zero.
	TimeoutSeconds float64 `json:"timeout_s,omitempty"`
	// MaxAttempts bounds the attempts of a call that may be repeated; 3 when zero.
	MaxAttempts int `json:"max_attempts,omitempty"`
	// Lane is how the first attempt runs; [LaneAuto] when empty.
	Lane Lane `json:"lane,omitempty"`
	// InlineBytes is the largest result that a model is shown whole, in bytes of text and JSON;
	// [MaxInlineResult] when zero. [ReadResult] gives no larger part of a result.
	InlineBytes int `json:"inline_bytes,omitempty"`
	// Trust says whether a run that got a result is tainted: see [Taint]. The implementation type
	// decides when empty.
	Trust Trust `json:"trust,omitempty"`
}

// Defaults of [Execution].
const (
	DefaultConcurrencyGroup = "default"
	DefaultMaxConcurrency   = 1
	ReadConcurrency         = 8 // The concurrency that imports and built-ins set for pure reads.
	DefaultTimeout          = 30 * time.Second
	DefaultMaxAttempts      = 3
)

// Group returns the concurrency group, defaults applied.
func (e Execution) Group() string {
	if e.ConcurrencyGroup == "" {
		return DefaultConcurrencyGroup
	}
	return e.ConcurrencyGroup
}

// SlotScope names what TenantMaxConcurrency limits: the concurrency group, if one is named, or
// the tool of the given id. Where tools of a group have different limits, the calls of each take
// the first so many places of the group.
func (e Execution) SlotScope(toolID string) string {
	if e.ConcurrencyGroup != "" {
		return "group/" + e.ConcurrencyGroup
	}
	return "tool/" + toolID
}

// Limit returns the concurrency limit within a run, defaults applied.
func (e Execution) Limit() int {
	if e.MaxConcurrency <= 0 {
		return DefaultMaxConcurrency
	}
	return e.MaxConcurrency
}

// Timeout returns the time one attempt may take, defaults applied.
func (e Execution) Timeout() time.Duration {
	if e.TimeoutSeconds <= 0 {
		return DefaultTimeout
	}
	return time.Duration(math.Round(e.TimeoutSeconds*1000)) * time.Millisecond
}

// Attempts returns the maximum attempts of a repeatable call, defaults applied.
func (e Execution) Attempts() int {
	if e.MaxAttempts <= 0 {
		return DefaultMaxAttempts
	}
	return e.MaxAttempts
}

// Repeatable reports whether a call whose request was sent may be sent again.
func (e Execution) Repeatable() bool { return e.Pure || e.Idempotent }
