package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

const (
	// grace is how much longer than the tool's own deadline Temporal waits for
	// an attempt: time for admission, marking and settlement, even when the
	// database is unavailable for minutes (activities/patience.go). A dead
	// worker is detected by its missing heartbeats.
	grace = 7 * time.Minute
	// heartbeatTimeout bounds how long a dead worker goes unnoticed.
	heartbeatTimeout = 10 * time.Second
	// fastGrace is how much longer than the tool's own deadline an attempt in
	// the fast lane may take, including the wait for a busy worker. It is
	// short: an attempt that takes longer is handed over to a regular activity,
	// and the ledger fences the first one if it still runs.
	fastGrace = 3 * time.Second
	// modelTimeout is how long the last question of a slice may take: longer than the
	// models' own timeouts (platform/models), so that an attempt reports its failure.
	modelTimeout = 11 * time.Minute
)

// fair is the priority of a call in a workflow: that of its tenant's key, where the workflow has no
// fairness key of its own. Those of runs have their tenant's, which their activities and child
// workflows inherit; a host's need not have one.
func fair(ctx workflow.Context, tenant tool.TenantID) (p temporal.Priority) {
	if workflow.GetInfo(ctx).Priority.FairnessKey == "" {
		p.FairnessKey = string(tenant)
	}
	return p
}

// fastOptions returns the options of an attempt in the fast lane.
func fastOptions(in wire.InvokeInput) workflow.LocalActivityOptions {
	timeout := in.Pin.Execution.Timeout()
	if in.Compose {
		timeout = 2 * tool.MaxFastTimeout // Its slice, and a last step that began in it.
	}
	return workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: timeout + fastGrace,
		Summary:                label(in),
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
	}
}

// invokeOptions returns the options of the Invoke activity for a pinned tool.
//
// A call that must not be repeated has several attempts too: the ledger keeps
// it from being sent twice, and an attempt that sent nothing may be retried.
func invokeOptions(in wire.InvokeInput) workflow.ActivityOptions {
	if in.Compose {
		return advanceOptions(label(in))
	}
	timeout := in.Pin.Execution.Timeout()
	return workflow.ActivityOptions{
		StartToCloseTimeout: timeout + grace,
		HeartbeatTimeout:    heartbeatTimeout,
		WaitForCancellation: true, // So that the outcome of the call is known, and settled.
		Summary:             label(in),
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    wire.CallRetryInterval,
			BackoffCoefficient: 2,
			MaximumInterval:    30 * time.Second,
			MaximumAttempts:    int32(max(1, in.Pin.Execution.Attempts()-in.Tried)), //nolint:gosec // The registry bounds it.
		},
	}
}

// bookkeepingOptions are for activities that only read and write the database
// and must happen: they are retried until the database answers, without a
// limit.
func bookkeepingOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Second,
		WaitForCancellation: true,
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second,
		},
	}
}

// admitOptions bound the retries of admission and planning, so that a call does
// not wait for days.
func admitOptions(summary string) workflow.ActivityOptions {
	o := bookkeepingOptions(summary)
	o.RetryPolicy.MaximumAttempts = 30 // About four minutes.
	return o
}

// advanceOptions are for the activity that takes a run as far as one process can. Its
// time is that of a slice, and of a last step that began in it.
func advanceOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: wire.AdvanceSlice + modelTimeout + tool.MaxInPlaceTimeout + grace,
		HeartbeatTimeout:    heartbeatTimeout,
		WaitForCancellation: true, // So that its calls, and the run, are recorded as cancelled.
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second,
			MaximumAttempts: 30,
		},
	}
}

// inlineOptions are for the first steps of a run, which its workflow takes in its own task:
// the options of [advanceOptions], without attempts.
func inlineOptions(summary string) workflow.LocalActivityOptions {
	return workflow.LocalActivityOptions{
		StartToCloseTimeout: wire.AdvanceSlice + modelTimeout + tool.MaxInPlaceTimeout + grace,
		Summary:             summary,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
	}
}

// fastNodesOptions are for calls that a host's workflow makes in its own task: their slice,
// and a last one that began in it.
func fastNodesOptions(summary string) workflow.LocalActivityOptions {
	return workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: 2*tool.MaxFastTimeout + fastGrace,
		Summary:                summary,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
	}
}

// modelOptions are for a question that a model failed to answer in place, so many times,
// in a run with so much time left.
func modelOptions(summary string, tried int, left time.Duration) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		ScheduleToCloseTimeout: left + grace, // A delay that the model asks for is not waited for beyond that.
		StartToCloseTimeout:    wire.AdvanceSlice + modelTimeout + tool.MaxInPlaceTimeout + grace,
		HeartbeatTimeout:       heartbeatTimeout,
		WaitForCancellation:    true,
		Summary:                summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: wire.ModelRetryInterval, BackoffCoefficient: wire.ModelRetryCoefficient,
			MaximumInterval: wire.ModelRetryMaximum, MaximumAttempts: int32(max(1, wire.ModelAttempts-tried)), //nolint:gosec // Small.
		},
	}
}
