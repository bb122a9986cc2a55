package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// AgentRun is the agent loop: ask the model, run the calls it made, ask again, until it
// makes none. The run was recorded before, with its first message.
//
// Activities take the run as far as they can ([wire.AdvanceActivity]); the workflow
// takes the steps that they hand over: calls with attempts, timers or runs of their own.
func AgentRun(ctx workflow.Context, in wire.AgentRunInput) (wire.AgentRunOutput, error) {
	r := &agentRun{in: in}
	out, err := r.run(ctx)
	switch {
	case workflow.IsContinueAsNewError(err):
		return wire.AgentRunOutput{}, err
	case err != nil:
		return r.unfinished(ctx, err)
	}
	if wasReset(ctx, out.Execution) {
		if err := finish(ctx, r.record(&out)); err != nil {
			return *out.Ended, failure.Encode(failure.Decode(err))
		}
	}
	if out.Failure != nil {
		return *out.Ended, failure.EncodeFinal(endError(ctx, out.Failure))
	}
	return *out.Ended, nil
}

// wasReset reports whether an activity ended the run for another execution than this
// one. The answer is in the history, because replays of exported histories know
// executions by other ids.
func wasReset(ctx workflow.Context, execution string) (reset bool) {
	current := workflow.GetInfo(ctx).WorkflowExecution.RunID
	err := workflow.SideEffect(ctx, func(workflow.Context) any { return execution != current }).Get(&reset)
	return err != nil || reset
}

// record is the end of a run that an Advance recorded.
func (r *agentRun) record(out *wire.AdvanceOutput) wire.FinishRunInput {
	end := wire.FinishRunInput{
		Principal: r.in.Principal, RunID: r.in.RunID, Status: out.Ended.Status, Head: out.Ended.Head,
		Turns: out.Ended.Turns, Calls: out.Ended.Calls,
	}
	if out.Failure != nil {
		end.Kind, end.Msg = out.Failure.Kind, out.Failure.Msg
	}
	return end
}

// endError returns the error of a run that ended with f.
func endError(ctx workflow.Context, f *wire.Failure) error {
	if f.Kind == tool.Cancelled && ctx.Err() != nil {
		return ctx.Err()
	}
	return &tool.Error{Kind: f.Kind, Op: "workflows.AgentRun", Msg: f.Msg}
}

// agentRun is one execution of the workflow.
type agentRun struct {
	in   wire.AgentRunInput
	last wire.AdvanceOutput // How far the run came.
}

func (r *agentRun) run(ctx workflow.Context) (wire.AdvanceOutput, error) {
	r.last.State = r.in.Resume
	for {
		if err := r.advance(ctx); err != nil || r.last.Ended != nil {
			return r.last, err
		}
		if r.last.Handover == wire.HandoverCalls {
			if err := r.calls(ctx); err != nil {
				return r.last, err
			}
		}
		if ctx.Err() != nil {
			continue // The next execution would not know of the cancellation.
		}
		// No call is in flight here.
		info := workflow.GetInfo(ctx)
		if info.GetContinueAsNewSuggested() || info.GetTargetWorkerDeploymentVersionChanged() {
			return r.last, r.continueAsNew(ctx)
		}
	}
}

// advance takes the run as far as an activity can. A run that was cancelled is ended by
// an activity too, unless the one in progress did so.
func (r *agentRun) advance(ctx workflow.Context) error {
	in := wire.AdvanceInput{AgentRunInput: r.in, FirstRunID: workflow.GetInfo(ctx).FirstRunID}
	in.Resume = r.last.State
	activity, options := wire.AdvanceActivity, advanceOptions(r.name("advance"))
	if r.last.Handover == wire.HandoverQuestion {
		if err := workflow.Sleep(ctx, r.last.RetryIn); err == nil {
			in.Tried = 1
			activity, options = wire.ModelTurnActivity, modelOptions(r.name(fmt.Sprintf("turn %d", in.Resume.Turns+1)))
		}
	}
	if ctx.Err() == nil {
		out, err := r.execute(ctx, activity, options, in)
		if ctx.Err() == nil || err == nil {
			r.last = out
			return err
		}
	}
	in.Tried, in.Stop = 0, &wire.Failure{Kind: tool.Cancelled, Msg: "the run was cancelled"}
	detached, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	out, err := r.execute(detached, wire.AdvanceActivity, advanceOptions(r.name("cancel")), in)
	r.last = out
	return err
}

func (r *agentRun) execute(
	ctx workflow.Context, activity string, options workflow.ActivityOptions, in wire.AdvanceInput,
) (out wire.AdvanceOutput, err error) {
	ctx = workflow.WithActivityOptions(ctx, options)
	err = workflow.ExecuteActivity(ctx, activity, in).Get(ctx, &out)
	return out, err
}

// name is the summary of an activity that takes the given part of the run.
func (r *agentRun) name(part string) string {
	if r.last.State == nil {
		return part
	}
	return r.last.State.Plan.Agent + " · " + part
}

// calls makes the calls of the turn in progress that were handed over. Its error is one
// that ends the run without [wire.AdvanceOutput].
func (r *agentRun) calls(ctx workflow.Context) error {
	state := *r.last.State
	limited, stop, passed := deadline(ctx, state.Deadline, "run deadline")
	defer stop()
	info := workflow.GetInfo(ctx)
	machine := loop.NewRun(loop.Identity{
		Principal: r.in.Principal, RunID: r.in.RunID, WorkflowID: info.WorkflowExecution.ID, FirstRunID: info.FirstRunID,
	}, state)
	b := &batch{machine: machine, scope: scope{inline: true, deadline: state.Deadline, calls: machine.Share()}}
	err := b.run(limited)
	after := machine.State()
	r.last.State, r.last.Handover = &after, ""
	if passed() && ctx.Err() == nil {
		return nil // The activity that continues sees the deadline too.
	}
	return err
}

// continueAsNew continues in a new execution, on the worker version that is current
// then.
func (r *agentRun) continueAsNew(ctx workflow.Context) error {
	return workflow.NewContinueAsNewErrorWithOptions(ctx, workflow.ContinueAsNewErrorOptions{
		InitialVersioningBehavior: workflow.ContinueAsNewVersioningBehaviorAutoUpgrade,
	}, wire.AgentRunWorkflow,
		wire.AgentRunInput{
			Principal: r.in.Principal, RunID: r.in.RunID, Resume: r.last.State, Deadline: r.in.Deadline,
		})
}

// unfinished records the end of a run whose activities could not: their attempts are
// used up.
func (r *agentRun) unfinished(ctx workflow.Context, err error) (wire.AgentRunOutput, error) {
	e := tool.AsError(failure.Decode(err))
	end := wire.FinishRunInput{
		Principal: r.in.Principal, RunID: r.in.RunID, Head: r.in.Head, Status: agent.EndStatus(e.Kind), Kind: e.Kind,
		Msg: e.Msg,
	}
	if state := r.last.State; state != nil {
		end.Head, end.Turns, end.Calls = state.Head, state.Turns, state.Calls
	}
	out := wire.AgentRunOutput{
		RunID: r.in.RunID, Status: end.Status, Turns: end.Turns, Calls: end.Calls, Head: end.Head,
	}
	if finishErr := finish(ctx, end); finishErr != nil {
		return out, failure.Encode(failure.Decode(finishErr))
	}
	return out, failure.EncodeFinal(err)
}
