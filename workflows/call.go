package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// invoke takes one prepared call to its end: admission where that is a step of
// its own, the tool, and a settlement if the call ended without one. The error
// is a [*tool.Error], or a Temporal cancellation when ctx was cancelled; the
// call is settled either way.
//
// A call that needs an approval waits for it. In a host's workflow it is returned, still
// open, with the reasons.
func invoke(ctx workflow.Context, in wire.InvokeInput, s scope) (wire.InvokeOutput, error) {
	for range maxApprovals {
		if in.Asks != nil {
			no, err := s.waits.decide(ctx, in)
			if err != nil {
				return settle(ctx, in, err)
			}
			in.Asks, in.Refused = nil, no
		}
		out, err := attempt(ctx, in, s)
		if err != nil || out.Asks == nil || s.waits == nil {
			return out, err
		}
		in.Asks = out.Asks
	}
	return settle(ctx, in, &tool.Error{
		Kind: tool.Conflict, Op: "workflows.invoke", Msg: "what the call would do changed each time after it was approved",
	})
}

// maxApprovals is how often a call is approved, where what it would do changes after that.
const maxApprovals = 5

// attempt is invoke up to the first approval that the call needs, and does not have.
func attempt(ctx workflow.Context, in wire.InvokeInput, s scope) (wire.InvokeOutput, error) {
	if in.Refused != nil {
		return refuse(ctx, in)
	}
	if err := s.waits.gate(ctx); err != nil {
		return settle(ctx, in, err)
	}
	if in.Pin.Nested() {
		return nest(ctx, in, s)
	}
	if in.Pin.Outside {
		return s.waits.answer(ctx, in, s)
	}
	if !in.Pin.Execution.Repeatable() {
		done, err := admit(ctx, &in)
		if err != nil {
			return settle(ctx, in, err)
		}
		if done != nil { // Or it needs an approval.
			return *done, outputError(*done)
		}
	}
	out, err := run(ctx, &in)
	switch {
	case err == nil:
		return out, outputError(out)
	case failure.Settled(err):
		return wire.InvokeOutput{}, failure.Decode(err)
	default:
		return settle(ctx, in, err)
	}
}

// admit opens the effect of a call that must not be repeated, and completes in
// with the admission. A call that was settled before comes back as done.
func admit(ctx workflow.Context, in *wire.InvokeInput) (done *wire.InvokeOutput, err error) {
	var out wire.AdmitOutput
	options := admitOptions("admit " + label(*in))
	options.Priority = fair(ctx, in.Principal.Tenant)
	ctx = workflow.WithActivityOptions(ctx, options)
	if err := workflow.ExecuteActivity(ctx, wire.AdmitActivity, *in).Get(ctx, &out); err != nil {
		return nil, err
	}
	if out.Asks != nil {
		return &wire.InvokeOutput{Asks: out.Asks}, nil
	}
	if out.Edited { // The attempt reads the arguments with an admission of its own.
		return nil, nil
	}
	in.Fence, in.FenceOf, in.Egress = out.Fence, out.Execution, out.Egress
	in.EgressRules, in.Followed, in.Slots = out.EgressRules, out.Followed, out.Slots
	return out.Done, nil
}

// settle closes a call that ended with err outside its Invoke. It must happen,
// so it happens even when ctx is cancelled. What it returns is the outcome in
// the ledger, which may be better than err: an Invoke whose answer was lost on
// the way may have settled the call.
func settle(ctx workflow.Context, in wire.InvokeInput, err error) (wire.InvokeOutput, error) {
	e := tool.AsError(failure.Decode(err))
	out, settleErr := closeCall(ctx, false, wire.SettleInput{
		Invoke: in, Status: tool.EndStatus(e.Kind), Kind: e.Kind, Msg: e.Msg,
	})
	if settleErr != nil {
		return out, settleErr
	}
	if ctx.Err() != nil && temporal.IsCanceledError(err) {
		return out, err
	}
	return out, outputError(out)
}

// refuse settles a call that must not run.
func refuse(ctx workflow.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
	out, err := closeCall(ctx, false, wire.SettleInput{
		Invoke: in, Status: in.Refused.End(), Kind: in.Refused.Kind, Msg: in.Refused.Msg,
	})
	if err != nil {
		return out, err
	}
	return out, outputError(out)
}

// closeCall settles a call, whatever becomes of ctx.
func closeCall(ctx workflow.Context, inline bool, in wire.SettleInput) (out wire.InvokeOutput, err error) {
	detached, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	err = bookkeep(detached, inline, wire.SettleActivity, in, &out, bookkeepingOptions("settle "+label(in.Invoke)))
	if err != nil {
		e := *tool.AsError(failure.Decode(err))
		e.Acted = !in.Invoke.Pin.Execution.Repeatable() // Its progress is in the ledger, which cannot be reached.
		return wire.InvokeOutput{}, &unsettledError{call: in.Invoke.CallID, err: &e}
	}
	return out, nil
}

// label names a call in summaries, in the form that people search for:
// "search@1.2.0 · call_1".
func label(in wire.InvokeInput) string {
	if in.Pin.Slug == "" { // Refused: it has no version.
		return in.Slug + " · " + in.CallID
	}
	return in.Pin.String() + " · " + in.CallID
}

// unsettledError is the error of a call that could not be settled: it has no
// outcome in the ledger and no tool message, so that its run cannot continue.
type unsettledError struct {
	call string
	err  error
}

func (e *unsettledError) Error() string { return fmt.Sprintf("settling call %s: %v", e.call, e.err) }

func (e *unsettledError) Unwrap() error { return e.err }

// unsettled reports whether err is an [unsettledError].
func unsettled(err error) bool {
	_, ok := errors.AsType[*unsettledError](err)
	return ok
}

// outputError returns the error of a call that got no answer.
func outputError(out wire.InvokeOutput) error {
	if out.Kind == "" {
		return nil
	}
	return &tool.Error{Kind: out.Kind, Op: "workflows.invoke", Msg: out.Msg, Acted: out.Acted}
}
