package runs

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// PauseRequest asks for a run to be paused, or to be resumed.
type PauseRequest struct {
	Principal tool.Principal // Who asks. Its tenant is required.
	RunID     string
	Reason    string // For people; empty for none.
}

// Pause has a run begin nothing more, with all that is below it, until it is resumed: calls
// and questions that are in progress come to their end. It returns the run as it is then. A
// run that is paused already is returned as it is.
//
// The pause is recorded first. Where Temporal is away, the run's workflow is given it later
// ([Service.DispatchUntil]). It fails with tool.NotFound for a run that the tenant does not
// have, and with tool.Conflict for one that has ended, is a host's, or is below another one.
func (s *Service) Pause(ctx context.Context, r PauseRequest) (agent.Run, error) {
	return s.changePause(ctx, "runs.Pause", r, true)
}

// Resume has a paused run go on. It is otherwise like [Service.Pause].
func (s *Service) Resume(ctx context.Context, r PauseRequest) (agent.Run, error) {
	return s.changePause(ctx, "runs.Resume", r, false)
}

func (s *Service) changePause(ctx context.Context, op string, r PauseRequest, pause bool) (agent.Run, error) {
	tenant := r.Principal.Tenant
	if len(r.Reason) > maxReason {
		return agent.Run{}, &tool.Error{
			Kind: tool.Invalid, Op: op, Path: "/reason",
			Msg: fmt.Sprintf("the reason has more than %d bytes", maxReason),
		}
	}
	run, err := s.cfg.Store.FindRun(ctx, tenant, r.RunID)
	if err != nil {
		return run, err
	}
	if err := s.pausable(ctx, op, run); err != nil {
		return run, err
	}
	round, err := s.cfg.Store.ChangePause(ctx, agent.PauseChange{
		Tenant: tenant, RunID: run.ID, Pause: pause, By: r.Principal.Subject, Reason: r.Reason, Lease: startLease,
	})
	if err != nil {
		return run, fmt.Errorf("recording the pause: %w", err)
	}
	if run, err = s.cfg.Store.FindRun(ctx, tenant, r.RunID); err != nil {
		return run, err
	}
	if round == 0 { // It is as it is to be, or has ended meanwhile.
		return run, s.pausable(ctx, op, run)
	}
	s.deliverPause(context.WithoutCancel(ctx), agent.UndeliveredPause{
		Tenant: tenant, RunID: run.ID, WorkflowID: run.WorkflowID, Round: round,
	})
	return run, nil
}

// pausable fails with tool.Conflict for a run that cannot be paused.
func (s *Service) pausable(ctx context.Context, op string, run agent.Run) error {
	conflict := func(msg string) error { return &tool.Error{Kind: tool.Conflict, Op: op, Msg: msg} }
	switch {
	case run.Kind == agent.RunKindHost:
		return conflict("the run is a workflow of its host, which only the host can pause")
	case run.Status.Final():
		return conflict(fmt.Sprintf("the run is %s already", run.Status))
	case run.Parent == nil || run.Parent.Detached:
		return nil
	}
	line, err := s.cfg.Store.Ancestors(ctx, run.Tenant, run.ID)
	if err != nil {
		return fmt.Errorf("reading the runs above: %w", err)
	}
	outermost := run.ID
	for _, above := range line {
		if outermost = above.RunID; above.Detached {
			break
		}
	}
	return conflict(fmt.Sprintf("the run is a part of run %s: pause or resume that one", outermost))
}

// deliverPause gives the workflow of a run its round, and reports whether it has it.
func (s *Service) deliverPause(ctx context.Context, u agent.UndeliveredPause) bool {
	asking, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	err := s.cfg.Temporal.SignalWorkflow(asking, u.WorkflowID, "", wire.PauseSignal, wire.NewPause(u.RunID, u.Round))
	switch {
	case err == nil:
		err = s.cfg.Store.PauseDelivered(ctx, u)
	case !absent(err):
		s.availability.report(err)
	}
	if err != nil { // A workflow that is absent is not started yet, or the run is about to be closed.
		s.log.WarnContext(ctx, "delivering a pause to its workflow failed; it is retried",
			slog.String("tenant_id", string(u.Tenant)), slog.String("run_id", u.RunID), slog.Int("round", int(u.Round)),
			slog.Any("error", err))
	}
	return err == nil
}

// deliverPauses gives at most limit workflows the rounds that they do not have.
func (s *Service) deliverPauses(ctx context.Context, limit int) (delivered int, err error) {
	due, err := s.cfg.Store.ClaimPauses(ctx, limit, startLease)
	if err != nil {
		return 0, fmt.Errorf("claiming pauses: %w", err)
	}
	delivered, err = each(due, func(u agent.UndeliveredPause) (bool, error) { return s.deliverPause(ctx, u), nil })
	s.overdue.count(OverdueDelivery, len(due), delivered)
	return delivered, err
}
