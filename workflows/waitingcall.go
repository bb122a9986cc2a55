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

// WaitingCall is a call of a host's workflow that waits for a person: the host's workflow
// has handlers of its own, so the wait is a workflow of Toolcrib's. The call is the same
// one, with the host's effect.
func WaitingCall(ctx workflow.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
	waits, err := newWaits(ctx)
	if err != nil {
		return wire.InvokeOutput{}, failure.Encode(err)
	}
	out, err := invoke(ctx, in, scope{inline: true, waits: waits})
	switch {
	case err == nil:
		return out, nil
	case unsettled(err) || temporal.IsCanceledError(err):
		return out, failure.Encode(err)
	}
	e := tool.AsError(failure.Decode(err))
	out.Kind, out.Msg, out.Acted = e.Kind, e.Msg, e.Acted
	return out, nil
}

// invokeHere takes a call of a workflow to its end, as invoke does. In a host's workflow, a
// call that waits is taken over by a workflow of its own.
func invokeHere(ctx workflow.Context, in wire.InvokeInput, s scope) (wire.InvokeOutput, error) {
	if s.waits != nil || in.Asks == nil && !in.Pin.Outside {
		out, err := invoke(ctx, in, s)
		if err != nil || out.Asks == nil {
			return out, err
		}
		in.Asks = out.Asks
	}
	return delegate(ctx, in)
}

// delegate makes a call in a workflow of its own.
func delegate(ctx workflow.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
	if in.Pin.Sequence() { // What asks is one of its steps, or the call: its admission says.
		in.Asks = nil
	}
	options := workflow.ChildWorkflowOptions{
		WorkflowID:            wire.WaitWorkflowID(in.Principal.Tenant, in.EffectID),
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, // Of a workflow that was reset.
		ParentClosePolicy:     enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WaitForCancellation:   true,
		StaticSummary:         label(in),
		TypedSearchAttributes: below(ctx, "", ""),
		Priority:              fair(ctx, in.Principal.Tenant),
	}
	for {
		var out wire.InvokeOutput
		child := workflow.WithChildOptions(ctx, options)
		err := workflow.ExecuteChildWorkflow(child, wire.WaitingCallWorkflow, in).Get(child, &out)
		if err == nil {
			return out, outputError(out)
		}
		// An execution that this one was reset from waits too: its call ends as cancelled.
		if _, ok := errors.AsType[*temporal.ChildWorkflowExecutionAlreadyStartedError](err); !ok {
			return settle(ctx, in, err)
		}
		if err := workflow.Sleep(ctx, time.Second); err != nil {
			return settle(ctx, in, err)
		}
	}
}
