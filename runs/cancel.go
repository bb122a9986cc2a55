package runs

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Cancel ends a run that has not begun, and asks the workflow of one that has to
// stop. It fails with tool.Conflict when the run has ended, or is a host's, with
// tool.NotFound when its workflow has ended, and with tool.Unavailable while
// Temporal is away.
func (s *Service) Cancel(ctx context.Context, run agent.Run) (agent.Run, error) {
	conflict := &tool.Error{Kind: tool.Conflict, Op: "runs.Cancel", Msg: fmt.Sprintf("the run is %s already", run.Status)}
	switch {
	case run.Kind == agent.HostRun:
		conflict.Msg = "the run is a workflow of its host: cancel it there"
		return run, conflict
	case run.Status.Final():
		return run, conflict
	case run.Status == agent.RunPending:
		ended, err := s.cfg.Store.EndPendingRun(ctx, agent.RunEnd{
			Tenant: run.Tenant, RunID: run.ID, Status: agent.RunCancelled, Kind: tool.Cancelled,
			Msg: "the run was cancelled before it began",
		})
		if err != nil {
			return run, fmt.Errorf("ending the run: %w", err)
		}
		if ended {
			return s.cancelled(ctx, run)
		}
	}
	if err := s.Available(ctx); err != nil {
		return run, err
	}
	asking, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	err := s.cfg.Temporal.CancelWorkflow(asking, run.WorkflowID, "")
	switch {
	case absent(err):
		return run, &tool.Error{Kind: tool.NotFound, Op: "runs.Cancel", Msg: "the run's workflow has ended", Err: err}
	case err != nil:
		s.availability.report(err)
		return run, temporalError("cancelling the run", err)
	}
	return run, nil
}

// cancelled returns a run that was ended before it began. Its workflow may wait
// for a worker: asking it to stop spares the worker from finding that out, and
// is all the same if it fails.
func (s *Service) cancelled(ctx context.Context, run agent.Run) (agent.Run, error) {
	if s.Available(ctx) == nil {
		asking, cancel := context.WithTimeout(ctx, StartTimeout)
		defer cancel()
		_ = s.cfg.Temporal.CancelWorkflow(asking, run.WorkflowID, "")
	}
	return s.cfg.Store.FindRun(ctx, run.Tenant, run.ID)
}
