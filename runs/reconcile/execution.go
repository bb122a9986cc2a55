package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/toolcrib/toolcrib/tool"
)

// requestTimeout bounds one request to Temporal.
const requestTimeout = 10 * time.Second

// execution is Temporal's state of a workflow.
type execution struct {
	open     bool
	missing  bool
	runID    string // Of Temporal.
	status   enums.WorkflowExecutionStatus
	closedAt time.Time
}

// describe asks Temporal for the last execution of a workflow. If the chain is given by its first execution
// and the id has been reused since, it describes that first execution: the chain has ended.
func (r *Reconciler) describe(ctx context.Context, workflowID, firstRunID string) (execution, error) {
	x, first, err := r.describeRun(ctx, workflowID, "")
	if err != nil || x.missing || firstRunID == "" || first == "" || first == firstRunID {
		return x, err
	}
	x, _, err = r.describeRun(ctx, workflowID, firstRunID)
	if x.open { // Unreachable: there is a later chain.
		return execution{}, fmt.Errorf("workflow %s has two open executions", workflowID)
	}
	return x, err
}

func (r *Reconciler) describeRun(
	ctx context.Context, workflowID, runID string,
) (x execution, firstRunID string, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	found, err := r.cfg.Temporal.DescribeWorkflowExecution(ctx, workflowID, runID)
	if _, missing := errors.AsType[*serviceerror.NotFound](err); missing {
		return execution{missing: true}, "", nil
	}
	if err != nil {
		return execution{}, "", unavailable("describing workflow "+workflowID, err)
	}
	return executionOf(found), found.GetWorkflowExecutionInfo().GetFirstRunId(), nil
}

func executionOf(found *workflowservice.DescribeWorkflowExecutionResponse) execution {
	info := found.GetWorkflowExecutionInfo()
	x := execution{runID: info.GetExecution().GetRunId(), status: info.GetStatus()}
	switch x.status {
	case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED, enums.WORKFLOW_EXECUTION_STATUS_FAILED,
		enums.WORKFLOW_EXECUTION_STATUS_CANCELED,
		enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, enums.WORKFLOW_EXECUTION_STATUS_TIMED_OUT,
		enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
		x.closedAt = info.GetCloseTime().AsTime()
	case enums.WORKFLOW_EXECUTION_STATUS_UNSPECIFIED, enums.WORKFLOW_EXECUTION_STATUS_RUNNING,
		enums.WORKFLOW_EXECUTION_STATUS_PAUSED:
		x.open = true
	default: // An unknown, newer status closes nothing.
		x.open = true
	}
	return x
}

// over reports whether an execution ended at least grace ago.
func (x execution) over(grace time.Duration) bool {
	return x.missing || !x.open && time.Since(x.closedAt) >= grace
}

// unavailable is the error when Temporal does not answer.
func unavailable(doing string, err error) error {
	kind := tool.Unavailable
	if errors.Is(err, context.Canceled) {
		kind = tool.Cancelled
	}
	return &tool.Error{
		Kind: kind, Op: "reconcile", Msg: "Temporal is not answering", Err: fmt.Errorf("%s: %w", doing, err),
	}
}
