package runs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Search attributes of the workflows that are started here.
var (
	tenantAttribute = temporal.NewSearchAttributeKeyKeyword(wire.TenantAttribute)
	agentAttribute  = temporal.NewSearchAttributeKeyKeyword(wire.AgentAttribute)
	phaseAttribute  = temporal.NewSearchAttributeKeyKeyword(wire.PhaseAttribute)
)

// accept records a run, with its first message if it is an agent's and what it takes over,
// and starts its workflow. start needs Workflow, Input, and whatever of Summary, Memo and
// Agent the workflow is to have. confirmed reports whether Temporal has the
// workflow. Until it has, the start is retried.
//
// It fails with tool.Unavailable while Temporal is away or too many runs have not begun, and
// with tool.RateLimited when the tenant has too many unfinished runs, or too many that have
// not begun; then nothing is recorded. It fails with tool.Conflict when the run exists already, or when
// Temporal has the workflow id for another run. It fails with Temporal's reason
// when Temporal refuses the workflow for good; then the run is recorded as failed.
func (s *Service) accept(
	ctx context.Context, run agent.Run, first *agent.Message, before takenOver, start agent.Start,
) (accepted agent.Run, confirmed bool, err error) {
	if err := s.Available(ctx); err != nil {
		s.queues.away()
		return agent.Run{}, false, err
	}
	if err := s.admitQueue(run.Tenant); err != nil {
		return agent.Run{}, false, err
	}
	start.Tenant, start.WorkflowID, start.RunID, start.TaskQueue = run.Tenant, run.WorkflowID, run.ID, s.cfg.TaskQueue
	acceptance := agent.Acceptance{
		Run: run, First: first, Before: before.messages, TakeInbox: before.inbox, Start: start,
		MaxUnfinished: s.cfg.MaxUnfinished, Lease: startLease,
	}
	if before.woken != nil {
		run, err = s.cfg.Store.AcceptWokenRun(ctx, acceptance, *before.woken)
	} else {
		run, err = s.cfg.Store.AcceptRun(ctx, acceptance)
	}
	s.queues.recorded(start.Tenant, err)
	if err != nil {
		return agent.Run{}, false, fmt.Errorf("recording the run: %w", err)
	}
	start.CreatedAt = run.CreatedAt
	// The caller may leave: the run is accepted.
	confirmed, err = s.attempt(context.WithoutCancel(ctx), start)
	return run, confirmed, err
}

// attempt tries to start a workflow once, and records what came of it. It
// reports whether Temporal has the workflow, and fails only with what ended the
// run.
func (s *Service) attempt(ctx context.Context, start agent.Start) (confirmed bool, err error) {
	err = s.execute(ctx, start)
	if alreadyStarted(err) {
		s.availability.report(nil)
		if err := s.ours(ctx, start); err != nil {
			return s.end(ctx, start, err)
		}
		err = nil
	}
	switch {
	case err == nil:
		s.availability.report(nil)
		if err := s.cfg.Store.DeleteStart(ctx, start); err != nil { // The next attempt finds the workflow.
			s.warn(ctx, "a start that Temporal confirmed could not be deleted", start, err)
		}
		return true, nil
	case permanent(err):
		if !is[*serviceerror.InvalidArgument](err) { // Which concerns this workflow alone.
			s.availability.report(err)
		}
		return s.giveUp(ctx, start, err)
	case !start.CreatedAt.IsZero() && time.Since(start.CreatedAt) > startHorizon:
		return s.giveUp(ctx, start, err)
	default:
		s.availability.report(err)
		s.postpone(ctx, start, err)
		return false, nil
	}
}

// execute asks Temporal for the workflow. An id that was ever used is refused.
//
// The first workflow task comes with the answer if a worker of this process polls the
// task queue with the same client, and skips matching. Otherwise the SDK does not ask for
// it. A task whose answer is lost, or that reaches a worker which has just stopped, is
// dispatched by matching after the workflow task timeout of 10 s: so servers stop before
// the worker whose client they use.
func (s *Service) execute(ctx context.Context, start agent.Start) error {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	memo := make(map[string]any, len(start.Memo))
	for name, value := range start.Memo {
		memo[name] = value
	}
	opts := client.StartWorkflowOptions{
		ID: start.WorkflowID, TaskQueue: start.TaskQueue, StaticSummary: start.Summary, Memo: memo,
		WorkflowIDReusePolicy:                    enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		EnableEagerStart:                         true,
		// Activities and child workflows inherit it: a server with fairness dispatches the
		// backlog of a task queue tenant by tenant, others ignore it.
		Priority: temporal.Priority{FairnessKey: string(start.Tenant)},
	}
	var known []temporal.SearchAttributeUpdate
	if s.cfg.Attributes.Owner {
		known = append(known, tenantAttribute.ValueSet(string(start.Tenant)))
		if start.Agent != "" {
			known = append(known, agentAttribute.ValueSet(start.Agent))
		}
	}
	if s.cfg.Attributes.Phase {
		known = append(known, phaseAttribute.ValueSet(wire.PhaseRunning))
	}
	opts.TypedSearchAttributes = temporal.NewSearchAttributes(known...)
	_, err := s.cfg.Temporal.ExecuteWorkflow(ctx, opts, start.Workflow, start.Input)
	return err //nolint:wrapcheck // The caller classifies it.
}

// giveUp ends the run of a start that Temporal refused for good, unless Temporal
// has the execution all the same, by an attempt whose answer was lost, or does
// not say.
func (s *Service) giveUp(ctx context.Context, start agent.Start, refusal error) (bool, error) {
	asking, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	_, err := s.cfg.Temporal.DescribeWorkflowExecution(asking, start.WorkflowID, "")
	switch {
	case err == nil:
		if err := s.cfg.Store.DeleteStart(ctx, start); err != nil {
			s.warn(ctx, "a start that Temporal confirmed could not be deleted", start, err)
		}
		return true, nil
	case absent(err):
		return s.end(ctx, start, temporalError("starting "+start.Workflow, refusal))
	default:
		s.postpone(ctx, start, refusal)
		return false, nil
	}
}

// end fails the pending run of a start for good.
func (s *Service) end(ctx context.Context, start agent.Start, cause error) (bool, error) {
	e := tool.AsError(cause)
	var err error
	if start.RunID == "" { // A later request starts it anew.
		err = s.cfg.Store.DeleteStart(ctx, start)
	} else {
		_, err = s.cfg.Store.EndStart(ctx, start, agent.RunEnd{
			Status: agent.RunFailed, Kind: e.Kind, Msg: "the run could not be started: " + e.Msg,
		})
	}
	if err != nil { // The next attempt is refused likewise.
		s.warn(ctx, "a run that cannot start could not be recorded as failed", start, err)
	}
	s.warn(ctx, "a run cannot be started", start, cause)
	return false, cause
}

// ours fails with tool.Conflict when Temporal has the workflow id of a start for
// another run.
func (s *Service) ours(ctx context.Context, start agent.Start) error {
	if start.Memo[memoRun] == "" {
		return nil // The id holds the run's.
	}
	memo, _, err := s.memo(ctx, start.WorkflowID)
	if err != nil || memo[memoRun] == "" || memo[memoRun] == start.RunID {
		return nil //nolint:nilerr // Nothing says that it is another's.
	}
	return &tool.Error{Kind: tool.Conflict, Op: "runs.Call", Msg: "the workflow id was used for another call"}
}

// postpone leaves a start to a later attempt.
func (s *Service) postpone(ctx context.Context, start agent.Start, cause error) {
	delay := min(maxBackoff, time.Second<<min(start.Attempts, 10))
	reason := tool.AsError(temporalError("starting "+start.Workflow, cause)).Msg
	if err := s.cfg.Store.PostponeStart(ctx, start, delay, reason); err != nil {
		err = errors.Join(err, cause)
		s.warn(ctx, "a start could not be postponed, and is retried when its lease ends", start, err)
		return
	}
	s.warn(ctx, "a workflow was not confirmed, and its start is retried", start, cause)
}

// warn logs a start that did not go as it should, and what it means.
func (s *Service) warn(ctx context.Context, state string, start agent.Start, err error) {
	s.log.WarnContext(ctx, "starting a workflow", slog.String("state", state),
		slog.String("tenant_id", string(start.Tenant)), slog.String("run_id", start.RunID),
		slog.String("workflow_id", start.WorkflowID), slog.Any("error", err))
}
