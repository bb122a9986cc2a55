package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

var (
	pureTwo = tool.Execution{Pure: true, ConcurrencyGroup: "reads", MaxConcurrency: 2}
	write   = tool.Execution{}
)

// Five pure calls, a write, two pure ones: at most the group's limit at once,
// and the write alone, after the five and before the two.
func TestParallelSafeKeepsTheWriteAlone(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = agent.Plan{ToolMode: agent.ParallelSafe, Tools: []agent.Pin{pinOf("read", pureTwo), pinOf("write", write)}}
	s.turns = [][]agent.PreparedCall{{
		callOf("c0", "read"), callOf("c1", "read"), callOf("c2", "read"), callOf("c3", "read"), callOf("c4", "read"),
		callOf("w", "write"), callOf("c5", "read"), callOf("c6", "read"),
	}}
	s.startRun()
	requireDone(t, s.env)
	require.NoError(t, s.env.GetWorkflowError())

	require.Equal(t, 2, s.peak["reads"])
	from := slices.Index(s.log, "start w")
	require.Equal(t, "end w", s.log[from+1], "something ran beside the write: %v", s.log)
	for _, id := range []string{"c0", "c1", "c2", "c3", "c4"} {
		require.Less(t, slices.Index(s.log, "end "+id), from)
	}
	for _, id := range []string{"c5", "c6"} {
		require.Greater(t, slices.Index(s.log, "start "+id), from)
	}
	var out wire.AgentRunOutput
	require.NoError(t, s.env.GetWorkflowResult(&out))
	require.Equal(
		t,
		wire.AgentRunOutput{RunID: "r1", Status: agent.RunCompleted, Turns: 2, Calls: 8, Head: "m2", Answer: "done"},
		out,
	)
}

func TestSequentialRunsOneAtATime(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = agent.Plan{ToolMode: agent.Sequential, Tools: []agent.Pin{pinOf("read", pureTwo)}}
	s.turns = [][]agent.PreparedCall{{callOf("a", "read"), callOf("b", "read"), callOf("c", "read")}}
	s.startRun()
	requireDone(t, s.env)
	require.NoError(t, s.env.GetWorkflowError())
	require.Equal(t, []string{"turn 1", "start a", "end a", "start b", "end b", "start c", "end c", "turn 2"}, s.log)
}

// A refused call is nobody's barrier, takes no permit, and is not invoked.
func TestRefusedCallsDoNotRun(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = agent.Plan{ToolMode: agent.ParallelSafe, Tools: []agent.Pin{pinOf("read", pureTwo)}}
	refused := agent.PreparedCall{
		CallIdentity: tool.CallIdentity{CallID: "x"},
		Name:         "nope",
		Settled:      true,
		Refused:      &agent.Refusal{Kind: tool.NotFound, Msg: "no"},
	}
	s.turns = [][]agent.PreparedCall{{callOf("a", "read"), refused, callOf("b", "read")}}
	s.startRun()
	requireDone(t, s.env)
	require.NoError(t, s.env.GetWorkflowError())
	require.Equal(t, 2, s.peak["reads"], "the refused call stood between the two")
	require.Len(t, s.invoked, 2)
	require.Empty(t, s.settled)
}

// A call that fails is an answer to the model; the run goes on. One that its
// Invoke did not settle is settled by the workflow.
func TestFailedCallsDoNotEndTheRun(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = agent.Plan{Tools: []agent.Pin{pinOf("read", tool.Execution{Pure: true, MaxAttempts: 2})}}
	s.turns = [][]agent.PreparedCall{{callOf("settled", "read")}, {callOf("open", "read")}}
	s.invoke = func(_ context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
		if in.CallID == "settled" {
			return wire.InvokeOutput{}, settledError(tool.Denied)
		}
		return wire.InvokeOutput{}, failure.Encode(&tool.Error{Kind: tool.Unavailable, Msg: "down"})
	}
	s.startRun()
	requireDone(t, s.env)
	require.NoError(t, s.env.GetWorkflowError())
	require.Len(t, s.settled, 1)
	require.Equal(t, "open", s.settled[0].Invoke.CallID)
	require.Equal(t, tool.StatusFailed, s.settled[0].Status)
	require.Equal(t, tool.Unavailable, s.settled[0].Kind)
	require.Len(t, s.invoked, 3, "one settled, one tried twice")
}

// Only a call that must not be repeated has an Admit of its own, and a refused
// admission is settled without an Invoke.
func TestAdmission(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = agent.Plan{Tools: []agent.Pin{
		pinOf("pure", tool.Execution{Pure: true}), pinOf("idempotent", tool.Execution{Idempotent: true}),
		pinOf("write", write),
	}}
	s.turns = [][]agent.PreparedCall{
		{callOf("p", "pure"), callOf("i", "idempotent"), callOf("w", "write"), callOf("no", "write")},
	}
	var admitted []string
	s.admit = func(in wire.InvokeInput) (wire.AdmitOutput, error) {
		admitted = append(admitted, in.CallID)
		if in.CallID == "no" {
			return wire.AdmitOutput{}, failure.Encode(&tool.Error{Kind: tool.Conflict, Msg: "the tool was disabled"})
		}
		return wire.AdmitOutput{Fence: 7, Egress: tool.EgressNone}, nil
	}
	s.startRun()
	requireDone(t, s.env)
	require.NoError(t, s.env.GetWorkflowError())
	require.Equal(t, []string{"w", "no"}, admitted)
	require.Len(t, s.invoked, 3)
	require.EqualValues(t, 7, s.invoked[2].Fence)
	require.Len(t, s.settled, 1)
	require.Equal(t, tool.Conflict, s.settled[0].Kind)
}

// Cancelling a run ends every call of the turn in a status, those included
// that never began, and the run as cancelled.
func TestCancelSettlesEveryCall(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = agent.Plan{Tools: []agent.Pin{pinOf("read", tool.Execution{Pure: true, TimeoutSeconds: 60})}}
	s.turns = [][]agent.PreparedCall{{callOf("a", "read"), callOf("b", "read")}}
	s.invoke = func(ctx context.Context, _ wire.InvokeInput) (wire.InvokeOutput, error) {
		<-ctx.Done()
		return wire.InvokeOutput{}, settledError(tool.Cancelled)
	}
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Second)
	s.startRun()
	requireDone(t, s.env)
	require.True(t, temporal.IsCanceledError(s.env.GetWorkflowError()), "%v", s.env.GetWorkflowError())
	require.Equal(t, []agent.RunStatus{agent.RunCancelled}, []agent.RunStatus{s.finished[0].Status})
	var ids []string
	for _, in := range s.settled {
		require.Equal(t, tool.StatusCancelled, in.Status)
		ids = append(ids, in.Invoke.CallID)
	}
	require.Contains(t, ids, "b")
}

func TestLimits(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name   string
		limits agent.Limits
		slow   bool
		want   string
	}{
		{"Turns", agent.Limits{MaxTurns: 2}, false, "2 turns"},
		{"Calls", agent.Limits{MaxCalls: 1}, false, "1 tool calls"},
		{"Time", agent.Limits{TimeoutSeconds: 1}, true, "its time of 1s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			s.plan = agent.Plan{
				Limits: tt.limits, Tools: []agent.Pin{pinOf("read", tool.Execution{Pure: true, TimeoutSeconds: 60})},
			}
			s.turns = [][]agent.PreparedCall{{callOf("a", "read")}, {callOf("b", "read")}, {callOf("c", "read")}}
			if tt.slow {
				s.invoke = func(ctx context.Context, _ wire.InvokeInput) (wire.InvokeOutput, error) {
					<-ctx.Done()
					return wire.InvokeOutput{}, settledError(tool.Cancelled)
				}
			}
			s.startRun()
			requireDone(t, s.env)
			err := failure.Decode(s.env.GetWorkflowError())
			kind := tool.Denied
			if tt.slow {
				kind = tool.Timeout
			}
			require.Equal(t, kind, tool.KindOf(err), "%v", err)
			require.Contains(t, err.Error(), tt.want)
			require.Equal(t, agent.RunFailed, s.finished[0].Status)
		})
	}
}

// A run continues as new between turns, and carries counts and references on.
func TestContinueAsNew(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.env.SetContinueAsNewSuggested(true)
	s.plan = agent.Plan{
		AgentID: "a1", Limits: agent.Limits{}.WithDefaults(), Tools: []agent.Pin{pinOf("read", tool.Execution{Pure: true})},
	}
	s.turns = [][]agent.PreparedCall{{callOf("a", "read")}}
	s.startRun()
	requireDone(t, s.env)
	var next *workflow.ContinueAsNewError
	require.ErrorAs(t, s.env.GetWorkflowError(), &next)
	require.Equal(t, wire.AgentRunWorkflow, next.WorkflowType.Name)
	require.Empty(t, s.finished, "the run is not over")
}

// An agent raises the group of a tool that leaves its limit at the default, and
// twelve pure calls run eight at a time.
func TestAgentRaisesAGroup(t *testing.T) {
	t.Parallel()

	for asked, peak := range map[int]int{0: 1, 8: 8} {
		s := newStage(t)
		s.plan = agent.Plan{ToolMode: agent.ParallelSafe, Tools: []agent.Pin{pinOf("read", tool.Execution{Pure: true})}}
		if asked > 0 {
			s.plan.MaxConcurrency = map[string]int{tool.DefaultConcurrencyGroup: asked}
		}
		var calls []agent.PreparedCall
		for i := range 12 {
			calls = append(calls, callOf(fmt.Sprintf("c%d", i), "read"))
		}
		s.turns = [][]agent.PreparedCall{calls}
		s.startRun()
		requireDone(t, s.env)
		require.NoError(t, s.env.GetWorkflowError())
		require.Len(t, s.invoked, 12)
		require.Equal(t, peak, s.peak[tool.DefaultConcurrencyGroup])
	}
}
