package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// answer takes a call that is answered from outside to its end: it is offered, and its
// result waited for. What settles the call first, the result or the end of its time, counts.
func (w *waits) answer(ctx workflow.Context, in wire.InvokeInput, s scope) (wire.InvokeOutput, error) {
	out, err := w.offer(ctx, in)
	switch {
	case failure.Settled(err):
		return wire.InvokeOutput{}, failure.Decode(err)
	case err != nil:
		return settle(ctx, in, err)
	case out.Waits == nil:
		return out, outputError(out)
	}
	in.InvocationID = out.InvocationID
	if err := w.await(ctx, in, *out.Waits, s.outside); err != nil {
		return settle(ctx, in, err)
	}
	out, err = closeCall(ctx, false, wire.SettleInput{
		Invoke: in, Status: tool.StatusExpired, Kind: tool.Timeout,
		Msg: fmt.Sprintf("Tool timed out after %dms", in.Pin.Execution.Timeout().Milliseconds()),
	})
	if err != nil {
		return out, err
	}
	return out, outputError(out)
}

// offer offers a call, and regards it as pending if its result is waited for.
func (w *waits) offer(ctx workflow.Context, in wire.InvokeInput) (out wire.InvokeOutput, err error) {
	defer w.expect()()
	ctx = workflow.WithActivityOptions(ctx, admitOptions(label(in)))
	err = workflow.ExecuteActivity(ctx, wire.InvokeActivity(in.Pin.Implementation), in).Get(ctx, &out)
	if err == nil && out.Waits != nil {
		w.pending[out.Waits.ID] = wire.Pending{ID: out.Waits.ID, CallID: in.CallID, Tool: in.Pin.Slug}
	}
	return out, err //nolint:wrapcheck // Decoded where it ends the call.
}

// await waits until a call has its result, or its time is over; it calls waiting first. It
// fails where ctx is cancelled.
func (w *waits) await(ctx workflow.Context, in wire.InvokeInput, call wire.Waiting, waiting func()) error {
	defer w.hold(ctx, wire.WaitsForResult)()
	defer delete(w.pending, call.ID)
	defer delete(w.known, call.ID)
	if waiting != nil {
		waiting()
	}
	_, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
		Timeout:      max(call.Until.Sub(workflow.Now(ctx)), time.Millisecond),
		TimerOptions: workflow.TimerOptions{Summary: "result of " + label(in)},
	}, func() bool { return w.known[call.ID].Status == wire.Answered })
	return err //nolint:wrapcheck // A cancellation.
}
