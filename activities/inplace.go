package activities

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
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
	// tried is how many attempts were made at what is to be retried, and reached is the step
	// of a composition that it is, counted from 1.
	tried, reached int
	// asks is set where the call is still open, because it needs an approval.
	asks *agent.Asking
	// left is set where a composition is left between two of its steps.
	left wire.Handover
	// closing is set where the call is over and its end is to be written.
	closing *attempt
	outcome ledger.Outcome // Of a call that is over.
	err     error          // Why the attempt could not end the call; the activity is retried.
}

// over reports whether the call has ended.
func (e *callEnd) over() bool { return e.err == nil && e.retry == nil && e.asks == nil && e.left == "" }

// start starts calls, or holds those that are not to be made here. Refused calls are
// settled even if the run is over.
func (d *driver) start(ctx, limited context.Context, calls []loop.Start) error {
	if err := d.admit(ctx, calls); err != nil {
		return err
	}
	for _, start := range calls {
		if start.Refuse == nil {
			d.machine.Call(start.Call).Begin(time.Now())
		}
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
			t := d.a.inPlace(&in, nil, time.Now())
			t.alive, t.doubt = d.report.alive, d.doubt[in.EffectID]
			if given, ok := d.tickets[in.EffectID]; ok {
				t.ticket, t.began = &given.ticket, given.at
				delete(d.tickets, in.EffectID)
			}
			run = func() callEnd { return d.a.call(tool.WithProgress(limited, d.report.tool), t, d.rest) }
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
	return (in.Pin.InPlace || visible) && in.Tried == 0 && in.Reached == 0 && in.Asks == nil
}

// hold leaves a call for another driver.
func (d *driver) hold(call int, why wire.Handover) {
	d.machine.Hold(call)
	if d.held == "" || why == wire.HandoverCalls {
		d.held = why
	}
}

// rest returns why no further call is begun here, or nothing.
func (d *driver) rest(ctx context.Context) wire.Handover { return resting(ctx, d.used(), d.watch) }

// resting returns why an activity begins no further call, or nothing. Used says that its
// time is over.
func resting(ctx context.Context, used bool, w *watch) wire.Handover {
	if w.pause().Paused() {
		return wire.HandoverPause
	}
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return wire.HandoverDrain
	default:
	}
	if used {
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
		in.Tried, in.RetryIn, in.Reached = end.tried, retryIn(end.retry), end.reached
		end.made.Retry = causeOf(end.retry)
		d.hold(end.call, wire.HandoverCalls)
	case end.asks != nil && end.reached > 0: // A step of the call does.
		d.machine.Call(end.call).Reached = end.reached
		d.hold(end.call, wire.HandoverCalls)
		return nil
	case end.asks != nil:
		d.machine.Asks(end.call, *end.asks)
		return nil
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
		if d.over != nil {
			d.over(end.call, end.outcome)
		}
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
	return callEnd{made: wire.CallMade{Status: out.Status, IsError: true}, outcome: ledger.Outcome{
		InvocationID: out.InvocationID, Status: out.Status, Result: out.Result, Kind: out.Kind, Msg: out.Msg,
		Sent: out.Acted,
	}, err: err}
}

func (d *driver) settle(ctx context.Context, in wire.SettleInput) (wire.InvokeOutput, error) {
	return patiently(ctx, settlePatience, func() (wire.InvokeOutput, error) { return d.a.settleCall(ctx, in) })
}

// inPlace returns an attempt at a call, in place.
func (a *Activities) inPlace(in *wire.InvokeInput, ticket *ledger.Ticket, at time.Time) *attempt {
	return &attempt{a: a, in: in, number: in.Tried + 1, began: at, inPlace: true, ticket: ticket, defers: a.Journal != nil}
}

// call makes one attempt at a call: admission, the tool, settlement. Of a composition
// it makes the steps too. Rest returns why no further step is begun, or nothing.
func (a *Activities) call(ctx context.Context, t *attempt, rest func(context.Context) wire.Handover) callEnd {
	outcome, err := t.recovered(ctx)
	switch {
	case t.retry != nil:
		return callEnd{retry: t.retry, tried: t.number}
	case err != nil:
		return callEnd{err: err}
	case t.asks != nil:
		return callEnd{asks: t.asks}
	case t.closing != nil:
		return closingEnd(t)
	case t.opened != nil:
		return a.compose(ctx, t, outcome.InvocationID, rest)
	default:
		return endOf(outcome)
	}
}

// retryIn is when the attempt after e is due.
func retryIn(e *tool.Error) time.Duration { return cmp.Or(e.RetryAfter, wire.CallRetryInterval) }

func endOf(o ledger.Outcome) callEnd {
	return callEnd{made: wire.CallMade{Status: o.Status, IsError: o.IsError()}, outcome: o}
}

// closingEnd is the end of a call whose settlement is to be recorded.
func closingEnd(t *attempt) callEnd {
	s := t.closing
	end := endOf(ledger.Outcome{
		InvocationID: t.invocation, Status: s.Status, Result: s.Result, Kind: s.Kind, Msg: s.Msg,
		Sent: t.marked && !s.Unsent,
	})
	end.closing = t
	return end
}
