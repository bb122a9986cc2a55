package workflows_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/workflows"
)

// made is what a workflow of these tests saw.
type made struct {
	Answers int
	Errs    []string // Of All: one for each node.
	Err     string
}

// several runs a sequence, or all, of nodes "a", "b", … of the named tools.
func several(s *stage, all bool, tools ...string) made {
	run := func(ctx workflow.Context) (made, error) {
		names := map[string]bool{}
		var pinned []string
		var nodes []workflows.Node
		for i, name := range tools {
			if !names[name] {
				pinned = append(pinned, name)
			}
			names[name] = true
			nodes = append(nodes, workflows.Node{ID: string(rune('a' + i)), Tool: name})
		}
		plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{Principal: principal, Tools: pinned})
		if err != nil {
			return made{}, err
		}
		var out made
		if all {
			var answers []workflows.Answer
			answers, err = plan.All(ctx, nodes...)
			for _, a := range answers {
				if a.Err == nil && a.Result != nil {
					out.Answers++
				}
				out.Errs = append(out.Errs, kindOf(a.Err))
			}
		} else {
			var results []*tool.Result
			results, err = plan.Sequence(ctx, nodes...)
			out.Answers = len(results)
		}
		out.Err = kindOf(err)
		return out, nil
	}
	s.env.RegisterWorkflow(run)
	s.env.ExecuteWorkflow(run)
	var out made
	_ = s.env.GetWorkflowResult(&out)
	return out
}

func kindOf(err error) string {
	switch {
	case err == nil:
		return ""
	case temporal.IsCanceledError(err):
		return "canceled"
	default:
		return string(tool.KindOf(err))
	}
}

// mixedPlan has tools of every way to be called.
func mixedPlan() agent.Plan {
	pure := pinOf("pure", tool.Execution{Pure: true, TimeoutSeconds: 1})
	pure.Fast, pure.InPlace = true, true
	slow := pinOf("slow", tool.Execution{Pure: true})
	slow.InPlace = true
	once := pinOf("once", tool.Execution{})
	once.InPlace = true
	return agent.Plan{Tools: []agent.Pin{once, pure, slow, pinOf("visible", tool.Execution{Pure: true})}}
}

// Calls in place are one activity, local where all are short and pure; others are steps
// of the workflow, in their places.
func TestCallsOfAGroup(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		all   bool
		tools []string
		log   []string
	}{
		"Fast":       {false, []string{"pure", "pure", "pure"}, []string{"nodes abc local"}},
		"One":        {false, []string{"pure"}, []string{"nodes a local"}},
		"Effect":     {false, []string{"pure", "once", "pure"}, []string{"nodes abc"}},
		"Slow":       {false, []string{"pure", "slow"}, []string{"nodes ab"}},
		"Visible":    {false, []string{"pure", "visible", "once"}, []string{"nodes a local", "start b", "end b", "nodes c"}},
		"AllFast":    {true, []string{"pure", "pure"}, []string{"nodes ab local"}},
		"AllEffect":  {true, []string{"pure", "once", "pure"}, []string{"nodes abc"}},
		"AllVisible": {true, []string{"visible", "pure", "once"}, []string{"nodes b local", "start a", "end a", "nodes c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			s.plan = mixedPlan()
			out := several(s, tt.all, tt.tools...)
			requireDone(t, s.env)
			require.NoError(t, s.env.GetWorkflowError())
			require.Equal(t, len(tt.tools), out.Answers)
			require.Empty(t, out.Err)
			require.Equal(t, tt.log, s.log)
			for _, in := range s.made {
				require.Equal(t, tt.all, in.All)
				require.Equal(t, "host-run", in.RunID)
				for _, call := range in.Calls {
					require.True(t, call.Raw && call.Full)
					require.NotEmpty(t, call.EffectID)
				}
			}
		})
	}
}

// A node is the same effect however it is run.
func TestNodeOfAGroupIsTheSameEffect(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = mixedPlan()
	run := func(ctx workflow.Context) error {
		plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{Principal: principal, Tools: []string{"visible", "pure"}})
		if err != nil {
			return err
		}
		n := workflows.Node{ID: "a", Tool: "pure", Arguments: map[string]int{"n": 1}}
		if _, err = plan.Sequence(ctx, n); err == nil {
			_, err = plan.Execute(ctx, n)
		}
		return err
	}
	s.env.RegisterWorkflow(run)
	s.env.ExecuteWorkflow(run)
	require.NoError(t, s.env.GetWorkflowError())
	require.Equal(t, s.invoked[0].EffectID, s.made[0].Calls[0].EffectID)
	require.Equal(t, s.invoked[0].ArgumentsDigest, s.made[0].Calls[0].ArgumentsDigest)
}

func failed(call int, kind tool.Kind) wire.NodeEnd {
	return wire.NodeEnd{InvokeOutput: wire.InvokeOutput{Status: tool.EndStatus(kind), Kind: kind, Msg: "no"}, Call: call}
}

// A call without an answer ends a sequence, and nothing else of all.
func TestCallOfAGroupFails(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = mixedPlan()
	s.nodes = func(_ context.Context, in wire.NodesInput) (wire.NodesOutput, error) {
		return wire.NodesOutput{Ended: append(allCompleted(in).Ended[:1], failed(1, tool.Denied))}, nil
	}
	require.Equal(t, made{Answers: 1, Err: "denied"}, several(s, false, "pure", "pure", "pure", "visible"))
	require.Equal(t, []string{"nodes abc local"}, s.log)

	s = newStage(t)
	s.plan = mixedPlan()
	s.nodes = func(_ context.Context, in wire.NodesInput) (wire.NodesOutput, error) {
		out := allCompleted(in)
		out.Ended[1] = failed(1, tool.Denied)
		return out, nil
	}
	require.Equal(t, made{Answers: 3, Errs: []string{"", "denied", "", ""}, Err: "denied"},
		several(s, true, "pure", "pure", "pure", "visible"))
}

// A call that failed in place has its other attempts in the workflow; then an activity
// goes on with the rest.
func TestCallOfAGroupIsRetried(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		all  bool
		tool string
		log  []string
	}{
		"Sequence": {false, "pure", []string{"nodes abc local", "start b", "end b", "nodes c local"}},
		"All":      {true, "pure", []string{"nodes abc local", "nodes c local", "start b", "end b"}},
		"Effect":   {false, "once", []string{"nodes abc", "start b", "end b", "nodes c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			s.plan = mixedPlan()
			s.nodes = func(_ context.Context, in wire.NodesInput) (wire.NodesOutput, error) {
				out := allCompleted(in)
				if len(in.Calls) == 3 {
					out.Ended = out.Ended[:1]
					out.Retry = []wire.NodeRetry{{Call: 1, Tried: 1, In: time.Hour}}
					out.Handover = wire.HandoverCalls
				}
				return out, nil
			}
			require.Equal(t, 3, several(s, tt.all, tt.tool, tt.tool, tt.tool).Answers)
			require.Equal(t, tt.log, s.log)
			require.Len(t, s.invoked, 1)
			require.Equal(t, 1, s.invoked[0].Tried)
			require.Equal(t, time.Hour, s.invoked[0].RetryIn, "it was waited for")
		})
	}
}

// What is left when a slice is over, or does not fit in a task, is for regular activities.
func TestGroupIsHandedOver(t *testing.T) {
	t.Parallel()

	for name, first := range map[string]func(in wire.NodesInput) (wire.NodesOutput, error){
		"Slice": func(in wire.NodesInput) (wire.NodesOutput, error) {
			return wire.NodesOutput{Ended: allCompleted(in).Ended[:1], Handover: wire.HandoverSlice}, nil
		},
		"Failed": func(wire.NodesInput) (wire.NodesOutput, error) {
			return wire.NodesOutput{}, failure.Encode(&tool.Error{Kind: tool.Unavailable, Msg: "interrupted"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			s.plan = mixedPlan()
			s.nodes = func(_ context.Context, in wire.NodesInput) (wire.NodesOutput, error) {
				if len(s.made) == 1 {
					return first(in)
				}
				return allCompleted(in), nil
			}
			require.Equal(t, 3, several(s, false, "pure", "pure", "pure").Answers)
			want := []string{"nodes abc local", "nodes abc"}
			if name == "Slice" {
				want[1] = "nodes bc"
			}
			require.Equal(t, want, s.log)
		})
	}
}

// The input of one activity is bounded.
func TestGroupIsParted(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = mixedPlan()
	run := func(ctx workflow.Context) (int, error) {
		plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{Principal: principal, Tools: []string{"pure"}})
		if err != nil {
			return 0, err
		}
		var nodes []workflows.Node
		for _, id := range []string{"a", "b", "c"} {
			text, err := json.Marshal(string(make([]byte, 60<<10))) // Six bytes each.
			if err != nil {
				return 0, err
			}
			nodes = append(nodes, workflows.Node{ID: id, Tool: "pure", Arguments: json.RawMessage(text)})
		}
		results, err := plan.Sequence(ctx, nodes...)
		return len(results), err
	}
	s.env.RegisterWorkflow(run)
	s.env.ExecuteWorkflow(run)
	var n int
	require.NoError(t, s.env.GetWorkflowResult(&n))
	require.Equal(t, 3, n)
	require.Equal(t, []string{"nodes a local", "nodes b local", "nodes c local"}, s.log)
}

// What a cancelled or failed activity leaves is settled by another, which makes nothing.
func TestGroupIsStopped(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		all    bool
		cancel bool
		want   made
	}{
		"Sequence":          {false, false, made{Answers: 1, Err: "timeout"}},
		"All":               {true, false, made{Answers: 1, Errs: []string{"", "timeout"}, Err: "timeout"}},
		"SequenceCancelled": {false, true, made{Answers: 1, Err: "canceled"}},
		"AllCancelled":      {true, true, made{Answers: 1, Errs: []string{"", "canceled"}, Err: "canceled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			s.plan = mixedPlan()
			s.nodes = func(ctx context.Context, in wire.NodesInput) (wire.NodesOutput, error) {
				if in.Stop != nil {
					return wire.NodesOutput{Ended: append(allCompleted(in).Ended[:1], failed(1, in.Stop.Kind))}, nil
				}
				if tt.cancel {
					s.env.CancelWorkflow()
					<-ctx.Done()
					return wire.NodesOutput{}, temporal.NewCanceledError()
				}
				return wire.NodesOutput{}, failure.EncodeFinal(&tool.Error{Kind: tool.Timeout, Msg: "late"})
			}
			out := several(s, tt.all, "slow", "slow")
			require.Equal(t, tt.want, out)
			require.Equal(t, []string{"nodes ab", "nodes ab stop"}, s.log)
		})
	}
}

// All nodes are checked before a call begins, and the error names the bad one.
func TestGroupRefusesBadNodes(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		node workflows.Node
		want string
	}{
		"SameID":    {workflows.Node{ID: "a", Tool: "pure"}, `node 1, "a": another node has the same ID`},
		"NoID":      {workflows.Node{Tool: "pure"}, `node 1, "": Node.ID is required`},
		"NotPinned": {workflows.Node{ID: "b", Tool: "other"}, `node 1, "b": the plan pins no tool "other"`},
		"Principal": {workflows.Node{ID: "b", Tool: "pure", Principal: principal}, "are the plan's"},
		"NotJSON":   {workflows.Node{ID: "b", Tool: "pure", Arguments: json.RawMessage(`{`)}, "cannot be written as JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			s.plan = mixedPlan()
			run := func(ctx workflow.Context, all bool) error {
				plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{Principal: principal, Tools: []string{"pure"}})
				if err != nil {
					return err
				}
				nodes := []workflows.Node{{ID: "a", Tool: "pure"}, tt.node}
				_, err = plan.Sequence(ctx, nodes...)
				if _, allErr := plan.All(ctx, nodes...); allErr == nil {
					return nil
				}
				return err
			}
			s.env.RegisterWorkflow(run)
			s.env.ExecuteWorkflow(run, true)
			require.ErrorContains(t, s.env.GetWorkflowError(), tt.want)
			require.Empty(t, s.made)
		})
	}
}
