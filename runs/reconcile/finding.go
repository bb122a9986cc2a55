package reconcile

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Reason is why something is closed. Reasons are written into events and metrics: never rename one.
type Reason string

// Reasons.
const (
	NeverStarted       Reason = "never_started"       // The run was recorded; its workflow was never started.
	WorkflowMissing    Reason = "workflow_missing"    // The workflow is no longer in Temporal.
	WorkflowTerminated Reason = "workflow_terminated" // By a person or program.
	WorkflowTimedOut   Reason = "workflow_timed_out"
	WorkflowFailed     Reason = "workflow_failed"
	WorkflowCancelled  Reason = "workflow_cancelled"
	WorkflowCompleted  Reason = "workflow_completed" // Its recorded end is lost.
	RunMissing         Reason = "run_missing"        // The workflow is open; its run is not in the database.
)

// Reasons lists all reasons.
func Reasons() []Reason {
	return []Reason{
		NeverStarted, WorkflowMissing, WorkflowTerminated, WorkflowTimedOut, WorkflowFailed, WorkflowCancelled,
		WorkflowCompleted, RunMissing,
	}
}

// Subject is the kind of a finding.
type Subject string

// Subjects.
const (
	RunSubject        Subject = "run"
	CallSubject       Subject = "call"
	WorkflowSubject   Subject = "workflow"
	DocumentSubject   Subject = "document"
	GenerationSubject Subject = "generation" // Of a pipeline's embeddings.
)

// Subjects lists all subjects.
func Subjects() []Subject {
	return []Subject{RunSubject, CallSubject, WorkflowSubject, DocumentSubject, GenerationSubject}
}

// Finding is something whose workflow has ended without recording it.
type Finding struct {
	Subject Subject       `json:"subject"`
	Tenant  tool.TenantID `json:"tenant_id"`
	// Of the subject: a workflow's own id, a pipeline's for a generation.
	ID         string `json:"id"`
	RunID      string `json:"run_id,omitempty"` // Of a call.
	Tool       string `json:"tool,omitempty"`   // Of a call: slug@version.
	WorkflowID string `json:"workflow_id,omitempty"`
	Reason     Reason `json:"reason"`
	Was        string `json:"was,omitempty"` // Its status.
	Status     string `json:"status"`        // Its new status.
	Message    string `json:"message"`
	// Closed reports whether this reconciler closed it: false in a dry run, and if it
	// changed or another process closed it first.
	Closed bool `json:"closed"`
}

// Report is the result of a pass.
type Report struct {
	DryRun    bool          `json:"dry_run"`
	Runs      int           `json:"runs"`      // Open in the database.
	Workflows int           `json:"workflows"` // Open in Temporal.
	Findings  []Finding     `json:"findings"`
	Unknown   []UnknownCall `json:"unknown"` // Calls for people to check; only if requested.
	// Partial means that the pass reached a limit; the next one continues.
	Partial bool          `json:"partial"`
	Took    time.Duration `json:"took_ns"`
}

// Closed returns how many findings were closed.
func (r Report) Closed() int {
	n := 0
	for _, f := range r.Findings {
		if f.Closed {
			n++
		}
	}
	return n
}
