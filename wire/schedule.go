package wire

import (
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	// ScheduledRunWorkflow makes a run at a time of a schedule, and lasts as long as the run.
	ScheduledRunWorkflow = "toolcrib.ScheduledRun"
	// BeginScheduledActivity records a run at a time of a schedule, or why there is none.
	BeginScheduledActivity = "toolcrib.BeginScheduled"
	// ScheduledEndedActivity reads whether a run has ended.
	ScheduledEndedActivity = "toolcrib.ScheduledEnded"
)

// ScheduleID returns the id of Temporal's schedule for a schedule. The ids of the workflows that it
// starts begin with it.
func ScheduleID(tenant tool.TenantID, schedule string) string {
	return workflowID(tenant, kindSchedule, schedule)
}

// IsScheduled reports whether a workflow id is one of a schedule.
func IsScheduled(workflowID string) bool {
	w, ours := ParseWorkflowID(workflowID)
	return ours && w.What == kindSchedule
}

// ScheduledRunInput starts a workflow of a schedule.
type ScheduledRunInput struct {
	Tenant        tool.TenantID `json:"tenant_id"`
	Schedule      string        `json:"schedule_id"`
	Revision      int64         `json:"revision"`              // Of the schedule, when Temporal got it.
	MaxUnfinished int           `json:"max_unfinished"`        // Of the tenant's runs; zero for no bound.
	RunID         string        `json:"run_id,omitempty"`      // Of a run to wait for, where the workflow continues.
	WorkflowID    string        `json:"workflow_id,omitempty"` // Of that run.
}

// BeginScheduledInput asks for a run at a time of a schedule.
type BeginScheduledInput struct {
	ScheduledRunInput
	At        time.Time `json:"at"` // The time that was meant.
	TaskQueue string    `json:"task_queue"`
}

// BeginScheduledOutput is the run that was recorded. Its RunID is empty if there is none.
type BeginScheduledOutput struct {
	RunID string `json:"run_id,omitempty"`
	// WorkflowID is that of the run; empty from workers of an earlier release.
	WorkflowID string          `json:"workflow_id,omitempty"`
	Agent      string          `json:"agent,omitempty"` // Slug.
	Principal  *tool.Principal `json:"principal,omitempty"`
	Ended      bool            `json:"ended,omitempty"` // The run was recorded before, and has ended.
	Refused    *Failure        `json:"refused,omitempty"`
	Gone       bool            `json:"gone,omitempty"` // The schedule has been deleted.
}

// ScheduledEndedInput asks whether a run has ended, or, with Cancel, for its cancellation.
type ScheduledEndedInput struct {
	Tenant tool.TenantID `json:"tenant_id"`
	RunID  string        `json:"run_id"`
}

// ScheduledRunOutput is what became of a time of a schedule.
type ScheduledRunOutput struct {
	RunID   string          `json:"run_id,omitempty"`
	Status  agent.RunStatus `json:"status,omitempty"`
	Refused *Failure        `json:"refused,omitempty"`
}
