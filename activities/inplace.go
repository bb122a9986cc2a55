package activities

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// callEnd is how a call made in place ended.
type callEnd struct {
	call int
	made wire.CallMade
	// retry is set where the call is still open: another attempt is the workflow's.
	retry *tool.Error
	// left is set where a composition is left between two of its steps.
	left wire.Handover
	// closing is set where the call is over and its end is to be written.
	closing *attempt
	err     error // Why the attempt could not end the call; the activity is retried.
}

// start starts calls, or holds those that are not to be made here. Refused calls are
// settled even if the run is over.
func (d *driver) start(ctx, limited context.Context, calls []loop.Start) error {
	if err := d.admit(ctx, calls); err != nil {
		return err
	}
	for _, start := range calls {
		in := *d.machine.Call(start.Call)
		var run func() callEnd
		switch {
		case start.Refuse != nil:
			run = func() callEnd { return d.refuse(context.WithoutCancel(ctx), in, start.Refuse) }
		case !d.makes(&in):
			d.hold(start.Call, wire.HandoverCalls)
			continue
		case d.tickets[in.EffectID].at.IsZero() && d.rest(ctx) != "":
			d.hold(start.Call, d.rest(ctx))
			continue
		default:
			t := d.attempt(&in)
			if given, ok := d.tickets[in.EffectID]; ok {
				t.ticket, t.began = &given.ticket, given.at
				delete(d.tickets, in.EffectID)
			}
			t.defers = d.a.Journal != nil
			run = func() callEnd { return d.call(limited, t) }
		}
		d.flying++
		go func() {
			began := time.Now()
			end := guarded(run)
			end.call, end.made.Tool, end.made.Millis = start.Call, in.Pin.String(), time.Since(began).Milliseconds()
			d.ends <- end
		}()
	}
	return nil
}

// guarded runs a call in a goroutine of its own, where Temporal does not turn a panic
// into a failure: what panics outside of an attempt, such as a settlement, fails the
// activity, and the process goes on.
func guarded(run func() callEnd) (end callEnd) {
	defer func() {
		if p := recover(); p != nil {
			end = callEnd{err: fmt.Errorf("the call panicked with a %T\n%s", p, debug.Stack())}
		}
	}()
	return run()
}

// recovered is run for an attempt whose panic ends its call, as a failure of the tool.
func (t *attempt) recovered(ctx context.Context) (outcome ledger.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			outcome, err = t.fail(ctx, &tool.Error{
				Kind: tool.InternalError, Op: "activities.Invoke", Msg: "internal error", Sent: true,
				Err: fmt.Errorf("the call panicked with a %T\n%s", p, debug.Stack()),
			})
		}
	}()
	return t.run(ctx)
}

// makes reports whether a call is made here.
func (d *driver) makes(in *wire.InvokeInput) bool {
	visible := d.in.Step && d.asked == 0 && in.Pin.Stepwise
	return (in.Pin.InPlace || visible) && in.Tried == 0
}

// hold leaves a call for another driver.
func (d *driver) hold(call int, why wire.Handover) {
	d.machine.Hold(call)
	if d.held == "" || why == wire.HandoverCalls {
		d.held = why
	}
}

// rest returns why no further call is begun here, or nothing.
func (d *driver) rest(ctx context.Context) wire.Handover {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return wire.HandoverDrain
	default:
	}
	if d.used() {
		return wire.HandoverSlice
	}
	return ""
}

// ended records the end of a call in flight.
func (d *driver) ended(end callEnd) error {
	d.flying--
	switch {
	case end.err != nil:
		return end.err
	case end.retry != nil:
		in := d.machine.Call(end.call)
		in.Tried++
		in.RetryIn = cmp.Or(end.retry.RetryAfter, wire.CallRetryInterval)
		end.made.Retry = causeOf(end.retry)
		d.hold(end.call, wire.HandoverCalls)
	case end.left != "":
		d.hold(end.call, end.left)
		return nil
	case end.closing != nil:
		d.closing = append(d.closing, end)
		d.machine.Called(end.call, 0, nil)
		return nil
	default:
		d.out.Calls++
		d.machine.Called(end.call, 0, nil)
	}
	d.list(end.made)
	return nil
}

// list adds a call to those that the workflow's history lists.
func (d *driver) list(made wire.CallMade) {
	if len(d.out.Made) < wire.MaxCallsMade {
		d.out.Made = append(d.out.Made, made)
	}
}

// refuse settles a call that must not run.
func (d *driver) refuse(ctx context.Context, in wire.InvokeInput, refusal *tool.Error) callEnd {
	out, err := d.settle(ctx, wire.SettleInput{
		Invoke: in, Status: tool.EndStatus(refusal.Kind), Kind: refusal.Kind, Msg: refusal.Msg,
	})
	return callEnd{made: wire.CallMade{Status: out.Status, IsError: true}, err: err}
}

func (d *driver) settle(ctx context.Context, in wire.SettleInput) (wire.InvokeOutput, error) {
	return patiently(ctx, settlePatience, func() (wire.InvokeOutput, error) { return d.a.settleCall(ctx, in) })
}

// attempt returns an attempt at a call, in place.
func (d *driver) attempt(in *wire.InvokeInput) *attempt {
	return &attempt{a: d.a, in: in, number: in.Tried + 1, began: time.Now(), inPlace: true}
}

// call makes one attempt at a call: admission, the tool, settlement. Of a composition
// it makes the steps too.
func (d *driver) call(ctx context.Context, t *attempt) callEnd {
	outcome, err := t.recovered(tool.WithProgress(ctx, d.report.tool))
	switch {
	case t.retry != nil:
		return callEnd{retry: t.retry}
	case err != nil:
		return callEnd{err: err}
	case t.closing != nil:
		return callEnd{closing: t}
	case t.opened != nil:
		in := *t.in
		in.InvocationID = outcome.InvocationID
		return d.compose(ctx, in)
	default:
		return endOf(outcome)
	}
}

func endOf(o ledger.Outcome) callEnd {
	return callEnd{made: wire.CallMade{Status: o.Status, IsError: o.IsError()}}
}

// compose makes the steps of a composition, and settles it with their outcomes. Where a
// step needs another attempt, so does the composition: its settled steps are not made
// again.
func (d *driver) compose(ctx context.Context, in wire.InvokeInput) callEnd {
	limited, timeout := ctx, in.Pin.Execution.Timeout()
	bounded := in.Pin.Execution.TimeoutSeconds > 0
	if bounded {
		var cancel context.CancelFunc
		limited, cancel = withDeadline(ctx, timeout)
		defer cancel()
	}
	steps := loop.NewSteps(in)
	for limited.Err() == nil {
		if why := d.rest(ctx); why != "" {
			return callEnd{left: why}
		}
		step, ok := steps.Next(time.Now())
		if !ok {
			break
		}
		end := d.call(limited, d.attempt(&step))
		if end.retry != nil || end.err != nil || end.left != "" {
			return end
		}
		steps.Ended(end.made.IsError)
	}
	if limited.Err() != nil {
		steps.Stop()
	}
	state := steps.State()
	end := wire.SettleInput{Invoke: in, Status: tool.StatusCompleted, Steps: &state}
	switch {
	case cancelled(ctx):
		end.Status, end.Kind, end.Msg = tool.StatusCancelled, tool.Cancelled, "the call was cancelled"
	case ctx.Err() != nil:
		return callEnd{err: interruption(context.Cause(ctx))}
	case limited.Err() != nil:
		end.Status, end.Kind = tool.StatusFailed, tool.Timeout
		end.Msg = "the composition did not end in its time of " + timeout.String()
	}
	out, err := d.settle(context.WithoutCancel(ctx), end)
	if err != nil {
		return callEnd{err: failure.Encode(err)}
	}
	return callEnd{made: wire.CallMade{Status: out.Status, IsError: out.IsError}}
}
