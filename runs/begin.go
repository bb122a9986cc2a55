package runs

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
)

// Begin starts a workflow that has no run, such as an ingestion, once for each
// workflow id. The start is recorded first and retried until Temporal has the
// workflow. It fails with tool.Unavailable while Temporal is away; then nothing
// is recorded.
func (s *Service) Begin(ctx context.Context, request Request, start agent.Start) error {
	if err := s.Available(ctx); err != nil {
		return err
	}
	start.TaskQueue, start.Memo = s.cfg.TaskQueue, request.memo()
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
