package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/workflows"
)

// office stands for the table of requests, and for who decides.
type office struct {
	*stage

	status map[string]wire.Resolution // By invocation id; a request without one is pending.
	expiry time.Duration
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{stage: newStage(t), status: map[string]wire.Resolution{}, expiry: 24 * time.Hour}
	o.ask = func(ctx context.Context, in wire.AskInput) (wire.AskOutput, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		r, ok := o.status[in.Invoke.InvocationID]
		if !ok {
			r = wire.Resolution{ID: in.Invoke.InvocationID, Round: 1, Status: wait.Pending}
			if in.Expired {
				r.Status = wait.Expired
			}
		}
		return wire.AskOutput{Resolution: r, ExpiresAt: activity.GetInfo(ctx).ScheduledTime.Add(o.expiry)}, nil
	}
	return o
}

// decide stores a decision and tells the workflow of it, after some time.
func (o *office) decide(after time.Duration, id string, status wait.Status, reason string) (told *updateEnd) {
	told = &updateEnd{}
	o.env.RegisterDelayedCallback(func() {
		r := wire.Resolution{ID: id, Round: 1, Status: status, Reason: reason}
		o.mu.Lock()
		o.status[id] = r
		o.mu.Unlock()
		o.env.UpdateWorkflow(wire.ResolvePendingUpdate, r.UpdateID(), told, r)
	}, after)
	return told
}

// updateEnd is what became of an Update.
type updateEnd struct{ refused, err error }

func (u *updateEnd) Accept()                   {}
func (u *updateEnd) Reject(err error)          { u.refused = err }
func (u *updateEnd) Complete(_ any, err error) { u.err = err }

func asking(id, slug string) agent.PreparedCall {
	call := callOf(id, slug)
	call.Asks = &agent.Asking{Reasons: []string{"it writes"}, Arguments: call.ArgumentsDigest}
	return call
}

func TestApprovedCallRuns(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	o.plan = agent.Plan{ToolMode: agent.ParallelSafe, Tools: []agent.Pin{
		pinOf("refund", tool.Execution{}), pinOf("look", tool.Execution{Pure: true}),
	}}
	o.turns = [][]agent.PreparedCall{{asking("c1", "refund"), callOf("c2", "look")}}
	told := o.decide(time.Hour, "i-c1", wait.Approved, "")
	o.startRun()
	requireDone(t, o.env)
	require.NoError(t, o.env.GetWorkflowError())
	require.NoError(t, told.refused)
	require.Equal(t, []string{
		"turn 1", "ask c1", "start c2", "end c2", "start c1", "end c1", "turn 2",
	}, sortedStart(o.log), "the pure call overtakes; the run's deadline of ten minutes stands still")
}

// sortedStart orders the first entries that happen side by side.
func sortedStart(log []string) []string {
	if len(log) > 2 && log[1] == "start c2" && log[2] == "ask c1" {
		log[1], log[2] = log[2], log[1]
	}
	if len(log) > 3 && log[1] == "start c2" && log[3] == "ask c1" {
		log[1], log[2], log[3] = log[3], log[1], log[2]
	}
	return log
}

func TestRejectedCallIsSettled(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	o.plan = agent.Plan{Tools: []agent.Pin{pinOf("refund", tool.Execution{})}}
	o.turns = [][]agent.PreparedCall{{asking("c1", "refund")}}
	o.decide(time.Minute, "i-c1", wait.Rejected, "too much")
	o.startRun()
	requireDone(t, o.env)
	require.NoError(t, o.env.GetWorkflowError())
	require.Equal(t, []string{"turn 1", "ask c1", "settle c1 rejected", "turn 2"}, o.log)
	require.Equal(t, "a person rejected the call: too much", o.settled[0].Msg)
	require.Equal(t, tool.Denied, o.settled[0].Kind)
}

func TestUndecidedCallExpires(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	o.plan = agent.Plan{Tools: []agent.Pin{pinOf("refund", tool.Execution{})}}
	o.turns = [][]agent.PreparedCall{{asking("c1", "refund")}}
	o.startRun()
	requireDone(t, o.env)
	require.NoError(t, o.env.GetWorkflowError())
	require.Equal(t, []string{"turn 1", "ask c1", "expire c1", "settle c1 expired", "turn 2"}, o.log)
}

func TestUnapprovableCallEndsAtOnce(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	o.ask = func(context.Context, wire.AskInput) (wire.AskOutput, error) {
		return wire.AskOutput{Refused: &wire.Failure{Kind: tool.Denied, Msg: "nobody"}}, nil
	}
	o.plan = agent.Plan{Tools: []agent.Pin{pinOf("refund", tool.Execution{})}}
	o.turns = [][]agent.PreparedCall{{asking("c1", "refund")}}
	o.startRun()
	requireDone(t, o.env)
	require.Equal(t, []string{"turn 1", "ask c1", "settle c1 failed", "turn 2"}, o.log)
}

func TestCancelledRunEndsItsWait(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	o.plan = agent.Plan{Tools: []agent.Pin{pinOf("refund", tool.Execution{})}}
	o.turns = [][]agent.PreparedCall{{asking("c1", "refund"), asking("c2", "refund")}}
	o.env.RegisterDelayedCallback(o.env.CancelWorkflow, time.Minute)
	o.startRun()
	requireDone(t, o.env)
	require.Error(t, o.env.GetWorkflowError())
	require.ElementsMatch(t, []string{
		"turn 1", "ask c1", "ask c2", "settle c1 cancelled", "settle c2 cancelled",
	}, o.log)
}

// A call whose admission says that it needs an approval, such as after a change of policy.
func TestAdmissionAsks(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	o.plan = agent.Plan{Tools: []agent.Pin{pinOf("refund", tool.Execution{})}}
	o.turns = [][]agent.PreparedCall{{callOf("c1", "refund")}}
	asked := false
	o.admit = func(wire.InvokeInput) (wire.AdmitOutput, error) {
		if !asked {
			asked = true
			return wire.AdmitOutput{Asks: &agent.Asking{Reasons: []string{"always_ask"}, Arguments: "d"}}, nil
		}
		return wire.AdmitOutput{Fence: 2, Edited: true}, nil
	}
	o.decide(time.Minute, "i-c1", wait.Approved, "")
	o.startRun()
	requireDone(t, o.env)
	require.NoError(t, o.env.GetWorkflowError())
	require.Equal(t, []string{"turn 1", "ask c1", "start c1", "end c1", "turn 2"}, o.log)
	require.Zero(t, o.invoked[0].Fence, "an attempt whose arguments may have been edited reads them")
}

func TestStrangeUpdatesAreRefused(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	o.plan = agent.Plan{Tools: []agent.Pin{pinOf("refund", tool.Execution{})}}
	o.turns = [][]agent.PreparedCall{{asking("c1", "refund")}}
	other := o.decide(time.Minute, "i-other", wait.Approved, "")
	open := o.decide(2*time.Minute, "i-c1", wait.Pending, "")
	o.decide(3*time.Minute, "i-c1", wait.Approved, "")
	o.env.RegisterDelayedCallback(func() {
		var pending []wire.Pending
		value, err := o.env.QueryWorkflow(wire.PendingQuery)
		require.NoError(t, err)
		require.NoError(t, value.Get(&pending))
		require.Equal(t, []wire.Pending{{ID: "i-c1", CallID: "c1", Tool: "refund"}}, pending)
	}, time.Minute+time.Second)
	o.startRun()
	requireDone(t, o.env)
	require.NoError(t, o.env.GetWorkflowError())
	require.ErrorContains(t, other.refused, "does not wait")
	require.ErrorContains(t, open.refused, "not over")
	require.Equal(t, []string{"turn 1", "ask c1", "start c1", "end c1", "turn 2"}, o.log)
}

func TestSingleCallWaits(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	o.plan = agent.Plan{Tools: []agent.Pin{pinOf("refund", tool.Execution{})}}
	asked := false
	o.admit = func(wire.InvokeInput) (wire.AdmitOutput, error) {
		if !asked {
			asked = true
			return wire.AdmitOutput{Asks: &agent.Asking{Reasons: []string{"always_ask"}}}, nil
		}
		return wire.AdmitOutput{Fence: 1}, nil
	}
	o.decide(time.Hour, "i-call", wait.Approved, "")
	o.env.ExecuteWorkflow(wire.ToolCallWorkflow, wire.ToolCallInput{
		Principal: principal, RunID: "r1", Node: wire.Node{ID: "call", Tool: tool.Ref{Slug: "refund"}},
	})
	requireDone(t, o.env)
	require.NoError(t, o.env.GetWorkflowError())
	require.Equal(t, []string{"ask call", "start call", "end call"}, o.log)
}

// A host's workflow has no handlers of Toolcrib's: its call waits in a workflow of its own.
func TestHostsCallWaits(t *testing.T) {
	t.Parallel()

	for name, call := range map[string]func(workflow.Context, *workflows.Plan) error{
		"execute": func(ctx workflow.Context, p *workflows.Plan) error {
			_, err := p.Execute(ctx, workflows.Node{ID: "call", Tool: "refund"})
			return err
		},
		"sequence": func(ctx workflow.Context, p *workflows.Plan) error {
			_, err := p.Sequence(ctx, workflows.Node{ID: "call", Tool: "refund"})
			return err
		},
		"all": func(ctx workflow.Context, p *workflows.Plan) error {
			_, err := p.All(ctx, workflows.Node{ID: "call", Tool: "refund"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := newOffice(t)
			o.plan = agent.Plan{Tools: []agent.Pin{pinOf("refund", tool.Execution{})}}
			o.ask = nil // Approves at once.
			asked := false
			o.admit = func(wire.InvokeInput) (wire.AdmitOutput, error) {
				if !asked {
					asked = true
					return wire.AdmitOutput{Asks: &agent.Asking{Reasons: []string{"always_ask"}}}, nil
				}
				return wire.AdmitOutput{Fence: 1}, nil
			}
			o.env.ExecuteWorkflow(func(ctx workflow.Context) error {
				p, err := workflows.LoadPlan(ctx, workflows.PlanRequest{Principal: principal, Tools: []string{"refund"}})
				if err != nil {
					return err
				}
				return call(ctx, p)
			})
			requireDone(t, o.env)
			require.NoError(t, o.env.GetWorkflowError())
			require.Equal(t, []string{"ask call", "start call", "end call"}, o.log)
		})
	}
}

// While a nested run waits, the deadlines of the runs above stand still too.
func TestNestedRunWaits(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	helper := pinOf("helper", tool.Execution{TimeoutSeconds: 60})
	helper.Implementation, helper.Agent = tool.AgentCall, &agent.PinnedAgent{Slug: "helper"}
	o.plan = agent.Plan{
		Tools: []agent.Pin{helper, pinOf("refund", tool.Execution{})}, Limits: agent.Limits{TimeoutSeconds: 120},
	}
	o.turns = [][]agent.PreparedCall{{callOf("c1", "helper")}}
	o.below = [][]agent.PreparedCall{{asking("c2", "refund")}}
	o.invoke = func(_ context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
		out := completed(in)
		if in.Pin.Agent != nil {
			out.Opened = &wire.Opened{RunID: "r2"}
		}
		return out, nil
	}
	o.decide(time.Hour, "i-c2", wait.Approved, "")
	o.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: wire.RunWorkflowID(tenant, "r1"), TaskQueue: "tools"})
	o.startRun()
	requireDone(t, o.env)
	require.NoError(t, o.env.GetWorkflowError())
	require.Equal(t, "completed", string(o.settled[0].Status))
	require.Empty(t, o.settled[0].Child.Kind)
}
