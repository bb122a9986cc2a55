package workflows

import (
	"errors"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/wire"
)

const (
	// beginTimeout bounds the attempts to record the run of a time of a schedule.
	beginTimeout = time.Hour
	// endedInterval is the longest time between two looks at a run that another execution started.
	endedInterval = 5 * time.Minute
	// looksPerExecution is after how many of them the workflow continues as new.
	looksPerExecution = 200
)

// scheduledAt is the time that a schedule meant by a start of its workflow.
var scheduledAt = temporal.NewSearchAttributeKeyTime("TemporalScheduledStartTime")

// ScheduledRun makes the run of a time of a schedule. It lasts as long as the run, whatever that
// waits for, since Temporal decides by it what overlaps. Cancelling it cancels the run.
func ScheduledRun(ctx workflow.Context, in wire.ScheduledRunInput) (wire.ScheduledRunOutput, error) {
	detached, _ := workflow.NewDisconnectedContext(ctx) // A run that is recorded is ended by its own workflow.
	if in.RunID != "" {
		return await(ctx, detached, in)
	}
	info := workflow.GetInfo(ctx)
	at, known := workflow.GetTypedSearchAttributes(ctx).GetTime(scheduledAt)
	if !known { // Somebody started the workflow by hand.
		at = info.WorkflowStartTime
	}
	options := bookkeepingOptions("begin the run of " + at.UTC().Format(time.RFC3339))
	options.ScheduleToCloseTimeout = beginTimeout
	beginning := workflow.WithActivityOptions(detached, options)
	var begun wire.BeginScheduledOutput
	err := workflow.ExecuteActivity(beginning, wire.BeginScheduledActivity, wire.BeginScheduledInput{
		ScheduledRunInput: in, At: at, TaskQueue: info.TaskQueueName,
	}).Get(beginning, &begun)
	out := wire.ScheduledRunOutput{RunID: begun.RunID, Refused: begun.Refused}
	if err != nil || begun.RunID == "" || begun.Ended || begun.Principal == nil {
		return out, failure.Encode(failure.Decode(err))
	}
	child := workflow.ExecuteChildWorkflow(childOptions(detached, in, begun), wire.AgentRunWorkflow,
		wire.NewAgentRun(*begun.Principal, begun.RunID))
	if err = child.GetChildWorkflowExecution().Get(detached, nil); err == nil {
		defer relay(ctx, workflowOf(begun.WorkflowID, in.Tenant, begun.RunID))()
		var end wire.AgentRunOutput
		err = child.Get(detached, &end)
		out.Status = end.Status
	}
	if _, elsewhere := errors.AsType[*temporal.ChildWorkflowExecutionAlreadyStartedError](err); elsewhere {
		in.RunID, in.WorkflowID = begun.RunID, begun.WorkflowID
		return await(ctx, detached, in)
	}
	if err != nil { // The run's own record says why.
		out.Status = agent.RunFailed
		if temporal.IsCanceledError(err) {
			out.Status = agent.RunCancelled
		}
	}
	return out, nil
}

func childOptions(ctx workflow.Context, in wire.ScheduledRunInput, begun wire.BeginScheduledOutput) workflow.Context {
	return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            workflowOf(begun.WorkflowID, in.Tenant, begun.RunID),
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		ParentClosePolicy:     enums.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		StaticSummary:         "agent " + begun.Agent,
		TypedSearchAttributes: below(ctx, begun.Agent, ""),
	})
}

// await waits for a run that another execution started, by looking at its record more and more
// seldom.
func await(ctx, detached workflow.Context, in wire.ScheduledRunInput) (wire.ScheduledRunOutput, error) {
	defer relay(ctx, workflowOf(in.WorkflowID, in.Tenant, in.RunID))()
	looking := workflow.WithActivityOptions(detached, bookkeepingOptions("look whether the run has ended"))
	pause := time.Second
	for range looksPerExecution {
		var ended bool
		err := workflow.ExecuteActivity(looking, wire.ScheduledEndedActivity, wire.ScheduledEndedInput{
			Tenant: in.Tenant, RunID: in.RunID,
		}).Get(looking, &ended)
		if err != nil || ended {
			return wire.ScheduledRunOutput{RunID: in.RunID}, failure.Encode(failure.Decode(err))
		}
		if err := workflow.Sleep(detached, pause); err != nil {
			return wire.ScheduledRunOutput{}, err //nolint:wrapcheck // The context is never cancelled.
		}
		pause = min(2*pause, endedInterval)
	}
	return wire.ScheduledRunOutput{}, continueAsNew(ctx, wire.ScheduledRunWorkflow, in)
}
