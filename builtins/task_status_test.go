package builtins_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/tool"
)

// runs are the runs of a tenant, by id.
type runs map[string]agent.Run

func (r runs) FindRun(_ context.Context, tenant tool.TenantID, id string) (agent.Run, error) {
	run, ok := r[id]
	if !ok || run.Tenant != tenant {
		return agent.Run{}, &tool.Error{Kind: tool.NotFound, Op: "test", Msg: "run not found"}
	}
	return run, nil
}

// A task's status is told to its tenant; a run that is no task is not.
func TestTaskStatus(t *testing.T) {
	t.Parallel()

	const task, plain, foreign, unknown = "01890000-0000-7000-8000-00000000000a", "01890000-0000-7000-8000-00000000000b",
		"01890000-0000-7000-8000-00000000000c", "01890000-0000-7000-8000-00000000000d"
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	detached := &agent.Parent{RunID: plain, InvocationID: unknown, Detached: true}
	known := runs{
		task: {
			ID: task, Tenant: "t", Agent: "clerk", Status: agent.RunCompleted, Output: "all done", Parent: detached,
			CreatedAt: at, CompletedAt: &at,
		},
		plain:   {ID: plain, Tenant: "t", Status: agent.RunRunning, Output: "private"},
		foreign: {ID: foreign, Tenant: "u", Status: agent.RunRunning, Parent: detached},
	}
	catalog := builtins.New(builtins.Config{Runs: known})
	ask := func(id string) *tool.Result {
		raw, err := json.Marshal(map[string]string{"task_id": id})
		require.NoError(t, err)
		executor, ok := catalog.Lookup("task_status")
		require.True(t, ok)
		result, err := executor.Execute(
			t.Context(),
			&tool.Call{
				CallIdentity: tool.CallIdentity{Principal: tool.Principal{Tenant: "t"}},
				Builtin:      "task_status",
				Arguments:    raw,
			},
		)
		require.NoError(t, err)
		return result
	}
	require.JSONEq(t, `{"task_id":"`+task+`","agent":"clerk","status":"completed","output":"all done",
		"created_at":"2026-03-01T12:00:00Z","completed_at":"2026-03-01T12:00:00Z"}`, string(ask(task).Structured))
	for _, id := range []string{plain, foreign, unknown} {
		require.True(t, ask(id).IsError, id)
		require.Contains(t, ask(id).Content[0].Text, "there is no task")
	}
}
