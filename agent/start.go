package agent

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Start is a request to start a workflow. It is recorded together with the run
// that the workflow executes, and kept until Temporal confirms the workflow: an
// outbox.
type Start struct {
	Tenant     tool.TenantID
	WorkflowID string // Unique within the tenant; a second start with it is a no-op.
	RunID      string // The run that the workflow executes. Empty for a workflow without one.
	Workflow   string // Workflow type.
	TaskQueue  string
	Summary    string            // Shown beside the workflow id in the Temporal UI.
	Memo       map[string]string // Kept with the execution.
	Agent      string            // Slug, for the search attribute. Empty for none.
	Input      json.RawMessage   // The only argument of the workflow.

	// Attempts counts the claims of the start. It is the fence: only the attempt
	// that claimed the start last may postpone it, or end its run.
	Attempts  int
	LastError string    // Why the last attempt did not start the workflow.
	RunStatus RunStatus // Of the run, when the start was read. Empty without a run.
	CreatedAt time.Time
}

// StartKey names a start.
type StartKey struct {
	Tenant     tool.TenantID `json:"t"`
	WorkflowID string        `json:"w"`
}

// Acceptance is a run to be recorded together with the start of its workflow.
type Acceptance struct {
	Run   Run
	First *Message // The first message of an agent's run. Nil for a call.
	// Before are the messages of the run that Run continues, up to the one that First
	// answers. They are copied.
	Before []Message
	// TakeInbox gives the run what is in the inbox of the one that it continues.
	TakeInbox bool
	Start     Start
	// MaxUnfinished bounds the pending and running runs of the tenant. Zero for
	// no bound.
	MaxUnfinished int
	// Lease is how long the start belongs to the caller, which makes the first
	// attempt. After it any process may claim the start.
	Lease time.Duration
}

// StartBacklog counts the starts that Temporal has not confirmed, over all tenants.
type StartBacklog struct {
	Count   int     `json:"count"`
	OldestS float64 `json:"oldest_s"` // Age of the oldest, in seconds.
}
