package reconcile

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Reason says why something is closed. Reasons are written into events and
// metrics; they are added to and never renamed.
type Reason string

// Reasons.
const (
	NeverStarted       Reason = "never_started"       // The run was recorded; its workflow was never started.
	WorkflowMissing    Reason = "workflow_missing"    // Temporal does not know the workflow any more.
	WorkflowTerminated Reason = "workflow_terminated" // By a person or program.
	WorkflowTimedOut   Reason = "workflow_timed_out"
	WorkflowFailed     Reason = "workflow_failed"
	WorkflowCancelled  Reason = "workflow_cancelled"
	WorkflowCompleted  Reason = "workflow_completed" // The end that it recorded is lost.
	RunMissing         Reason = "run_missing"        // The workflow is open; its run is not in the database.
)

// Reasons lists all reasons.
func Reasons() []Reason {
	return []Reason{
		NeverStarted, WorkflowMissing, WorkflowTerminated, WorkflowTimedOut, WorkflowFailed, WorkflowCancelled,
		WorkflowCompleted, RunMissing,
	}
}

// Subject is what a finding is about.
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

// Finding is one thing that has ended without saying so.
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
	Status     string `json:"status"`        // What it becomes.
	Message    string `json:"message"`
	// Closed reports whether this reconciler closed it: false in a dry run, and
	// where it changed or another was faster.
	Closed bool `json:"closed"`
}

// Report is what a pass found and did.
type Report struct {
	DryRun    bool          `json:"dry_run"`
	Runs      int           `json:"runs"`      // That are open in the record.
	Workflows int           `json:"workflows"` // That are open in Temporal.
	Findings  []Finding     `json:"findings"`
	Unknown   []UnknownCall `json:"unknown"` // Calls for people to check; only where they were asked for.
	// Partial says that there was more to look at than one pass does; the next
	// one goes on.
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
