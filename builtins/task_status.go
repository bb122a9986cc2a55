package builtins

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Runs finds the runs of a tenant. Package store implements it.
type Runs interface {
	FindRun(ctx context.Context, tenant tool.TenantID, id string) (agent.Run, error)
}

const taskStatusInputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["task_id"],
  "properties": {
    "task_id": {"type": "string", "minLength": 36, "maxLength": 36, "description": "The run_id that the tool which began the task answered."}
  }
}`

const taskStatusOutputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["task_id", "status", "created_at"],
  "properties": {
    "task_id": {"type": "string"},
    "agent": {"type": "string", "description": "The agent that does the task."},
    "status": {"type": "string", "enum": ["pending", "running", "completed", "failed", "cancelled"]},
    "output": {"type": "string", "description": "What the agent said last, once the task is completed."},
    "error": {"type": "string", "description": "Why it failed."},
    "created_at": {"type": "string", "format": "date-time"},
    "completed_at": {"type": "string", "format": "date-time"}
  }
}`

type taskStatusInput struct {
	TaskID string `json:"task_id"`
}

type taskStatusOutput struct {
	TaskID      string          `json:"task_id"`
	Agent       string          `json:"agent,omitempty"`
	Status      agent.RunStatus `json:"status"`
	Output      string          `json:"output,omitempty"`
	Error       string          `json:"error,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
	CompletedAt *time.Time      `json:"completed_at,omitempty"`
}

// taskStatus returns the status of a task that a tool of type task started in the caller's
// tenant (reference number S0-47). Other runs are not found, since not every caller may read
// them.
func taskStatus(runs Runs) Builtin {
	return Builtin{
		Untrusted: true,
		Spec: Spec{
			Key: "task_status", Version: "1.0.1",
			Definition: tool.Definition{
				Name: "Task status",
				Description: "Says how a task stands that was begun before: whether it is running, what it came to, or why it " +
					"failed. Use it with the run_id that the tool which began it answered, when you need the " +
					"outcome; do not ask again and again, and do not begin the task anew.",
				Category:       "task",
				InputSchema:    json.RawMessage(taskStatusInputSchema),
				OutputSchema:   json.RawMessage(taskStatusOutputSchema),
				Implementation: tool.Internal,
				Execution: tool.Execution{
					Pure: true, MaxConcurrency: tool.ReadConcurrency, ConcurrencyGroup: "task_status", TimeoutSeconds: 5,
				},
			},
			Policy: tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
		},
		Run: func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			var in taskStatusInput
			if err := decodeArguments(call.Arguments, &in); err != nil {
				return nil, err
			}
			run, err := runs.FindRun(ctx, call.Principal.Tenant, in.TaskID)
			if tool.KindOf(err) == tool.NotFound || err == nil && (run.Parent == nil || !run.Parent.Detached) {
				return tool.ErrorResult("there is no task " + in.TaskID), nil
			}
			if err != nil {
				return nil, fmt.Errorf("finding the task: %w", err)
			}
			raw, err := json.Marshal(taskStatusOutput{
				TaskID: run.ID, Agent: run.Agent, Status: run.Status, Output: run.Output, Error: run.Error,
				CreatedAt: run.CreatedAt, CompletedAt: run.CompletedAt,
			})
			if err != nil {
				return nil, fmt.Errorf("encoding the answer: %w", err)
			}
			return tool.JSONResult(raw), nil
		},
	}
}
