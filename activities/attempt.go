package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// settleTimeout bounds the settlement of a call whose own time is over.
const settleTimeout = 10 * time.Second

// attempt is one try at a call.
type attempt struct {
	a      *Activities
	in     *wire.InvokeInput
	number int   // Counted from 1.
	fence  int64 // Zero until admitted.
}

// run returns the call's outcome, or the encoded error of an attempt after
// which the call is still open.
func (t *attempt) run(ctx context.Context) (ledger.Outcome, error) {
	version, err := t.a.Resolver.Version(ctx, t.in.Principal.Tenant, t.in.Pin.ToolID, t.in.Pin.Digest)
	if err != nil {
		return t.fail(ctx, fmt.Errorf("loading %s: %w", t.in.Pin, err))
	}
	ticket, err := t.admit(ctx)
	if err != nil {
		return t.fail(ctx, err)
	}
	if ticket.Done != nil {
		return *ticket.Done, nil
	}
	t.fence = ticket.Fence
	if !t.in.Pin.Execution.Pure {
		err := t.a.Ledger.MarkSent(ctx, t.in.Principal.Tenant, t.in.EffectID, t.fence)
		if tool.KindOf(err) == tool.Conflict {
			return t.lost(ctx)
		}
		if err != nil {
			return t.fail(ctx, err)
		}
	}
	result, err := t.execute(ctx, ticket, version)
	if err != nil {
		return t.fail(ctx, err)
	}
	return t.settle(ctx, ledger.Settlement{Status: tool.StatusCompleted, Result: result})
}

// admit admits the attempt, unless it is the first of a call that an Admit
// activity admitted. A later one needs a fence of its own, so that the one
// before it can send nothing should it wake up.
func (t *attempt) admit(ctx context.Context) (ledger.Ticket, error) {
	if t.in.Fence == 0 || t.number > 1 || t.in.Call.Stored {
		return t.a.admit(ctx, t.in)
	}
	return ledger.Ticket{
		InvocationID: t.in.Call.InvocationID, Fence: t.in.Fence,
		Policy: tool.Policy{EgressClass: t.in.Egress}, Arguments: t.in.Call.Arguments,
	}, nil
}

// execute runs the tool, with a heartbeat.
func (t *attempt) execute(ctx context.Context, ticket ledger.Ticket, version *tool.Version) (*tool.Result, error) {
	var report progressReport
	stop := heartbeat(ctx, report.get)
	defer stop()
	timeout := t.in.Pin.Execution.Timeout()
	ctx, cancel := context.WithTimeout(tool.WithProgress(ctx, report.set), timeout)
	defer cancel()
	result, err := t.a.Executor.Execute(ctx, &tool.Call{
		ID: t.in.Call.CallID, EffectID: t.in.EffectID, Principal: t.in.Principal, Mode: t.in.Mode,
		RunID: t.in.RunID, Attempt: t.number, Timeout: timeout, Version: version,
		Builtin: t.in.Pin.Builtin, Egress: ticket.Policy.EgressClass, Arguments: ticket.Arguments,
	})
	if err == nil && result == nil {
		err = errors.New("the executor returned neither a result nor an error")
	}
	return result, classify(err)
}

// classify makes a failure of an executor a [tool.Error]. One that does not
// say whether something was sent may have sent it.
func classify(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e
	}
	e := &tool.Error{Kind: tool.InternalError, Op: "activities.Invoke", Msg: "internal error", Sent: true, Err: err}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind, e.Msg = tool.Timeout, "the tool did not answer in time"
	case errors.Is(err, context.Canceled):
		e.Kind, e.Msg = tool.Cancelled, "the call was cancelled"
	}
	return e
}

// fail ends the attempt with err: as a failure that Temporal repeats if that
// may help and is allowed, else as the end of the call.
func (t *attempt) fail(ctx context.Context, err error) (ledger.Outcome, error) {
	e := interrupted(ctx, tool.AsError(err))
	logFailure(ctx, "attempt failed", e, append(callAttrs(t.in), slog.Int("attempt", t.number))...)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		// Temporal has given this attempt up, and there may be another: it is
		// no longer ours to say how the call ends.
		return ledger.Outcome{}, failure.Encode(e)
	}
	if t.again(ctx, e) && t.unsend(ctx, e) == nil {
		return ledger.Outcome{}, failure.Encode(e)
	}
	return t.settle(ctx, ending(e, t.in.Pin.Execution))
}

// interrupted tells a call that was cancelled from one whose worker stops.
func interrupted(ctx context.Context, e *tool.Error) *tool.Error {
	if !errors.Is(ctx.Err(), context.Canceled) {
		return e
	}
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return &tool.Error{Kind: tool.Unavailable, Op: "activities.Invoke", Msg: "the worker was stopped", Sent: e.Sent, Err: e}
	default:
		return &tool.Error{Kind: tool.Cancelled, Op: "activities.Invoke", Msg: "the call was cancelled", Sent: e.Sent, Err: e}
	}
}

// again reports whether there is to be another attempt after e.
func (t *attempt) again(ctx context.Context, e *tool.Error) bool {
	retry := activity.GetInfo(ctx).RetryPolicy
	last := retry != nil && retry.MaximumAttempts > 0 && t.number >= int(retry.MaximumAttempts)
	return !last && e.RetryAfter <= failure.MaxRetryDelay && e.MayRetry(t.in.Pin.Execution)
}

// unsend takes back the mark of a call that must not be repeated and did not
// leave, so that its next attempt may send it.
func (t *attempt) unsend(ctx context.Context, e *tool.Error) error {
	if e.Sent || t.fence == 0 || t.in.Pin.Execution.Repeatable() {
		return nil
	}
	err := t.a.Ledger.MarkUnsent(ctx, t.in.Principal.Tenant, t.in.EffectID, t.fence)
	if tool.KindOf(err) == tool.Conflict {
		return nil // It was not marked: the attempt failed before that.
	}
	return err
}

// ending says how a call ends that will not be tried again after e.
func ending(e *tool.Error, x tool.Execution) ledger.Settlement {
	if e.Riddle(x) {
		return ledger.Settlement{Status: tool.StatusUnknown, Kind: tool.Unknown, Msg: ledger.UnknownMessage}
	}
	s := ledger.Settlement{Status: tool.EndStatus(e.Kind), Kind: e.Kind, Msg: e.Msg}
	switch e.Kind {
	case tool.Unavailable, tool.Cancelled:
		if e.Sent && !x.Repeatable() {
			s.Msg += "; the request may have taken effect"
		}
	case tool.Invalid, tool.NotFound, tool.Denied, tool.Conflict, tool.RateLimited, tool.Timeout, tool.Unknown, tool.InternalError:
	}
	return s
}

// lost ends an attempt that may send nothing, because the call is settled or a
// later attempt is under way. The outcome is the one in the ledger.
func (t *attempt) lost(ctx context.Context) (ledger.Outcome, error) {
	return t.settle(ctx, ledger.Settlement{Status: tool.StatusUnknown, Kind: tool.Unknown, Msg: ledger.UnknownMessage})
}

// settle closes the call, even when its own time is over.
func (t *attempt) settle(ctx context.Context, s ledger.Settlement) (ledger.Outcome, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	s.Entry, s.Fence = t.in.Entry(), t.fence
	outcome, err := t.a.Ledger.Settle(ctx, s)
	if err != nil {
		logFailure(ctx, "settling failed", err, callAttrs(t.in)...)
		return ledger.Outcome{}, failure.Encode(fmt.Errorf("settling %s: %w", t.in.Pin, err))
	}
	return outcome, nil
}
