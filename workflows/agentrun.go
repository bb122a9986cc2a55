package workflows

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// AgentRun is the agent loop: ask the model, run the calls it made, ask again,
// until it makes none. The run was recorded before, with its first message.
func AgentRun(ctx workflow.Context, in wire.AgentRunInput) (wire.AgentRunOutput, error) {
	r := &agentRun{in: in}
	err := r.run(ctx)
	if workflow.IsContinueAsNewError(err) {
		return wire.AgentRunOutput{}, err
	}
	out, end := r.end(err)
	if finishErr := finish(ctx, end); finishErr != nil {
		return out, failure.Encode(failure.Decode(finishErr))
	}
	return out, failure.EncodeFinal(err)
}

// agentRun is the state of one execution of the workflow.
type agentRun struct {
	in     wire.AgentRunInput
	state  wire.RunState
	answer string
}

func (r *agentRun) run(ctx workflow.Context) error {
	if err := r.load(ctx); err != nil {
		return err
	}
	limited, stop, passed := deadline(ctx, r.state.Deadline, "run deadline")
	defer stop()
	err := r.loop(limited)
	if passed() && ctx.Err() == nil && !workflow.IsContinueAsNewError(err) {
		return r.late()
	}
	return err
}

// load takes over the state of the previous execution, or pins the plan.
func (r *agentRun) load(ctx workflow.Context) error {
	if r.in.Resume != nil {
		r.state = *r.in.Resume
		return nil
	}
	var plan wire.LoadPlanOutput
	err := bookkeep(ctx, true, wire.LoadPlanActivity, wire.LoadPlanInput{
		Principal: r.in.Principal, RunID: r.in.RunID, FirstRunID: workflow.GetInfo(ctx).FirstRunID, Head: r.in.Head,
		Kind: agent.AgentRun,
	}, &plan, admitOptions("pin agent and tools"))
	if err != nil {
		return err
	}
	timeout := time.Duration(plan.Plan.Limits.WithDefaults().TimeoutSeconds) * time.Second
	r.state = wire.RunState{
		Plan:     plan.Plan,
		Mode:     plan.Mode,
		Head:     plan.Head,
		Deadline: workflow.Now(ctx).Add(timeout),
		MaxCalls: r.in.MaxCalls,
	}
	if asked := r.in.Deadline; !asked.IsZero() && asked.Before(r.state.Deadline) {
		r.state.Deadline = asked
	}
	return nil
}

// limits returns the limits of the run's plan, or what its caller has left.
func (r *agentRun) limits() agent.Limits {
	limits := r.state.Plan.Limits.WithDefaults()
	if r.state.MaxCalls > 0 {
		limits.MaxCalls = min(limits.MaxCalls, r.state.MaxCalls)
	}
	return limits
}

func (r *agentRun) loop(ctx workflow.Context) error {
	limits := r.limits()
	for {
		if r.state.Turns >= limits.MaxTurns {
			return r.limit("%d turns", limits.MaxTurns)
		}
		turn, err := r.turn(ctx)
		if err != nil {
			return err
		}
		r.answer = turn.Answer
		if len(turn.Calls) == 0 {
			return nil
		}
		calls := r.calls(ctx, turn.Calls)
		made, agents := count(calls)
		if r.state.Calls += made; r.state.Calls > limits.MaxCalls {
			return r.refuse(ctx, calls, r.limit("%d tool calls", limits.MaxCalls))
		}
		below, err := runBatch(ctx, &r.state.Plan, calls, r.scope(limits.MaxCalls, agents))
		r.state.Calls += below
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err() // The next execution would not know of the cancellation.
		}
		// No call is in flight here.
		if info := workflow.GetInfo(
			ctx,
		); info.GetContinueAsNewSuggested() ||
			info.GetTargetWorkerDeploymentVersionChanged() {
			return r.continueAsNew(ctx)
		}
	}
}

// count returns the number of calls in a turn, including the steps of
// compositions, and how many of them run an agent. A refused call counts.
func count(calls []wire.InvokeInput) (made, agents int) {
	for i := range calls {
		c, a := calls[i].Pin.Count()
		made, agents = made+c, agents+a
	}
	return made, agents
}

// scope returns the limits of the calls of a turn. The agents that they run
// share the remaining calls.
func (r *agentRun) scope(most, agents int) scope {
	s := scope{inline: true, deadline: r.state.Deadline}
	if agents > 0 {
		if s.calls = (most - r.state.Calls) / agents; s.calls == 0 {
			s.calls = -1
		}
	}
	return s
}

// continueAsNew continues in a new execution, on the worker version that is
// current then.
func (r *agentRun) continueAsNew(ctx workflow.Context) error {
	return workflow.NewContinueAsNewErrorWithOptions(ctx, workflow.ContinueAsNewErrorOptions{
		InitialVersioningBehavior: workflow.ContinueAsNewVersioningBehaviorAutoUpgrade,
	}, wire.AgentRunWorkflow,
		wire.AgentRunInput{
			Principal: r.in.Principal, RunID: r.in.RunID, Resume: &r.state, Deadline: r.in.Deadline,
		})
}

// refuse settles calls that a limit prevents from running, so that each has an
// outcome and the transcript its answers, and returns the error of the limit.
func (r *agentRun) refuse(ctx workflow.Context, calls []wire.InvokeInput, limit *tool.Error) error {
	for _, in := range calls {
		if in.Settled {
			continue
		}
		if _, err := settle(ctx, in, limit); unsettled(err) {
			return err
		}
	}
	return limit
}

// turn asks the model.
func (r *agentRun) turn(ctx workflow.Context) (wire.ModelTurnOutput, error) {
	var out wire.ModelTurnOutput
	number := r.state.Turns + 1
	ctx = workflow.WithActivityOptions(ctx, modelOptions(fmt.Sprintf("%s · turn %d", r.state.Plan.Agent, number)))
	err := workflow.ExecuteActivity(ctx, wire.ModelTurnActivity, wire.ModelTurnInput{
		Principal: r.in.Principal, RunID: r.in.RunID, Head: r.state.Head, Turn: number,
	}).Get(ctx, &out)
	if err != nil {
		return out, err
	}
	r.state.Turns, r.state.Head = number, out.Head
	return out, nil
}

// calls completes the calls of a turn with the data of the run.
func (r *agentRun) calls(ctx workflow.Context, calls []agent.PreparedCall) []wire.InvokeInput {
	info := workflow.GetInfo(ctx)
	out := make([]wire.InvokeInput, len(calls))
	for i, call := range calls {
		out[i].PreparedCall = call
		out[i].CallIdentity = tool.CallIdentity{
			Principal: r.in.Principal, Mode: r.state.Mode, RunID: r.in.RunID, AgentID: r.state.Plan.AgentID,
			MessageID: r.state.Head, Turn: r.state.Turns, Position: i, CallID: call.CallID, InvocationID: call.InvocationID,
		}
		if call.Refused != nil {
			continue
		}
		out[i].Pin, _ = r.state.Plan.Find(call.Slug)
		out[i].EffectID = ledger.Effect{
			Tenant: r.in.Principal.Tenant, WorkflowID: info.WorkflowExecution.ID, FirstRunID: info.FirstRunID,
			Step: "turn/" + strconv.Itoa(r.state.Turns), Position: i,
			VersionDigest: out[i].Pin.Content(), ArgumentsDigest: call.ArgumentsDigest,
		}.ID()
		out[i].ArgumentsDigest, out[i].Slug = "", "" // The effect and the pin contain it: histories stay small.
	}
	return out
}

// runCall runs one call of a turn, and returns the number of calls made by its
// nested agent runs. Its outcome is in the transcript, for the model to act on,
// so only errors that end the run are returned.
func runCall(ctx workflow.Context, in wire.InvokeInput, s scope) (below int, err error) {
	if in.Settled {
		return 0, nil
	}
	out, err := invoke(ctx, in, s)
	if ctx.Err() != nil {
		return out.Calls, ctx.Err()
	}
	if unsettled(err) {
		return out.Calls, err
	}
	return out.Calls, nil // A call without an answer is settled, and an answer to the model.
}

// limit is the error of a run that reached one of its limits.
func (r *agentRun) limit(format string, args ...any) *tool.Error {
	return &tool.Error{
		Kind: tool.Denied, Op: "workflows.AgentRun",
		Msg: "the run reached its limit of " + fmt.Sprintf(format, args...),
	}
}

// late is the error of a run that did not end by its deadline: its own, or what
// its caller had left.
func (r *agentRun) late() *tool.Error {
	e := r.limit("its time of %s", time.Duration(r.limits().TimeoutSeconds)*time.Second)
	if !r.in.Deadline.IsZero() && r.state.Deadline.Equal(r.in.Deadline) {
		e.Msg = "the run did not end in the time that its caller gives it"
	}
	e.Kind = tool.Timeout
	return e
}

// end reports how the run ended, as the output for the caller and the record
// for the database.
func (r *agentRun) end(err error) (wire.AgentRunOutput, wire.FinishRunInput) {
	status := agent.RunCompleted
	end := wire.FinishRunInput{
		Principal: r.in.Principal, RunID: r.in.RunID, Head: cmp.Or(r.state.Head, r.in.Head), Turns: r.state.Turns,
		Calls: r.state.Calls,
	}
	if err != nil {
		e := tool.AsError(failure.Decode(err))
		status, end.Kind, end.Msg = runStatus(e.Kind), e.Kind, e.Msg
	}
	end.Status = status
	return wire.AgentRunOutput{
		RunID: r.in.RunID, Status: status, Turns: r.state.Turns, Calls: r.state.Calls, Head: r.state.Head, Answer: r.answer,
	}, end
}
