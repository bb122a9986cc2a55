package agent

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// RunKind is the kind of workflow that a run records.
type RunKind string

// Kinds of run.
const (
	RunKindAgent    RunKind = "agent"     // An agent loop.
	RunKindToolCall RunKind = "tool_call" // One tool call.
	RunKindToolTest RunKind = "tool_test" // One tool call, made to test the tool.
	RunKindHost     RunKind = "host"      // A workflow of the host that executes tools.
)

// RunStatus is the stage of a run in its life cycle.
type RunStatus string

// Statuses of a run.
const (
	RunPending   RunStatus = "pending" // Recorded; its workflow has not begun.
	RunRunning   RunStatus = "running"
	RunCompleted RunStatus = "completed"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
	RunHosted    RunStatus = "hosted" // A host's workflow, whose state only Temporal knows.
)

// Final reports whether a run with this status has ended. Only a reset of its workflow resumes it.
func (s RunStatus) Final() bool {
	return s == RunCompleted || s == RunFailed || s == RunCancelled
}

// Run is the record of one durable execution.
type Run struct {
	ID            string          `json:"id"`
	Tenant        tool.TenantID   `json:"tenant_id"`
	Kind          RunKind         `json:"kind"`
	AgentID       string          `json:"agent_id,omitempty"`
	Agent         string          `json:"agent,omitempty"`         // Slug.
	AgentVersion  string          `json:"agent_version,omitempty"` // Pinned number.
	Tool          string          `json:"tool,omitempty"`          // Slug of the tool of a single call.
	Mode          tool.Mode       `json:"mode"`
	Principal     tool.Principal  `json:"principal"`
	Status        RunStatus       `json:"status"`
	Input         json.RawMessage `json:"input,omitempty"`
	Output        string          `json:"output,omitempty"` // The agent's last message.
	ErrorKind     tool.Kind       `json:"error_kind,omitempty"`
	Error         string          `json:"error,omitempty"`
	WorkflowID    string          `json:"workflow_id"`
	FirstRunID    string          `json:"first_run_id,omitempty"` // Temporal's run id of the first execution of the chain.
	HeadMessageID string          `json:"head_message_id,omitempty"`
	Turns         int             `json:"turns"`
	LastSeq       int64           `json:"last_seq"`
	Plan          *Plan           `json:"plan,omitempty"`
	Parent        *Parent         `json:"parent,omitempty"` // Set for a nested agent run: the call that started it.
	Continues     *Continued      `json:"continues,omitempty"`
	Depth         int             `json:"depth,omitempty"` // Number of ancestor runs.
	Calls         int             `json:"calls,omitempty"` // Calls made by it and its nested runs; set when it has ended.
	CreatedAt     time.Time       `json:"created_at"`
	StartedAt     *time.Time      `json:"started_at,omitempty"`
	CompletedAt   *time.Time      `json:"completed_at,omitempty"`

	// FollowFor is how long a newly accepted run is expected to have a follower
	// of its output, from its start. It is not stored with the run.
	FollowFor time.Duration `json:"-"`

	// CancelExecution is Temporal's run id of the execution whose cancellation was
	// requested last. Empty if none was.
	CancelExecution string `json:"-"`

	// Paused is set while the run is paused, or was when it ended.
	Paused *Pause `json:"paused,omitempty"`
	// ByLink says of a single call that a visitor of a link submitted it. Its own calls are made as others are: who
	// published the tool decided that. Runs of agents below it are tainted, and so is who reads what it says in a space.
	ByLink bool `json:"by_link,omitempty"`
	// Taint is set where the run got a result of an untrusted source.
	Taint *tool.Taint `json:"taint,omitempty"`
	// PauseRound is zero for a run that was never paused.
	PauseRound PauseRound `json:"-"`

	// EndedBy is Temporal's run id of the execution that reported the end, or
	// "reconciler". Empty where the platform ended the run on its own.
	EndedBy string `json:"ended_by,omitempty"`
}

// EndedUnbegun reports whether the platform ended the run before its workflow
// began: it was cancelled, or permanently refused. The workflow then executes
// nothing, even if it starts later. A run that the reconciler closed as never
// started is different: it begins when its workflow does.
func (r *Run) EndedUnbegun() bool {
	return r.Status.Final() && r.StartedAt == nil && r.EndedBy == ""
}

// EndError returns the recorded end of a run that ended unbegun, as the error that
// its workflow fails with. It is never retried.
func (r *Run) EndError() *tool.Error {
	e := &tool.Error{Kind: tool.Conflict, Op: "agent.Run", Msg: r.Error}
	if r.Status == RunCancelled {
		e.Kind = tool.Cancelled
	}
	return e
}

// Parent is the call that a run answers.
type Parent struct {
	RunID        string `json:"run_id"`
	InvocationID string `json:"invocation_id"`
	// Detached runs return nothing to their caller: their call ended when they
	// began.
	Detached bool `json:"detached,omitempty"`
}

// Continued is the run whose transcript another one takes over.
type Continued struct {
	RunID string `json:"run_id"`
	Turn  int    `json:"turn"` // The last turn that is taken over.
}

// MaxDepth is the maximum nesting of agent runs: five levels below the first.
const MaxDepth = 5

// Ancestor is an ancestor of a run.
type Ancestor struct {
	RunID   string
	AgentID string // Empty for a run without an agent.
	Agent   string
	// Detached runs are tasks: they continue in the background.
	Detached bool
}

// EndedByReconciler is the value of EndedBy for a run that the reconciler closed because its workflow
// was over and had not recorded its end. An execution's own report replaces such an end.
const EndedByReconciler = "reconciler"

// Events of a run; see the tool package for those of a call.
const (
	EventRunStarted   tool.EventType = "run.started"
	EventRunCompleted tool.EventType = "run.completed"
	EventRunFailed    tool.EventType = "run.failed"
	EventRunCancelled tool.EventType = "run.cancelled"
	EventRunTainted   tool.EventType = "run.tainted"      // It got its first result of an untrusted source.
	EventTurn         tool.EventType = "agent.turn"       // The model answered.
	EventNodeEnded    tool.EventType = "graph.node_ended" // Of a graph.
)

// EndStatus returns the status of a run that failed with kind.
func EndStatus(kind tool.Kind) RunStatus {
	if kind == tool.Cancelled {
		return RunCancelled
	}
	return RunFailed
}
