package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Taint is the first that a run got of an untrusted source.
type Taint struct {
	Source       string    `json:"source,omitempty" enum:"link" doc:"Absent where it is the result of a call; link where it is what a visitor of a link submitted: the call that began the run, or one above it, or the answer to a call" example:"link"`
	RunID        string    `json:"run_id" doc:"The run of the call: this one, or one above, below or before it" example:"01975c2e-7d1a-7c3e-9f00-0000000000c1"`
	InvocationID string    `json:"invocation_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
	Tool         string    `json:"tool" example:"web_fetch"`
	Version      string    `json:"version" example:"1.0.1"`
	Turn         int       `json:"turn" doc:"Calls of later turns are affected; 0 where the run began tainted" example:"1"`
	At           time.Time `json:"at"`
}

// FromTaint returns t as the API shows it; nil for nil.
func FromTaint(t *tool.Taint) *Taint {
	if t == nil {
		return nil
	}
	return &Taint{
		Source: string(t.Source), RunID: t.RunID, InvocationID: t.InvocationID,
		Tool: t.Tool, Version: t.Version, Turn: t.Turn, At: t.At,
	}
}

// TaintRule is what a tenant wants done with calls of tainted runs.
type TaintRule struct {
	Taint tool.TaintRule `json:"taint" enum:"off,approve,deny" doc:"Calls of tainted runs that write outside or use a credential run as others do (off), wait for an approval, or are denied" example:"approve"`
}
