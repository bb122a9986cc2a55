package runs

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
)

// Wait waits for the end of a call, for at most timeout. A call that has not
// ended by then, or cannot be observed because Temporal is away, continues:
// ended is false, and so is a failure. An ended call has either a result or the
// error that its workflow failed with, as a [*tool.Error] if it is one of ours.
// A call whose workflow was not confirmed is not waited for.
func (s *Service) Wait(
	ctx context.Context, c Call, timeout time.Duration,
) (result *tool.Result, ended bool, err error) {
	if timeout <= 0 || !c.confirmed {
		return nil, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = s.cfg.Temporal.GetWorkflow(ctx, c.workflowID, "").Get(ctx, &result)
	if err == nil {
		return result, true, nil
	}
	if _, ok := errors.AsType[*temporal.WorkflowExecutionError](err); ok {
		return nil, true, failure.Decode(err)
	}
	return nil, false, nil
}
