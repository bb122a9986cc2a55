package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/wire"
)

// run makes the attempts of a call in the lane that its pin says. The lane was decided
// when the plan was made, by [tool.Execution.FastLane]: here it is only followed.
//
// In the fast lane the first attempt is a local activity, which is part of the
// workflow's own task. When the worker dies under it, the task runs again on another,
// and so does the attempt, as one more that the ledger knows: a call that is settled
// answers what is stored. What fails and may be repeated, here or in place, is handed
// over to the regular activity.
func run(ctx workflow.Context, in *wire.InvokeInput) (out wire.InvokeOutput, err error) {
	activity := wire.InvokeActivity(in.Pin.Implementation)
	if in.Pin.Fast && in.Tried == 0 {
		local := workflow.WithLocalActivityOptions(ctx, fastOptions(*in))
		err := workflow.ExecuteLocalActivity(local, activity, *in).Get(local, &out)
		if err == nil || ctx.Err() != nil || !passing(err) {
			return out, err
		}
		in.Tried++
		in.RetryIn = handOverDelay(err)
	}
	if in.Tried > 0 {
		if err := again(ctx, in); err != nil {
			return out, err
		}
	}
	options := invokeOptions(*in)
	options.Priority = fair(ctx, in.Principal.Tenant)
	regular := workflow.WithActivityOptions(ctx, options)
	err = workflow.ExecuteActivity(regular, activity, *in).Get(regular, &out)
	return out, err
}

// again waits until the next attempt of a call that was tried in place is due.
func again(ctx workflow.Context, in *wire.InvokeInput) error {
	return workflow.Sleep(ctx, min(in.RetryIn, failure.MaxRetryDelay))
}

// passing reports whether another attempt may follow one in the fast lane that
// failed with err: the failure is retryable, or it is unknown how far the
// attempt came, in which case the ledger decides.
func passing(err error) bool {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	return !temporal.IsCanceledError(err) && (!ok || !app.NonRetryable())
}

// handOverDelay is how long a call waits between its attempt in the fast lane
// and the next: what the tool asked for, or what a regular retry would wait.
// An attempt that ran out of time has waited enough.
func handOverDelay(err error) time.Duration {
	if _, late := errors.AsType[*temporal.TimeoutError](err); late {
		return 0
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.NextRetryDelay() > 0 {
		return min(app.NextRetryDelay(), failure.MaxRetryDelay)
	}
	return wire.CallRetryInterval
}
