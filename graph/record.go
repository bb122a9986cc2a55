package graph

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/binding"
	"github.com/toolcrib/toolcrib/tool"
)

// Record is what is known of a node of a run, or of a body: an item, branch, iteration, or the
// whole graph. It is written once, when the node has ended, but for the items of a map, which
// begin as [Pending].
type Record struct {
	Path   string    `json:"path"`
	Node   string    `json:"node"`           // Its id; of a body that of the node around it, empty of the graph.
	Kind   flow.Kind `json:"kind,omitempty"` // Empty of a body.
	Status Status    `json:"status"`
	// Item is the item of a map that a body runs for.
	Item json.RawMessage `json:"item,omitempty"`
	// Result is the structured result, or the output of a body. Empty where a call has it.
	Result    json.RawMessage `json:"result,omitempty"`
	Text      string          `json:"text,omitempty"`
	ErrorKind tool.Kind       `json:"error_kind,omitempty"`
	Error     string          `json:"error,omitempty"`
	// State is the state, where the node set it.
	State json.RawMessage `json:"state,omitempty"`
	// Case is where a branch went.
	Case string `json:"case,omitempty"`
	// EffectID is of the call that the node made, and has its result; RunID is of its agent's run.
	EffectID string `json:"-"`
	RunID    string `json:"run_id,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	// Graph is the effect id of the graph's own call; a run may make several calls of graphs.
	Graph string `json:"-"`
	// Place is its place among the records of the graphs of a run, for pages of them.
	Place int64 `json:"-"`
	// EndedAt is when the record was written.
	EndedAt time.Time `json:"ended_at,omitzero"`
}

// Status is how a node ended.
type Status string

// Statuses of nodes.
const (
	Pending   Status = "pending"
	Completed Status = "completed"
	Failed    Status = "failed"
	Skipped   Status = "skipped"
	Cancelled Status = "cancelled"
)

// Statuses lists every status.
func Statuses() []Status { return []Status{Pending, Completed, Failed, Skipped, Cancelled} }

// fail records a failure.
func (r *Record) fail(f *flow.Failure) {
	r.Status, r.ErrorKind, r.Error = Failed, f.Kind, f.Msg
	if f.Kind == tool.Cancelled {
		r.Status = Cancelled
	}
}

// seen is the part of a node that references lead to. The text of one that failed without an
// answer is why.
type seen struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Text    string          `json:"text"`
	IsError bool            `json:"is_error"`
	Status  Status          `json:"status,omitempty"` // Not of steps.
	Error   *problem        `json:"error,omitempty"`
}

type problem struct {
	Node    string    `json:"node,omitempty"`
	Kind    tool.Kind `json:"kind,omitempty"`
	Message string    `json:"message"`
}

func (r *Record) seen(status Status) (json.RawMessage, error) {
	s := seen{
		Result: r.Result, Text: cmp.Or(r.Text, r.Error), Status: status, IsError: r.Status == Failed || r.Status == Cancelled,
	}
	if s.IsError && !r.saidNo() {
		s.Error = &problem{Kind: r.ErrorKind, Message: r.Error}
	}
	return binding.Marshal(s)
}

// value returns what the node contributes as a result: the structured one, else the text.
func (r *Record) value() json.RawMessage {
	switch {
	case r == nil || r.Status != Completed && !r.saidNo():
		return json.RawMessage("null")
	case len(r.Result) > 0:
		return r.Result
	case r.Text == "":
		return json.RawMessage("null")
	}
	text, err := binding.Marshal(r.Text)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}
