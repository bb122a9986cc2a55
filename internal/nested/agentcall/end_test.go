package agentcall_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/nested/agentcall"
	"github.com/toolcrib/toolcrib/tool"
)

func TestEndResult(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name             string
		end              agentcall.End
		text, structured string
		isError          bool
	}{
		{
			"Completed",
			agentcall.End{
				AgentID: someID, Agent: "research", Version: "1.2.0", RunID: "r1", Status: agent.RunCompleted, Output: "Found.",
				Turns: 2, Calls: 1,
			},
			"Found.",
			`{"mode":"sync","target_agent_id":"` + someID +
				`","target_agent_slug":"research","run_id":"r1","status":"completed","output":"Found.","context":{"agent_version":"1.2.0","turns":2,"calls":1}}`,
			false,
		},
		{
			"CompletedWithoutAWord",
			agentcall.End{Agent: "research", RunID: "r1", Status: agent.RunCompleted},
			"Agent research finished without output.",
			`{"mode":"sync","target_agent_slug":"research","run_id":"r1","status":"completed","context":{"turns":0,"calls":0}}`,
			false,
		},
		{
			"Failed",
			agentcall.End{
				Agent:  "research",
				RunID:  "r1",
				Status: agent.RunFailed,
				Kind:   tool.Unavailable,
				Msg:    "the model does not answer.",
				Calls:  1,
				Output: "Wait",
			},
			"Agent research failed (unavailable): the model does not answer. Effects of its tool calls remain. " +
				"Its last output: Wait",
			`{"mode":"sync","target_agent_slug":"research","run_id":"r1","status":"failed","output":"Wait","context":{"turns":0,"calls":1},"error":{"kind":"unavailable","message":"the model does not answer."}}`,
			true,
		},
		{
			"TimedOut",
			agentcall.End{Agent: "research", RunID: "r1", Status: agent.RunCancelled, TimedOut: true},
			"Agent research did not finish in time and was stopped: the time limit passed before the run ended. " +
				"Ask for less, or continue without it.",
			`{"mode":"sync","target_agent_slug":"research","run_id":"r1","status":"timeout","context":{"turns":0,"calls":0},"error":{"kind":"timeout","message":"the time limit passed before the run ended"}}`,
			true,
		},
		{
			"Cancelled",
			agentcall.End{Agent: "research", RunID: "r1", Status: agent.RunCancelled},
			"Agent research was cancelled: the run was cancelled.",
			`{"mode":"sync","target_agent_slug":"research","run_id":"r1","status":"cancelled","context":{"turns":0,"calls":0},"error":{"kind":"cancelled","message":"the run was cancelled"}}`,
			true,
		},
		{
			"TaskThatGoesOn",
			agentcall.End{Mode: agentcall.Async, Agent: "research", RunID: "r1", Status: agent.RunPending, Task: true},
			"The task of agent research was started as run r1 and continues in the background: task_status reports its state.",
			`{"mode":"async","target_agent_slug":"research","run_id":"r1","status":"running","context":{"turns":0,"calls":0}}`,
			false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := tt.end.Result()
			require.Equal(t, []tool.Content{tool.Text(tt.text)}, got.Content)
			require.JSONEq(t, tt.structured, string(got.Structured))
			require.Equal(t, tt.isError, got.IsError)
		})
	}
}
