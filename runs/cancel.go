package runs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/api/enums/v1"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Cancel ends a run that has not begun, and asks the workflow of any other to
// stop. It returns the run as it is then: cancelled, or not ended yet. It fails
// with tool.NotFound for a run that the tenant does not have, with tool.Conflict
// for a run that has ended otherwise, whose workflow has ended or is not started
// yet, or that is a host's, and with tool.Unavailable while Temporal is away.
func (s *Service) Cancel(ctx context.Context, tenant tool.TenantID, runID string) (agent.Run, error) {
	run, err := s.cfg.Store.FindRun(ctx, tenant, runID)
	if err != nil {
		return run, err
	}
	switch {
	case run.Kind == agent.RunKindHost:
		return run, cancelConflict("the run is a workflow of its host: cancel it there")
	case run.Status.Final():
		return run, endedAlready(run)
	case run.Status == agent.RunPending:
		ended, err := s.cfg.Store.EndPendingRun(ctx, agent.RunEnd{
			Tenant: run.Tenant, RunID: run.ID, Status: agent.RunCancelled, Kind: tool.Cancelled,
			Msg: "the run was cancelled before it began",
		})
		if err != nil {
			return run, fmt.Errorf("ending the run: %w", err)
		}
		if ended {
			return s.afterPendingCancel(ctx, run)
		}
	}
	exists, err := s.requestCancel(ctx, run)
	if err != nil {
		return run, err
	}
	return s.afterCancel(ctx, run, exists)
}

// requestCancel asks the workflow of a run to stop, and reports whether there is
// such a workflow. It fails with tool.Unavailable while Temporal is away.
func (s *Service) requestCancel(ctx context.Context, run agent.Run) (exists bool, err error) {
	if err := s.Available(ctx); err != nil {
		return false, err
	}
	asking, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	s.recordCancel(ctx, run)
	err = s.cfg.Temporal.CancelWorkflow(asking, run.WorkflowID, "")
	switch {
	case absent(err):
		return false, nil
	case err != nil:
		s.availability.report(err)
		return false, temporalError("cancelling the run", err)
	}
	return true, nil
}

// recordTimeout bounds the record of a request to cancel, which comes before the request
// to Temporal.
const recordTimeout = 500 * time.Millisecond

// recordCancel records that the current execution of a run's workflow is to stop, so that
// the processes that advance the run or make its calls learn of it at once. If that
// fails, they learn of it from Temporal, with the next heartbeat.
func (s *Service) recordCancel(ctx context.Context, run agent.Run) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	found, err := s.cfg.Temporal.DescribeWorkflowExecution(ctx, run.WorkflowID, "")
	info := found.GetWorkflowExecutionInfo()
	if err == nil && info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		_, err = s.cfg.Store.RequestCancel(ctx, run.Tenant, run.ID, info.GetExecution().GetRunId())
	}
	if err != nil && !absent(err) {
		s.log.WarnContext(ctx, "recording a request to cancel failed; the run learns of it by heartbeat",
			slog.String("tenant_id", string(run.Tenant)), slog.String("run_id", run.ID), slog.Any("error", err))
	}
}

// afterPendingCancel returns a run that was ended before it began. Its workflow
// may be waiting for a worker: it is asked to stop, so that no worker has to take
// it up. A failure of that request changes nothing.
func (s *Service) afterPendingCancel(ctx context.Context, run agent.Run) (agent.Run, error) {
	_, _ = s.requestCancel(ctx, run)
	return s.cfg.Store.FindRun(ctx, run.Tenant, run.ID)
}

// afterCancel returns a run whose workflow was asked to stop, as it is now. Temporal
// also accepts the request for a workflow that is over: the reconciler then
// closes the run. It fails with tool.Conflict for a run that was not cancelled.
func (s *Service) afterCancel(ctx context.Context, run agent.Run, exists bool) (agent.Run, error) {
	run, err := s.cfg.Reconciler.Run(ctx, run.Tenant, run.ID)
	switch {
	case err != nil:
		return run, fmt.Errorf("looking at the run: %w", err)
	case run.Status == agent.RunCancelled:
		return run, nil
	case run.Status.Final():
		return run, endedAlready(run)
	case !exists && run.StartedAt == nil:
		return run, cancelConflict("the run's workflow has not been started yet: try again in a moment")
	case !exists:
		return run, cancelConflict(
			"the run's workflow has ended, and its last calls are being settled: look at the run again in a moment",
		)
	}
	return run, nil
}

func endedAlready(run agent.Run) error {
	return cancelConflict(fmt.Sprintf("the run is %s already", run.Status))
}

func cancelConflict(msg string) error {
	return &tool.Error{Kind: tool.Conflict, Op: "runs.Cancel", Msg: msg}
}
