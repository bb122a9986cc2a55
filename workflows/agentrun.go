package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
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
	waits, err := newWaits(ctx)
	if err != nil {
		return wire.AgentRunOutput{}, failure.Encode(err)
	}
	waits.pausable(ctx, in.RunID, in.Pause)
	r := &agentRun{in: in, inline: in.Inline && in.Resume == nil, waits: waits}
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

// endError returns the error of a run that ended with f. A run may learn that it was
// cancelled before its workflow does.
func endError(ctx workflow.Context, f *wire.Failure) error {
	if f.Kind == tool.Cancelled && ctx.Err() != nil {
		return ctx.Err()
	} else if f.Kind == tool.Cancelled {
		return temporal.NewCanceledError()
	}
	return &tool.Error{Kind: f.Kind, Op: "workflows.AgentRun", Msg: f.Msg}
}

// agentRun is one execution of the workflow.
type agentRun struct {
	in     wire.AgentRunInput
	inline bool               // The next steps are a part of the workflow's own task.
	last   wire.AdvanceOutput // How far the run came.
	waits  *waits
}

func (r *agentRun) run(ctx workflow.Context) (wire.AdvanceOutput, error) {
	r.last.State = r.in.Resume
	for {
		err := r.unpaused(ctx)
		if err == nil {
			err = r.advance(ctx)
		}
		if err == nil && r.last.Ended == nil && r.last.Handover == wire.HandoverCalls {
			err = r.calls(ctx)
		}
		if ctx.Err() != nil && r.last.Ended == nil {
			err = r.stop(ctx, &tool.Error{Kind: tool.Cancelled, Msg: "the run was cancelled"})
		} else if err != nil {
			err = r.stop(ctx, err)
		}
		if err != nil || r.last.Ended != nil {
			return r.last, err
		}
		// No call is in flight here.
		// A question's attempts would be counted anew.
		if renewable(ctx) && r.last.State != nil && r.last.Handover != wire.HandoverQuestion {
			return r.last, r.continueAsNew(ctx)
		}
	}
}

// unpaused waits while the run is paused. That is none of its time.
func (r *agentRun) unpaused(ctx workflow.Context) error {
	began := workflow.Now(ctx)
	err := r.waits.gate(ctx)
	stood := workflow.Now(ctx).Sub(began)
	if stood > 0 && r.last.State != nil {
		state := *r.last.State
		state.Deadline = state.Deadline.Add(stood)
		state.Batch = slices.Clone(state.Batch)
		for i := range state.Batch {
			if at := &state.Batch[i].Deadline; !at.IsZero() {
				*at = at.Add(stood)
			}
		}
		r.last.State = &state
	}
	if stood > 0 && !r.in.Deadline.IsZero() {
		r.in.Deadline = r.in.Deadline.Add(stood)
	}
	return err
}

// advance takes the run as far as an activity can. Where a model failed, that is an
// activity whose attempts are the model's; where a visible call is next, one that begins
// with it.
func (r *agentRun) advance(ctx workflow.Context) error {
	in := r.input(ctx)
	if r.inline {
		return r.begin(ctx, in)
	}
	switch r.last.Handover {
	case wire.HandoverQuestion:
		return r.ask(ctx, in)
	case wire.HandoverStep:
		in.Step = true
		return r.execute(ctx, wire.AdvanceActivity, advanceOptions(label(in.Resume.Batch[0])), in)
	case wire.HandoverCalls, wire.HandoverSlice, wire.HandoverDrain, wire.HandoverPause:
	}
	return r.execute(ctx, wire.AdvanceActivity, advanceOptions(r.name("advance")), in)
}

// begin takes the first steps of the run in the workflow's own task. What fails there, and
// may be repeated, is an activity's.
func (r *agentRun) begin(ctx workflow.Context, in wire.AdvanceInput) error {
	r.inline = false
	var out wire.AdvanceOutput
	in.At = workflow.Now(ctx)
	detached, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	local := workflow.WithLocalActivityOptions(detached, inlineOptions(r.name("begin")))
	begun := workflow.ExecuteLocalActivity(local, wire.AdvanceActivity, in)
	selector := workflow.NewSelector(detached)
	selector.AddFuture(begun, func(workflow.Future) {})
	selector.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) { r.cancelInline(detached) })
	selector.Select(detached)
	err := begun.Get(detached, &out)
	if err == nil {
		r.last = out
		r.waits.saw(ctx, out.Pause)
	} else if ctx.Err() == nil && passing(err) {
		return nil
	}
	return err //nolint:wrapcheck // Decoded where it ends the run.
}

// cancelInline cancels the first steps of the run. If it cannot, they end by themselves.
func (r *agentRun) cancelInline(ctx workflow.Context) {
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: inlineTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	in := wire.AgentRunInput{Principal: r.in.Principal, RunID: r.in.RunID}
	_ = workflow.ExecuteLocalActivity(local, wire.CancelInlineActivity, in).Get(local, nil)
}

// ask puts a question again that a model failed to answer.
func (r *agentRun) ask(ctx workflow.Context, in wire.AdvanceInput) error {
	left := r.last.State.Deadline.Sub(workflow.Now(ctx))
	if err := workflow.Sleep(ctx, min(r.last.RetryIn, left)); err != nil || r.last.RetryIn >= left {
		r.last.Handover = ""
		return err //nolint:wrapcheck // A cancellation.
	}
	if r.waits.round.Paused() {
		if err := r.unpaused(ctx); err != nil {
			return err
		}
		in = r.input(ctx)
		left = r.last.State.Deadline.Sub(workflow.Now(ctx))
	}
	in.Tried = r.last.Tried
	options := modelOptions(r.name(fmt.Sprintf("turn %d", in.Resume.Turns+1)), in.Tried, left)
	err := r.execute(ctx, wire.ModelTurnActivity, options, in)
	if err != nil && ctx.Err() == nil && !workflow.Now(ctx).Before(r.last.State.Deadline) {
		r.last.Handover = ""
		return nil // What continues sees the deadline.
	}
	return err
}

// input is the input of an activity that continues the run.
func (r *agentRun) input(ctx workflow.Context) wire.AdvanceInput {
	in := wire.AdvanceInput{AgentRunInput: r.in, FirstRunID: workflow.GetInfo(ctx).FirstRunID}
	in.Resume = r.last.State
	return in
}

// stop ends the run with err: its calls that have not ended are settled, and the end is
// recorded. That must happen, even if ctx is cancelled.
func (r *agentRun) stop(ctx workflow.Context, err error) error {
	e := tool.AsError(failure.Decode(err))
	in := r.input(ctx)
	in.Stop = &wire.Failure{Kind: e.Kind, Msg: e.Msg}
	options := advanceOptions(r.name("end"))
	options.RetryPolicy.MaximumAttempts = 0
	detached, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	if stopErr := r.execute(detached, wire.AdvanceActivity, options, in); stopErr != nil {
		return err
	}
	return nil
}

// execute runs an activity that takes the run further, and keeps how far it came.
func (r *agentRun) execute(
	ctx workflow.Context, activity string, options workflow.ActivityOptions, in wire.AdvanceInput,
) error {
	var out wire.AdvanceOutput
	ctx = workflow.WithActivityOptions(ctx, options)
	err := workflow.ExecuteActivity(ctx, activity, in).Get(ctx, &out)
	if err == nil {
		r.last = out
		r.waits.saw(ctx, out.Pause)
	}
	return err //nolint:wrapcheck // Decoded where it ends the run.
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
	limited, clock := deadline(ctx, state.Deadline, "run deadline", r.waits)
	defer clock.stop(r.waits)
	info := workflow.GetInfo(ctx)
	machine := loop.NewRun(loop.Identity{
		Principal: r.in.Principal, RunID: r.in.RunID, WorkflowID: info.WorkflowExecution.ID, FirstRunID: info.FirstRunID,
	}, state)
	b := &batch{machine: machine, scope: scope{
		inline: true, deadline: state.Deadline, clock: clock, calls: machine.Share(), waits: r.waits,
	}}
	err := b.run(limited)
	after := machine.State()
	after.Deadline = clock.at
	after.Stop = state.Stop // That ctx was cancelled here is for the activity to judge.
	r.last.State, r.last.Handover = &after, ""
	if clock.passed() && !unsettled(err) {
		return nil // The activity that continues sees the deadline too.
	}
	return err
}

// continueAsNew continues in a new execution, on the worker version that is current
// then.
func (r *agentRun) continueAsNew(ctx workflow.Context) error {
	return continueAsNew(ctx, wire.AgentRunWorkflow, wire.AgentRunInput{
		Principal: r.in.Principal, RunID: r.in.RunID, Resume: r.last.State, Deadline: r.in.Deadline,
		Pause: r.waits.latest(ctx),
	})
}

// unfinished records the end of a run that no activity could end.
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
