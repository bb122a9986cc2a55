package tool

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// Call is one request to run one version of a tool, with everything an
// executor needs and no secret: credentials are named in Config and opened by
// the executor that uses them.
type Call struct {
	CallIdentity

	Attempt     int // Counted from 1.
	Timeout     time.Duration
	Version     *Version        // The pinned version. Shared and immutable: never change it.
	Builtin     string          // Built-in key of the tool, for internal tools.
	Egress      Egress          // The class the call was admitted under.
	EgressRules EgressRules     // What the call was admitted under beside the class.
	Arguments   json.RawMessage // Validated against the version's input schema.
}

// Result is what a tool answered, refusals included: a tool that says "no"
// answers with IsError set. A platform that got no answer has an [Error]
// instead, never both.
type Result struct {
	Content    []Content       `json:"content,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"` // The JSON value checked against the output schema.
	IsError    bool            `json:"is_error,omitempty"`
	Warnings   []string        `json:"warnings,omitempty"` // For people and logs; the model is not shown them.
	// Mismatch says where Structured breaks the output schema of a tool whose
	// output check is [OutputWarn]; empty when it fits. It is for people and
	// logs, as Warnings are, and becomes an event [EventWarning].
	Mismatch string `json:"output_mismatch,omitempty"`
}

// JSONResult returns a result whose structured value and only content block is raw.
func JSONResult(raw json.RawMessage) *Result {
	return &Result{Content: []Content{JSON(raw)}, Structured: raw}
}

// ErrorResult returns the answer "no" with a text the model can act on.
func ErrorResult(text string) *Result {
	return &Result{Content: []Content{Text(text)}, IsError: true}
}

// Decode unmarshals the structured value of an answer into v. An answer without
// one is decoded from its only content block: JSON, or text into a *string. It
// fails with a [*Error]: [Conflict] where the tool said "no", with its text, and
// [InternalError] where there is nothing to decode or it does not fit v.
func (r *Result) Decode(v any) error {
	const op = "tool.Result.Decode"
	if r.IsError {
		return &Error{Kind: Conflict, Op: op, Msg: r.text(), Answered: true}
	}
	raw := r.Structured
	if len(raw) == 0 && len(r.Content) == 1 {
		if text, ok := v.(*string); ok && r.Content[0].Type == ContentText {
			*text = r.Content[0].Text
			return nil
		}
		raw = r.Content[0].JSON
	}
	if len(raw) == 0 {
		return &Error{Kind: InternalError, Op: op, Msg: "the tool answered no JSON value", Answered: true}
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return &Error{Kind: InternalError, Op: op, Msg: "the tool's answer does not fit the type", Err: err, Answered: true}
	}
	return nil
}

// text returns the text blocks of an answer, joined by spaces.
func (r *Result) text() string {
	var texts []string
	for _, c := range r.Content {
		if c.Type == ContentText && c.Text != "" {
			texts = append(texts, c.Text)
		}
	}
	if len(texts) == 0 {
		return "the tool refused"
	}
	return strings.Join(texts, " ")
}

// Executor runs calls of one implementation type.
//
// Execute returns a result when the tool answered, "no" included, and an
// [*Error] when it did not; any other error counts as [InternalError].
// It must honour ctx's deadline and cancellation, send the call's EffectID as
// idempotency key where the protocol has one, never keep or
// change the call's memory, and be safe for concurrent use. The suite executortest.Run holds
// implementations to this.
type Executor interface {
	Execute(ctx context.Context, call *Call) (*Result, error)
}

// ExecutorFunc lets a function be an [Executor].
type ExecutorFunc func(ctx context.Context, call *Call) (*Result, error)

// Execute calls f.
func (f ExecutorFunc) Execute(ctx context.Context, call *Call) (*Result, error) { return f(ctx, call) }

// Middleware wraps an executor to act around its calls.
type Middleware func(Executor) Executor

type progressKey struct{}

// ProgressFunc receives what a running call reports of itself. It must not block.
type ProgressFunc func(Progress)

// Progress is one report of a running call.
type Progress struct {
	Message string  `json:"message,omitempty"`
	Done    float64 `json:"done,omitempty"`
	Total   float64 `json:"total,omitempty"` // Zero when not known.
}

// WithProgress returns a context whose calls report to fn.
func WithProgress(ctx context.Context, fn ProgressFunc) context.Context {
	return context.WithValue(ctx, progressKey{}, fn)
}

// ReportProgress reports p to the caller that runs the call of ctx. It does
// nothing where no [ProgressFunc] is set.
func ReportProgress(ctx context.Context, p Progress) {
	if fn, ok := ctx.Value(progressKey{}).(ProgressFunc); ok {
		fn(p)
	}
}
