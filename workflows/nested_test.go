package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/workflows"
)

const anything = "mock.Anything" // As package mock of testify spells it.

// startAbove starts an agent run whose runs below it are answered by below.
func (s *stage) startAbove(below func(ctx workflow.Context, in wire.AgentRunInput) (wire.AgentRunOutput, error)) {
	above := func(ctx workflow.Context, in wire.AgentRunInput) (wire.AgentRunOutput, error) {
		return workflows.AgentRun(ctx, in)
	}
	s.env.RegisterWorkflowWithOptions(above, workflow.RegisterOptions{Name: "above"})
	s.env.OnWorkflow(wire.AgentRunWorkflow, anything, anything).Return(below)
	s.env.ExecuteWorkflow("above", wire.AgentRunInput{Principal: principal, RunID: "r1"})
}

// agentPin is the pin of a tool that runs an agent.
func agentPin(slug string) agent.Pin {
	pin := pinOf(slug, tool.Execution{})
	pin.Implementation = tool.AgentCall
	pin.Agent = &agent.PinnedAgent{AgentID: "agent-" + slug, Slug: slug, Version: "1.0.0", Digest: "d-" + slug}
	return pin
}

// stepsPin is the pin of a composition of the given tools.
func stepsPin(slug string, x tool.Execution, pins ...agent.Pin) agent.Pin {
	pin := pinOf(slug, x)
	pin.Implementation = tool.Composition
	pin.Graph = &agent.PinnedGraph{Shape: flow.Shape{First: pins[0].Slug, Steps: 100, Sequence: true}}
	for i, p := range pins {
		pin.Graph.Tools = append(pin.Graph.Tools, agent.StepPin{ID: p.Slug, Pin: p})
		pin.Graph.Shape.Nodes = append(pin.Graph.Shape.Nodes, flow.Node{ID: p.Slug, Kind: flow.Tool})
		if i > 0 {
			pin.Graph.Shape.Nodes[i-1].Next = p.Slug
		}
	}
	return pin
}

// opens answers an Invoke of a nested call as one that is under way.
func opens(
	next func(context.Context, wire.InvokeInput) (wire.InvokeOutput, error),
) func(context.Context, wire.InvokeInput) (wire.InvokeOutput, error) {
	return func(ctx context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
		switch {
		case in.Pin.Agent != nil:
			return wire.InvokeOutput{
				InvocationID: "open-" + in.CallID, Status: tool.StatusRunning,
				Opened: &wire.Opened{RunID: "run-" + in.CallID},
			}, nil
		case in.Pin.Sequence():
			return wire.InvokeOutput{
				InvocationID: "open-" + in.CallID, Status: tool.StatusRunning, Opened: &wire.Opened{},
			}, nil
		case next != nil:
			return next(ctx, in)
		default:
			return completed(in), nil
		}
	}
}

// gathers settles nested calls as ones that came to an answer.
func gathers(in wire.SettleInput) wire.InvokeOutput {
	return wire.InvokeOutput{InvocationID: in.Invoke.InvocationID, Status: in.Status, Kind: in.Kind, Msg: in.Msg}
}

// Calls that run agents share what is left of their run's calls, and a run that
// has none left begins no other.
func TestAgentsShareTheCallsThatAreLeft(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = agent.Plan{Tools: []agent.Pin{agentPin("ask")}, Limits: agent.Limits{MaxCalls: 7}}
	s.turns = [][]agent.PreparedCall{{callOf("a", "ask"), callOf("b", "ask")}, {callOf("c", "ask")}}
	s.invoke, s.settle = opens(nil), func(in wire.SettleInput) wire.InvokeOutput {
		out := gathers(in)
		out.Calls = 2
		return out
	}
	var given []wire.AgentRunInput
	s.startAbove(func(_ workflow.Context, in wire.AgentRunInput) (wire.AgentRunOutput, error) {
		given = append(given, in)
		return wire.AgentRunOutput{}, nil
	})
	requireDone(t, s.env)
	err := failure.Decode(s.env.GetWorkflowError())
	require.NoError(t, err)
	require.Len(t, given, 2, "the third would have none")
	for _, in := range given {
		require.Equal(t, 2, in.MaxCalls, "five are left for two")
		require.False(t, in.Deadline.IsZero())
	}
	require.Len(t, s.settled, 3)
	require.Equal(t, tool.Denied, s.settled[2].Kind)
	require.Nil(t, s.settled[2].Child)
}

// The deadline that a call gives a run below is that of its tool or of the run
// above, whichever is first.
func TestAgentsInheritTheEarlierDeadline(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		seconds float64
		want    time.Duration
	}{
		"OfTheTool": {5, 5 * time.Second},
		"OfTheRun":  {600, time.Minute},
		"Unlimited": {0, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			pin := agentPin("ask")
			pin.Execution.TimeoutSeconds = tt.seconds
			s.plan = agent.Plan{Tools: []agent.Pin{pin}, Limits: agent.Limits{TimeoutSeconds: 60}}
			s.turns = [][]agent.PreparedCall{{callOf("a", "ask")}}
			s.invoke, s.settle = opens(nil), gathers
			var left time.Duration
			s.startAbove(func(ctx workflow.Context, in wire.AgentRunInput) (wire.AgentRunOutput, error) {
				left = in.Deadline.Sub(workflow.Now(ctx))
				return wire.AgentRunOutput{}, nil
			})
			requireDone(t, s.env)
			require.NoError(t, s.env.GetWorkflowError())
			require.InDelta(t, tt.want, left, float64(time.Second))
		})
	}
}

// A composition makes its calls one after the other, each with an effect of its
// own, and tells its settlement how far it came.
func TestCompositionStops(t *testing.T) {
	t.Parallel()

	one, two, three := pinOf("one", write), pinOf("two", tool.Execution{Pure: true}), pinOf("three", write)
	for name, tt := range map[string]struct {
		goesOn bool
		begun  int
	}{"AtAFailure": {false, 2}, "UnlessItMayFail": {true, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			pin := stepsPin("all", tool.Execution{}, one, two, three)
			pin.Graph.Shape.Nodes[1].Continue = tt.goesOn
			s.plan = agent.Plan{Tools: []agent.Pin{pin}}
			s.turns = [][]agent.PreparedCall{{callOf("c", "all")}}
			s.settle = gathers
			s.invoke = opens(func(_ context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
				out := completed(in)
				out.IsError = in.Pin.Slug == "two"
				return out, nil
			})
			s.startRun()
			requireDone(t, s.env)
			require.NoError(t, s.env.GetWorkflowError())
			require.Len(t, s.settled, 1)
			require.Equal(t, tt.begun, s.settled[0].Graph.Steps)
			require.Equal(t, tt.goesOn, s.settled[0].Graph.Failure == nil)
			effects := map[string]bool{}
			for _, in := range s.invoked[1:] {
				require.Equal(t, "open-c", in.ParentID)
				require.Equal(t, s.invoked[0].EffectID, in.Node.EffectID)
				require.Equal(t, "c/"+in.Pin.Slug, in.CallID)
				effects[in.EffectID] = true
			}
			require.Len(t, effects, tt.begun)
			var out wire.AgentRunOutput
			require.NoError(t, s.env.GetWorkflowResult(&out))
			require.Equal(t, 4, out.Calls, "a composition of three is four calls")
		})
	}
}

// A nested call that was settled before, by an execution that this one was reset
// from, is not made again.
func TestNestedCallThatIsDoneStaysDone(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = agent.Plan{Tools: []agent.Pin{agentPin("ask"), stepsPin("all", tool.Execution{}, pinOf("one", write))}}
	s.turns = [][]agent.PreparedCall{{callOf("a", "ask"), callOf("c", "all")}}
	s.startRun() // Every Invoke answers at once, as for a call that is done.
	requireDone(t, s.env)
	require.NoError(t, s.env.GetWorkflowError())
	require.Len(t, s.invoked, 2)
	require.Empty(t, s.settled)
}

// The time of a composition began where it did: a driver that takes it over does not
// begin it anew.
func TestCompositionKeepsItsDeadline(t *testing.T) {
	t.Parallel()

	for name, handed := range map[string]bool{"Begins": false, "TakenOver": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			pin := stepsPin("all", tool.Execution{TimeoutSeconds: 30}, pinOf("one", write))
			s.plan = agent.Plan{Tools: []agent.Pin{pin}}
			s.turns = [][]agent.PreparedCall{{callOf("c", "all")}}
			s.invoke, s.settle = opens(nil), gathers
			if handed {
				s.hand = func(state *wire.RunState) { state.Batch[0].Deadline = s.env.Now().Add(-time.Second) }
			}
			began := s.env.Now()
			s.startRun()
			requireDone(t, s.env)
			require.NoError(t, s.env.GetWorkflowError())
			require.Len(t, s.settled, 1)
			if handed {
				require.Empty(t, s.invoked[1:], "no step begins")
				require.Equal(t, tool.Timeout, s.settled[0].Kind)
				return
			}
			require.Empty(t, s.settled[0].Kind)
			require.WithinDuration(t, began.Add(30*time.Second), s.invoked[0].Deadline, 5*time.Second)
		})
	}
}
