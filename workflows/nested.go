package workflows

import (
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// scope is what a workflow passes down to the calls it makes.
type scope struct {
	inline   bool      // Whether steps that only read and write the database are part of the workflow task; not in hosts.
	deadline time.Time // Of the workflow; zero for none.
	clock    *clock    // Of the deadline, which moves it; nil where none does.
	calls    int       // How many calls a run of an agent may make; zero for its own limit, negative for none.
	waits    *waits    // What the workflow waits for; nil in hosts.
	outside  func()    // Called when the call begins to wait for an outside result. Nil for no callback.
}

// until returns the deadline of a call of in: that of the workflow, or that of
// the tool, whichever comes first. It is zero where there is neither.
func (s scope) until(ctx workflow.Context, in *wire.InvokeInput) time.Time {
	end := s.end()
	if in.Pin.Execution.TimeoutSeconds <= 0 {
		return end
	}
	at := workflow.Now(ctx).Add(in.Pin.Execution.Timeout())
	if !end.IsZero() && end.Before(at) {
		return end
	}
	return at
}

// end returns the deadline of the workflow as it is now; zero for none.
func (s scope) end() time.Time {
	if s.clock != nil {
		return s.clock.at
	}
	return s.deadline
}

// nest takes a nested call to its end: an attempt admits and opens it, the
// workflow makes the nested runs or calls, and a settlement closes it. Nothing
// is sent before those start, so opening may be retried freely.
func nest(ctx workflow.Context, in wire.InvokeInput, s scope) (wire.InvokeOutput, error) {
	if in.Pin.Agent != nil && s.calls < 0 {
		return settle(
			ctx, in,
			&tool.Error{Kind: tool.Denied, Op: "workflows.nest", Msg: "the run has no calls left that the agent could make"},
		)
	}
	if in.Tried > 0 {
		if err := again(ctx, &in); err != nil {
			return settle(ctx, in, err)
		}
	}
	in.Begin(workflow.Now(ctx))
	out, err := open(ctx, in, s)
	switch {
	case failure.Settled(err):
		return wire.InvokeOutput{}, failure.Decode(err)
	case err != nil:
		return settle(ctx, in, err)
	case out.Opened == nil: // It was settled before, or needs an approval.
		return out, outputError(out)
	}
	in.InvocationID = out.InvocationID
	s.waits.saw(ctx, out.Opened.Pause)
	began := workflow.Now(ctx)
	_ = s.waits.gate(ctx) // What is begun in a cancelled context ends at once.
	if !in.Deadline.IsZero() {
		in.Deadline = in.Deadline.Add(workflow.Now(ctx).Sub(began))
	}
	if in.Pin.Agent != nil {
		return runChild(ctx, in, out.Opened, s)
	}
	if in.Pin.Graph != nil && !in.Pin.Sequence() {
		return runGraph(ctx, in, out.Opened, s)
	}
	if opened := out.Opened; opened.Reached > 0 {
		in.Tried, in.RetryIn, in.Reached = opened.Tried, opened.RetryIn, opened.Reached
	} else {
		in.RetryIn = 0 // It was waited for.
	}
	return runSequence(ctx, in, s)
}

// open admits a nested call. Of a composition that may run in place, the activity makes
// the steps too, and the call is over. Of another, it only reads and writes the database,
// so in Toolcrib's own workflows it runs within the workflow task.
func open(ctx workflow.Context, in wire.InvokeInput, s scope) (out wire.InvokeOutput, err error) {
	if in.Pin.Agent == nil && in.Pin.InPlace && in.Tried == 0 && in.Reached == 0 {
		in.Compose = true
		return run(ctx, &in)
	}
	inline := s.inline && in.Pin.Agent == nil
	err = bookkeep(ctx, inline, wire.InvokeActivity(in.Pin.Implementation), in, &out, admitOptions(label(in)))
	return out, err
}

// runChild runs an agent as a child workflow, and settles the call with the
// outcome of the run. A detached run continues on its own.
func runChild(ctx workflow.Context, in wire.InvokeInput, opened *wire.Opened, s scope) (wire.InvokeOutput, error) {
	pin, parent, runID := in.Pin.Agent, ctx, opened.RunID
	options := workflow.ChildWorkflowOptions{
		WorkflowID:            workflowOf(opened.WorkflowID, in.Principal.Tenant, runID),
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		ParentClosePolicy:     enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true, // So that its calls are settled before this one is.
		StaticSummary:         "agent " + pin.String() + " · " + in.CallID,
		TypedSearchAttributes: below(ctx, pin.Slug, ""),
		Priority:              fair(ctx, in.Principal.Tenant),
	}
	input := wire.NewAgentRun(in.Principal, runID)
	if pin.Detached {
		options.ParentClosePolicy = enums.PARENT_CLOSE_POLICY_ABANDON
		if ctx.Err() == nil { // Once begun, it is never cancelled from here, not even by a deadline.
			parent, _ = workflow.NewDisconnectedContext(ctx)
		}
	} else {
		input.Deadline, input.MaxCalls, input.Pause = s.until(ctx, &in), s.calls, s.waits.pausedRound()
	}
	child := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(parent, options), wire.AgentRunWorkflow, input)
	end := wire.Child{RunID: runID, Deadline: input.Deadline}
	var err error
	if pin.Detached {
		err = child.GetChildWorkflowExecution().Get(ctx, nil)
		end.Begun = err == nil
	} else {
		stop := s.waits.follow(ctx, options.WorkflowID, child)
		err = child.Get(ctx, nil)
		stop()
	}
	if ctx.Err() != nil && temporal.IsCanceledError(err) {
		return settleNested(ctx, in, false, wire.SettleInput{
			Status: tool.StatusCancelled, Kind: tool.Cancelled, Msg: "the call was cancelled", Child: &end,
		}, err)
	}
	explain(&end, err)
	switch {
	case end.Elsewhere && pin.Detached:
		end.Begun, end.Elsewhere = true, false // It has started, which is all that was asked.
	case end.Elsewhere:
		defer relay(ctx, options.WorkflowID)()
	}
	return settleNested(ctx, in, false, wire.SettleInput{Status: tool.StatusCompleted, Child: &end}, nil)
}

// workflowOf returns the workflow id of a run that an activity recorded. Those of earlier releases do not
// answer with it.
func workflowOf(recorded string, tenant tool.TenantID, runID string) string {
	if recorded != "" {
		return recorded
	}
	return wire.RunWorkflowID(tenant, runID)
}

// relay requests cancellation of a run that another execution started, and that
// this one waits for, when ctx is cancelled. Calling stop ends it.
func relay(ctx workflow.Context, workflowID string) (stop func()) {
	over := false
	detached, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(detached, func(detached workflow.Context) {
		ctx.Done().Receive(detached, nil)
		if !over {
			_ = workflow.RequestCancelExternalWorkflow(detached, workflowID, "").Get(detached, nil) // It may have ended.
		}
	})
	return func() { over = true }
}

// explain records why a run that ended with err ended, for a run that could not
// record it itself. What a run recorded itself takes precedence.
func explain(end *wire.Child, err error) {
	if err == nil {
		return
	}
	if _, ok := errors.AsType[*temporal.ChildWorkflowExecutionAlreadyStartedError](err); ok {
		end.Elsewhere = true // By an execution that this one was reset from.
		return
	}
	if _, ok := errors.AsType[*temporal.TerminatedError](err); ok {
		end.Kind, end.Msg = tool.Cancelled, "the run was terminated"
		return
	}
	e := tool.AsError(failure.Decode(err))
	end.Kind, end.Msg = e.Kind, e.Msg
}

// runSequence makes the calls of a composition, as the nodes of a graph without a workflow of its
// own, and settles it with their outcomes.
func runSequence(ctx workflow.Context, in wire.InvokeInput, s scope) (wire.InvokeOutput, error) {
	r := newGraphRun(ctx, in.Sequence(), s.waits)
	r.scope, r.part = s, true
	if err := r.run(ctx); err != nil || r.asks != nil { // In a host's workflow: what waits is the composition.
		return wire.InvokeOutput{Asks: r.asks}, err
	}
	ended := r.end()
	end := wire.SettleInput{Status: tool.StatusCompleted, Graph: &ended}
	why := r.stopped(ctx, r.clock != nil && r.clock.passed())
	if why != nil {
		end.Status, end.Kind, end.Msg = tool.EndStatus(why.Kind), why.Kind, why.Msg
	}
	return settleNested(ctx, in, s.inline, end, ctx.Err())
}

// settleNested closes a nested call with its outcome, or with cancelled, which
// was requested of the workflow.
func settleNested(
	ctx workflow.Context, in wire.InvokeInput, inline bool, end wire.SettleInput, cancelled error,
) (wire.InvokeOutput, error) {
	end.Invoke = in
	out, err := closeCall(ctx, inline, end)
	if err == nil && cancelled != nil {
		return out, cancelled
	}
	if err != nil {
		return out, err
	}
	return out, outputError(out)
}
