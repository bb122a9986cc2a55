package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// classify converts an error of an executor to a [tool.Error]. Other errors may have been sent.
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

// ending returns the settlement of a call that is not retried after e.
func ending(e *tool.Error, x tool.Execution) ledger.Settlement {
	if e.OutcomeUnknown(x) {
		return ledger.Settlement{Status: tool.StatusUnknown, Kind: tool.Unknown, Msg: ledger.UnknownMessage}
	}
	s := ledger.Settlement{Status: tool.EndStatus(e.Kind), Kind: e.Kind, Msg: tool.Clip(e.Msg, tool.MaxMessage)}
	if drift, ok := errors.AsType[*tool.DriftError](e); ok {
		s.Drift = &ledger.Drift{Declared: drift.Declared, Attempted: drift.Attempted}
	}
	switch e.Kind {
	case tool.Unavailable, tool.Cancelled:
		if e.Sent && !x.Repeatable() {
			s.Msg += "; the request may have taken effect"
		}
	case tool.Invalid, tool.NotFound, tool.Denied, tool.Conflict, tool.RateLimited, tool.Timeout, tool.Unknown,
		tool.InternalError:
	}
	return s
}

// cancelled reports whether cancellation of the activity of ctx was requested. A context also
// ends when heartbeats fail, when the workflow was reset or paused, or when the worker stops:
// those are not cancellations.
func cancelled(ctx context.Context) bool {
	return temporal.IsCanceledError(context.Cause(ctx))
}

// interruption is the error of an attempt that ended before its call. It is retried: the next
// attempt finds the progress of this one in the ledger.
func interruption(cause error) error {
	return failure.Encode(&tool.Error{
		Kind: tool.Unavailable, Op: "activities", Msg: "the attempt was interrupted", Err: cause,
	})
}

// encode returns err in the form in which an activity returns it.
func encode(ctx context.Context, err error) error {
	switch {
	case cancelled(ctx):
		return temporal.NewCanceledError()
	case ctx.Err() != nil:
		return interruption(err)
	default:
		return failure.Encode(err)
	}
}

// withDeadline returns a context that is cancelled, as [cancelled] reports it, after the
// given time.
func withDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(ctx)
	if d <= 0 {
		cancel(temporal.NewCanceledError())
	}
	timer := time.AfterFunc(d, func() { cancel(temporal.NewCanceledError()) })
	return limited, func() {
		timer.Stop()
		cancel(nil)
	}
}
