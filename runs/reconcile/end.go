package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// end is the end of something whose workflow has ended.
type end struct {
	status agent.RunStatus
	kind   tool.Kind
	reason Reason
	msg    string
	output string // Of an agent run that completed.
}

// endOf returns the end of a run by the state of its workflow in Temporal.
func (r *Reconciler) endOf(
	ctx context.Context, workflowID string, kind agent.RunKind, started bool, x execution,
) (end, error) {
	switch {
	case x.missing && !started:
		return end{
			agent.RunFailed, tool.Unavailable, NeverStarted, "the run was recorded, but its workflow was never started", "",
		}, nil
	case x.missing:
		return end{
			agent.RunFailed, tool.Unknown, WorkflowMissing,
			"the run's workflow is no longer in Temporal, and its end was not recorded", "",
		}, nil
	}
	switch x.status {
	case enums.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		msg := "the run's workflow was terminated"
		reason, err := r.terminationReason(ctx, workflowID, x.runID)
		if reason != "" {
			msg += ": " + reason
		}
		return end{agent.RunCancelled, tool.Cancelled, WorkflowTerminated, msg, ""}, err
	case enums.WORKFLOW_EXECUTION_STATUS_CANCELED:
		return end{agent.RunCancelled, tool.Cancelled, WorkflowCancelled, "the run's workflow was cancelled", ""}, nil
	case enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return end{
			agent.RunFailed, tool.Timeout, WorkflowTimedOut, "the run's workflow reached its time limit in Temporal", "",
		}, nil
	case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return r.completed(ctx, workflowID, kind, x.runID)
	case enums.WORKFLOW_EXECUTION_STATUS_FAILED:
		return r.failed(ctx, workflowID, x.runID)
	case enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW, enums.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED,
		enums.WORKFLOW_EXECUTION_STATUS_RUNNING, enums.WORKFLOW_EXECUTION_STATUS_PAUSED:
		return end{
			agent.RunFailed, tool.Unknown, WorkflowMissing, "the last execution of the run's workflow is no longer in Temporal",
			"",
		}, nil
	default:
		return end{}, fmt.Errorf("workflow %s has the unknown status %s", workflowID, x.status)
	}
}

// terminationReason returns the reason given for a termination.
func (r *Reconciler) terminationReason(ctx context.Context, workflowID, runID string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	events := r.cfg.Temporal.GetWorkflowHistory(ctx, workflowID, runID, false, enums.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return "", unavailable("reading the end of workflow "+workflowID, err)
		}
		if reason := event.GetWorkflowExecutionTerminatedEventAttributes().GetReason(); reason != "" {
			return tool.Clip(reason, maxMessage), nil
		}
	}
	return "", nil
}

// completed returns the end of a run by the result of its workflow.
func (r *Reconciler) completed(ctx context.Context, workflowID string, kind agent.RunKind, runID string) (end, error) {
	out := end{
		status: agent.RunCompleted, reason: WorkflowCompleted,
		msg: "the run's workflow completed, but its recorded end is not in the database",
	}
	if kind != agent.RunKindAgent {
		return out, nil
	}
	var result json.RawMessage
	err := r.result(ctx, workflowID, runID, &result)
	var answer wire.AgentRunOutput
	if err == nil && json.Unmarshal(result, &answer) == nil {
		out.output = answer.Answer
	}
	return out, passing(err)
}

// failed returns the end of a run by the failure of its workflow.
func (r *Reconciler) failed(ctx context.Context, workflowID, runID string) (end, error) {
	err := r.result(ctx, workflowID, runID, nil)
	if err == nil || passing(err) != nil {
		return end{}, err
	}
	e := tool.AsError(failure.Decode(err))
	out := end{
		status: agent.RunFailed, kind: e.Kind, reason: WorkflowFailed,
		msg: "the run's workflow failed: " + tool.Clip(e.Msg, maxMessage),
	}
	if e.Kind == tool.Cancelled {
		out.status = agent.RunCancelled
	}
	return out, nil
}

// result reads the result or failure of an ended workflow.
func (r *Reconciler) result(ctx context.Context, workflowID, runID string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return r.cfg.Temporal.GetWorkflow(ctx, workflowID, runID).Get(ctx,
		into)
}

// passing returns the errors of Temporal, which are not the workflow's own.
func passing(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return unavailable("reading the end of a workflow", err)
	}
	if _, ok := errors.AsType[serviceerror.ServiceError](err); ok {
		return unavailable("reading the end of a workflow", err)
	}
	// What a workflow returned has no such error in its chain before it is decoded.
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind == tool.Unavailable {
		return fmt.Errorf("reading the end of a workflow: %w", e) // Encrypted by a key that this process lacks.
	}
	return nil
}

// maxMessage bounds untrusted text in a message.
const maxMessage = 500
