package workflows

import (
	"cmp"
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// runGraph runs a graph as a child workflow, from the state that it was opened with or its first node
// on, and settles the call with its output.
func runGraph(
	ctx workflow.Context, in wire.InvokeInput, opened *wire.Opened, s scope,
) (wire.InvokeOutput, error) {
	options := workflow.ChildWorkflowOptions{
		WorkflowID:            cmp.Or(opened.WorkflowID, wire.GraphWorkflowID(in.Principal.Tenant, in.InvocationID)),
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, // Of a workflow that was reset.
		ParentClosePolicy:     enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true, // So that its calls are settled before this one is.
		StaticSummary:         "graph " + label(in),
		TypedSearchAttributes: below(ctx, "", in.Pin.Slug),
		Priority:              fair(ctx, in.Principal.Tenant),
	}
	input := wire.GraphInput{
		Invoke: in, Deadline: s.until(ctx, &in), MaxCalls: s.calls, Resume: opened.State,
	}
	var out wire.GraphEnd
	for {
		input.Pause = s.waits.pausedRound() // As follow takes it to be known.
		child := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, options), wire.GraphRunWorkflow, input)
		stop := s.waits.follow(ctx, options.WorkflowID, child)
		err := child.Get(ctx, &out)
		stop()
		if _, ok := errors.AsType[*temporal.ChildWorkflowExecutionAlreadyStartedError](err); ok && ctx.Err() == nil {
			// An execution that this one was reset from runs it too; it ends as cancelled.
			if err = workflow.Sleep(ctx, time.Second); err == nil {
				continue
			}
		}
		return closeGraph(ctx, in, s, out, err)
	}
}

// closeGraph settles the call of a graph whose run ended with out, or err.
func closeGraph(
	ctx workflow.Context, in wire.InvokeInput, s scope, out wire.GraphEnd, err error,
) (wire.InvokeOutput, error) {
	end := wire.SettleInput{Status: tool.StatusCompleted, Graph: &out}
	var cancelled error
	switch {
	case err != nil && ctx.Err() != nil:
		cancelled = err
		end.Status, end.Kind, end.Msg = tool.StatusCancelled, tool.Cancelled, "the call was cancelled"
	case err != nil:
		var of wire.Child
		explain(&of, err)
		end.Status, end.Kind, end.Msg = tool.EndStatus(of.Kind), of.Kind, of.Msg
	}
	return settleNested(ctx, in, s.inline, end, cancelled)
}

// invoke makes the call of a step.
func (r *graphRun) invoke(ctx workflow.Context, s flow.Step, in wire.InvokeInput) nodeEnd {
	out, err := invoke(ctx, in, r.scope)
	end := nodeEnd{frame: s.Frame, below: out.Calls, asks: out.Asks}
	if !r.part { // The steps of a composition count already.
		end.below++
	}
	switch {
	case err != nil:
		e := tool.AsError(failure.Decode(err))
		end.called.Failure = &flow.Failure{Kind: e.Kind, Msg: e.Msg}
	case r.part && out.IsError:
		end.called.Failure = &flow.Failure{Kind: tool.Conflict, Msg: "the tool returned an error"}
	}
	if unsettled(err) {
		end.err = err
	}
	return end
}

// nodeRun runs the agent of a graph's node as a child workflow.
func nodeRun(
	ctx workflow.Context, c wire.GraphCall, step flow.Step, pin agent.PinnedTarget, s scope,
) (flow.Called, int) {
	if s.calls < 0 {
		return flow.Called{Failure: &flow.Failure{
			Kind: tool.Denied, Msg: "the run has no calls left that the agent could make",
		}}, 0
	}
	var opened wire.OpenNodeOutput
	err := bookkeep(ctx, true, wire.OpenNodeActivity, wire.OpenNodeInput{Graph: c, Step: step, Agent: pin}, &opened,
		admitOptions("open agent "+pin.String()+" · "+step.Path()))
	if err != nil {
		e := tool.AsError(failure.Decode(err))
		return flow.Called{Failure: &flow.Failure{Kind: e.Kind, Msg: e.Msg}}, 0
	}
	if opened.Failure != nil {
		return flow.Called{Failure: opened.Failure}, 0
	}
	options := workflow.ChildWorkflowOptions{
		WorkflowID:            workflowOf(opened.WorkflowID, c.Principal.Tenant, opened.RunID),
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		ParentClosePolicy:     enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true,
		StaticSummary:         "agent " + pin.String() + " · " + step.Path(),
		TypedSearchAttributes: below(ctx, pin.Slug, ""),
	}
	_ = s.waits.gate(ctx) // What is begun in a cancelled context ends at once.
	input := wire.NewAgentRun(c.Principal, opened.RunID)
	input.Deadline, input.MaxCalls, input.Pause = s.end(), s.calls, s.waits.pausedRound()
	if pin.TimeoutSeconds > 0 {
		at := workflow.Now(ctx).Add(time.Duration(pin.TimeoutSeconds * float64(time.Second)))
		if input.Deadline.IsZero() || at.Before(input.Deadline) {
			input.Deadline = at
		}
	}
	var out wire.AgentRunOutput
	child := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, options), wire.AgentRunWorkflow, input)
	stop := s.waits.follow(ctx, options.WorkflowID, child)
	err = child.Get(ctx, &out)
	stop()
	var end wire.Child
	explain(&end, err)
	called := flow.Called{RunID: opened.RunID}
	if end.Kind != "" {
		called.Failure = &flow.Failure{Kind: end.Kind, Msg: end.Msg}
	}
	return called, out.Calls
}
