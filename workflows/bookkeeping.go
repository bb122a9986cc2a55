package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// inlineTimeout bounds a step that is part of the workflow's task: one or two
// round trips to the database. Where they take longer, the step is better off
// as an activity.
const inlineTimeout = 5 * time.Second

// bookkeep runs an activity that only reads and writes the database. Inline, it
// is tried once within the workflow task and handed over to an activity if it
// fails with a retryable error. All such steps are idempotent.
//
// Inline, it runs even when ctx is cancelled: a worker may have died after this
// task began a call that is recorded nowhere else, and the settlement needs the
// step's result.
func bookkeep(ctx workflow.Context, inline bool, activity string, in, out any, o workflow.ActivityOptions) error {
	if inline {
		detached, cancel := workflow.NewDisconnectedContext(ctx)
		defer cancel()
		local := workflow.WithLocalActivityOptions(detached, workflow.LocalActivityOptions{
			ScheduleToCloseTimeout: inlineTimeout,
			Summary:                o.Summary,
			RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		})
		err := workflow.ExecuteLocalActivity(local, activity, in).Get(local, out)
		if err == nil || ctx.Err() != nil || !passing(err) {
			return err
		}
	}
	regular := workflow.WithActivityOptions(ctx, o)
	return workflow.ExecuteActivity(regular, activity, in).Get(regular, out)
}
