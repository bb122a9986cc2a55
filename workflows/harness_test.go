package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/workflows"
)

const tenant = tool.TenantID("01890000-0000-7000-8000-000000000001")

var principal = tool.Principal{Tenant: tenant, Subject: "key:test"}

// stage stands for the activities: what a workflow asks of them is recorded,
// and what they answer is the test's to say.
type stage struct {
	env *testsuite.TestWorkflowEnvironment

	plan  agent.Plan
	turns [][]agent.PreparedCall // What the model asks for, turn by turn; then it stops.
	below [][]agent.PreparedCall // The same in run r2, which a call of the run is.
	// invoke answers an Invoke; nil completes every call.
	invoke func(ctx context.Context, in wire.InvokeInput) (wire.InvokeOutput, error)
	admit  func(in wire.InvokeInput) (wire.AdmitOutput, error)
	settle func(in wire.SettleInput) wire.InvokeOutput
	hand   func(*wire.RunState) // Changes what the in-place driver hands over; nil changes nothing.
	// nodes answers a Nodes; nil completes every call.
	nodes func(ctx context.Context, in wire.NodesInput) (wire.NodesOutput, error)
	// ask answers an Ask; nil approves at once.
	ask func(ctx context.Context, in wire.AskInput) (wire.AskOutput, error)

	mu       sync.Mutex
	log      []string // What happened, in order.
	loaded   []wire.LoadPlanInput
	advanced []wire.AdvanceInput
	invoked  []wire.InvokeInput
	settled  []wire.SettleInput
	made     []wire.NodesInput
	finished []wire.FinishRunInput
	inFlight map[string]int
	peak     map[string]int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{inFlight: map[string]int{}, peak: map[string]int{}}
	var suite testsuite.WorkflowTestSuite
	s.env = suite.NewTestWorkflowEnvironment()
	s.env.SetTestTimeout(time.Minute)
	workflows.Register(s.env)
	s.register()
	return s
}

func (s *stage) register() {
	add := func(name string, fn any) {
		s.env.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
	}
	add(wire.LoadPlanActivity, func(_ context.Context, in wire.LoadPlanInput) (wire.LoadPlanOutput, error) {
		out := wire.LoadPlanOutput{RunID: in.RunID, Mode: tool.Production, Plan: s.plan}
		if in.Kind == agent.RunKindHost {
			out.RunID = "host-run"
		}
		s.mu.Lock()
		s.loaded = append(s.loaded, in)
		s.mu.Unlock()
		if in.Node != nil {
			digest, err := tool.Digest(in.Node.Arguments)
			if err != nil {
				return out, err
			}
			out.Call = &agent.PreparedCall{
				CallIdentity: tool.CallIdentity{
					InvocationID: "i-" + in.Node.ID,
					CallID:       in.Node.ID,
				},
				Slug:            s.plan.Tools[0].Slug,
				Arguments:       in.Node.Arguments,
				ArgumentsDigest: digest,
			}
		}
		return out, nil
	})
	add(wire.NodesActivity, s.makeNodes)
	add(wire.AdvanceActivity, s.advance)
	add(wire.ModelTurnActivity, s.advance)
	add(wire.AdmitActivity, func(_ context.Context, in wire.InvokeInput) (wire.AdmitOutput, error) {
		if s.admit != nil {
			return s.admit(in)
		}
		return wire.AdmitOutput{Fence: 1, Egress: tool.EgressNone}, nil
	})
	add(wire.AskActivity, func(ctx context.Context, in wire.AskInput) (wire.AskOutput, error) {
		if in.Expired {
			s.note("expire %s", in.Invoke.CallID)
		} else {
			s.note("ask %s", in.Invoke.CallID)
		}
		if s.ask != nil {
			return s.ask(ctx, in)
		}
		return wire.AskOutput{Resolution: wire.Resolution{ID: in.Invoke.InvocationID, Round: 1, Status: wait.Approved}}, nil
	})
	add(wire.SettleActivity, func(_ context.Context, in wire.SettleInput) (wire.InvokeOutput, error) {
		s.mu.Lock()
		s.settled = append(s.settled, in)
		s.mu.Unlock()
		s.note("settle %s %s", in.Invoke.CallID, in.Status)
		if s.settle != nil {
			return s.settle(in), nil
		}
		return wire.InvokeOutput{Status: in.Status, IsError: true, Kind: in.Kind, Msg: in.Msg}, nil
	})
	add(wire.FinishRunActivity, func(_ context.Context, in wire.FinishRunInput) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.finished = append(s.finished, in)
		return nil
	})
	for _, i := range []tool.Implementation{
		tool.Internal, tool.HTTP, tool.Function, tool.AgentCall, tool.Task, tool.Composition, tool.Prompt, tool.MCP,
	} {
		add(wire.InvokeActivity(i), s.runInvoke)
	}
}

// advance is an in-place driver that asks the model, and leaves every call to the
// workflow.
func (s *stage) advance(ctx context.Context, in wire.AdvanceInput) (wire.AdvanceOutput, error) {
	s.mu.Lock()
	s.advanced = append(s.advanced, in)
	s.mu.Unlock()
	state := wire.RunState{Plan: s.plan, Mode: tool.Production, Head: "m0", MaxCalls: in.MaxCalls}
	state.Deadline = activity.GetInfo(ctx).ScheduledTime.Add(
		time.Duration(s.plan.Limits.WithDefaults().TimeoutSeconds) * time.Second)
	if in.Resume != nil {
		state = *in.Resume
	}
	machine := loop.NewRun(loop.Identity{
		Principal: in.Principal, RunID: in.RunID, WorkflowID: activity.GetInfo(ctx).WorkflowExecution.ID,
		FirstRunID: in.FirstRunID,
	}, state)
	if in.Stop != nil {
		machine.Stop(&tool.Error{Kind: in.Stop.Kind, Msg: in.Stop.Msg})
	} else if !state.Deadline.After(activity.GetInfo(ctx).ScheduledTime) {
		machine.Stop(machine.Late(in.Deadline))
	}
	var out wire.AdvanceOutput
	for {
		step := machine.Next()
		switch {
		case step.End:
			return s.end(machine, in), nil
		case step.Ask:
			s.note("turn %d", machine.Turns()+1)
			turn := loop.Turn{Head: fmt.Sprintf("m%d", machine.Turns()+1), Answer: "done"}
			turns := s.turns
			if in.RunID == "r2" {
				turns = s.below
			}
			if machine.Turns() < len(turns) {
				turn.Calls = turns[machine.Turns()]
			}
			machine.Answered(&s.plan, turn)
		case len(step.Start) > 0 && step.Start[0].Refuse != nil:
			for _, start := range step.Start {
				s.note("refuse %s", machine.Call(start.Call).CallID)
				machine.Called(start.Call, 0, nil)
			}
		default:
			after := machine.State()
			if s.hand != nil {
				s.hand(&after)
			}
			out.Handover, out.State = wire.HandoverCalls, &after
			return out, nil
		}
	}
}

func (s *stage) end(machine *loop.Run, in wire.AdvanceInput) wire.AdvanceOutput {
	out := wire.AdvanceOutput{Ended: &wire.AgentRunOutput{
		RunID: in.RunID, Status: agent.RunCompleted, Turns: machine.Turns(), Calls: machine.Calls(), Head: machine.Head(),
		Answer: machine.Answer(),
	}}
	if err := machine.Err(); err != nil {
		e := tool.AsError(err)
		out.Failure, out.Ended.Status = &wire.Failure{Kind: e.Kind, Msg: e.Msg}, agent.EndStatus(e.Kind)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = append(s.finished, wire.FinishRunInput{RunID: in.RunID, Status: out.Ended.Status})
	return out
}

func (s *stage) runInvoke(ctx context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
	group := in.Pin.Execution.Group()
	s.mu.Lock()
	s.invoked = append(s.invoked, in)
	s.inFlight[group]++
	s.peak[group] = max(s.peak[group], s.inFlight[group])
	s.mu.Unlock()
	s.note("start %s", in.CallID)
	defer func() {
		s.note("end %s", in.CallID)
		s.mu.Lock()
		s.inFlight[group]--
		s.mu.Unlock()
	}()
	if s.invoke != nil {
		return s.invoke(ctx, in)
	}
	time.Sleep(5 * time.Millisecond) // Real work takes time: calls at once overlap.
	return completed(in), nil
}

func (s *stage) makeNodes(ctx context.Context, in wire.NodesInput) (wire.NodesOutput, error) {
	s.mu.Lock()
	s.made = append(s.made, in)
	s.mu.Unlock()
	s.note("nodes %s", noted(ctx, in))
	if s.nodes != nil {
		return s.nodes(ctx, in)
	}
	return allCompleted(in), nil
}

func noted(ctx context.Context, in wire.NodesInput) string {
	var out strings.Builder
	for _, call := range in.Calls {
		out.WriteString(call.CallID)
	}
	switch {
	case in.Stop != nil:
		out.WriteString(" stop")
	case activity.GetInfo(ctx).IsLocalActivity:
		out.WriteString(" local")
	}
	return out.String()
}

func allCompleted(in wire.NodesInput) wire.NodesOutput {
	var out wire.NodesOutput
	for i, call := range in.Calls {
		out.Ended = append(out.Ended, wire.NodeEnd{InvokeOutput: completed(call), Call: i})
	}
	return out
}

func (s *stage) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *stage) startRun() {
	s.env.ExecuteWorkflow(wire.AgentRunWorkflow, wire.AgentRunInput{Principal: principal, RunID: "r1"})
}

func completed(in wire.InvokeInput) wire.InvokeOutput {
	out := wire.InvokeOutput{InvocationID: in.InvocationID, Status: tool.StatusCompleted, Preview: "ok"}
	if in.Full {
		out.Result = tool.JSONResult([]byte(`{"ok":true}`))
	}
	return out
}

func settledError(kind tool.Kind) error {
	return failure.EncodeSettled(ledger.Outcome{Status: tool.EndStatus(kind), Kind: kind, Msg: "it said so"}.Err())
}

func pinOf(slug string, x tool.Execution) agent.Pin {
	return agent.Pin{
		VersionIdentity: tool.VersionIdentity{
			ToolID:         "tool-" + slug,
			Slug:           slug,
			Version:        "1.0.0",
			Digest:         "digest-" + slug,
			Implementation: tool.Function,
		}, Execution: x,
	}
}

func callOf(id, slug string) agent.PreparedCall {
	return agent.PreparedCall{
		CallIdentity:    tool.CallIdentity{InvocationID: "i-" + id, CallID: id},
		Slug:            slug,
		Arguments:       []byte(`{}`),
		ArgumentsDigest: "args-" + id,
	}
}

func requireDone(t *testing.T, env *testsuite.TestWorkflowEnvironment) {
	t.Helper()
	require.True(t, env.IsWorkflowCompleted())
}
