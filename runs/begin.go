package runs

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/converter"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Begin starts a workflow that has no run, such as an ingestion, once for each
// workflow id. The start is recorded first and retried until Temporal has the
// workflow. It fails with tool.Unavailable while Temporal is away; then nothing
// is recorded.
func (s *Service) Begin(ctx context.Context, start agent.Start) error {
	if err := s.Available(ctx); err != nil {
		return err
	}
	start.TaskQueue = s.cfg.TaskQueue
	added, err := s.cfg.Store.AddStart(ctx, start, startLease)
	if err != nil {
		return fmt.Errorf("recording the start of %s: %w", start.Workflow, err)
	}
	if !added { // An earlier request did, and it is retried.
		return nil
	}
	_, err = s.attempt(context.WithoutCancel(ctx), start)
	return err
}

// Memo returns the text values of the memo of an execution. It fails with
// tool.NotFound when Temporal has no execution of the workflow id, and with
// tool.Unavailable.
func (s *Service) Memo(ctx context.Context, workflowID string) (map[string]string, error) {
	if err := s.Available(ctx); err != nil {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	found, err := s.cfg.Temporal.DescribeWorkflowExecution(asking, workflowID, "")
	if absent(err) {
		return nil, &tool.Error{Kind: tool.NotFound, Op: "runs.Memo", Msg: "there is no such execution", Err: err}
	}
	if err != nil {
		s.availability.report(err)
		return nil, temporalError("looking for the workflow", err)
	}
	memo := map[string]string{}
	for name, payload := range found.GetWorkflowExecutionInfo().GetMemo().GetFields() {
		var value string
		if converter.GetDefaultDataConverter().FromPayload(payload, &value) == nil {
			memo[name] = value
		}
	}
	return memo, nil
}
