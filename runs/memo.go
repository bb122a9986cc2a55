package runs

import (
	"context"

	"go.temporal.io/api/enums/v1"

	"github.com/toolcrib/toolcrib/tool"
)

// Fields of the memo of a workflow.
const (
	// memoTrace holds the trace id of the request that started the workflow.
	memoTrace = "toolcrib_trace"
	// memoRun holds the run id of a single call. The workflow id holds the run id
	// too, unless the caller chose the id of the call.
	memoRun = "toolcrib_run"
	// memoDigest holds the digest of a single call as it was requested.
	memoDigest = "toolcrib_call"
)

// memo returns the memo of every workflow that the request starts.
func (r Request) memo() map[string]string { return map[string]string{memoTrace: r.TraceID} }

// memo returns the text fields of the memo of an execution, and its run id if it is
// open. It fails with tool.NotFound when Temporal has no execution of the workflow
// id, and with tool.Unavailable.
func (s *Service) memo(ctx context.Context, workflowID string) (memo map[string]string, open string, err error) {
	if err := s.Available(ctx); err != nil {
		return nil, "", err
	}
	asking, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	found, err := s.cfg.Temporal.DescribeWorkflowExecution(asking, workflowID, "")
	if absent(err) {
		return nil, "", &tool.Error{Kind: tool.NotFound, Op: "runs.memo", Msg: "there is no such execution", Err: err}
	}
	if err != nil {
		s.availability.report(err)
		return nil, "", temporalError("looking for the workflow", err)
	}
	info := found.GetWorkflowExecutionInfo()
	if info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		open = info.GetExecution().GetRunId()
	}
	memo = map[string]string{}
	for name, payload := range info.GetMemo().GetFields() {
		var value string
		err := s.cfg.DataConverter.FromPayload(payload, &value)
		if err == nil {
			memo[name] = value
		} else if tool.KindOf(err) == tool.Unavailable {
			return nil, "", err // It is encrypted by a key that this process lacks.
		}
	}
	return memo, open, nil
}
