package runs

import (
	"context"
	"errors"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// outcome is what Wait returns.
type outcome struct {
	result *tool.Result
	ended  bool
	err    error
}

// recorded returns the outcome of a call whose run has ended, or nil where the record
// does not have all of it.
func recorded(end *agent.CallEnd) *outcome {
	switch {
	case end.EndedBy == agent.EndedByReconciler: // It knows less than Temporal.
		return nil
	case end.Status == agent.RunCancelled:
		return &outcome{ended: true, err: failure.Decode(temporal.NewCanceledError())}
	case end.Status == agent.RunCompleted && end.Result != nil:
		return &outcome{ended: true, result: wire.Fitting(end.Result, end.InvocationID)}
	case end.Status == agent.RunFailed && end.Result == nil && end.CallStatus.Final() &&
		end.CallKind == end.Kind && end.CallMsg == end.Msg:
		return &outcome{ended: true, err: &tool.Error{Kind: end.Kind, Op: "runs.Wait", Msg: end.Msg, Acted: end.Acted}}
	default:
		return nil
	}
}

// observe asks Temporal how a call ended. It returns nil for one whose workflow is open,
// and while Temporal is away. It never waits there for the end of the workflow: such a
// request may be answered many seconds late.
func (s *Service) observe(ctx context.Context, c Call) *outcome {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	found, err := s.cfg.Temporal.DescribeWorkflowExecution(ctx, c.WorkflowID, "")
	if absent(err) {
		return &outcome{}
	}
	info := found.GetWorkflowExecutionInfo()
	if err != nil || info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil
	}
	var result *tool.Result
	// The workflow is closed, so this is answered at once.
	err = s.cfg.Temporal.GetWorkflow(ctx, c.WorkflowID, info.GetExecution().GetRunId()).Get(ctx, &result)
	if err == nil {
		return &outcome{result: result, ended: true}
	}
	if _, unreadable := errors.AsType[*tool.Error](err); unreadable {
		return nil // The failure is encrypted by a key that this process lacks.
	}
	if _, ok := errors.AsType[*temporal.WorkflowExecutionError](err); ok {
		return &outcome{ended: true, err: failure.Decode(err)}
	}
	return nil
}
