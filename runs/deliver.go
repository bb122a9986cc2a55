package runs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
)

const (
	// DeliverLimit is the largest useful limit of [Service.Deliver]: the number of deliveries
	// that fit into their lease when each takes its full time.
	DeliverLimit = dispatchWidth * int(startLease/(2*StartTimeout))
	// overdue is for how long the time of a request must be over before it is ended here: its
	// workflow ends it, if there is one.
	overdue = 30 * time.Second
)

// Deliver expires overdue requests, writes the events of those that escalate, then sends
// undelivered decisions to at most limit workflows, and undelivered results and pauses to as many each, and
// returns the number of deliveries. A failure of one kind does not hold up the others. Several
// processes may deliver at the same time.
func (s *Service) Deliver(ctx context.Context, limit int) (delivered int, err error) {
	expired, err := s.cfg.Store.ExpireOverdue(ctx, limit, overdue)
	s.overdue.count(OverdueExpiry, expired, expired)
	if err != nil {
		err = fmt.Errorf("ending overdue requests: %w", err)
	}
	if _, escalateErr := s.cfg.Store.EscalateDue(ctx, limit); escalateErr != nil {
		err = errors.Join(err, fmt.Errorf("escalating requests: %w", escalateErr))
	}
	delivered, deliverErr := s.deliverAll(ctx, limit)
	paused, pauseErr := s.deliverPauses(ctx, limit)
	return delivered + paused, errors.Join(err, deliverErr, pauseErr)
}

// deliverAll sends what is undelivered.
func (s *Service) deliverAll(ctx context.Context, limit int) (delivered int, err error) {
	decided, err := s.cfg.Store.ClaimUndelivered(ctx, limit, startLease)
	if err != nil {
		return 0, err //nolint:wrapcheck // The store says what failed.
	}
	delivered, err = each(decided, func(u wait.Undelivered) (bool, error) {
		ended, err := s.cfg.Store.FindApproval(ctx, u.Tenant, u.ID)
		return err == nil && ended.Status.Final() && s.deliver(ctx, ended), err
	})
	resolved, claimErr := s.cfg.Store.ClaimResolved(ctx, limit, startLease)
	if claimErr != nil {
		s.overdue.count(OverdueDelivery, len(decided), delivered)
		return delivered, errors.Join(err, claimErr)
	}
	more, resultsErr := each(resolved, func(u wait.Undelivered) (bool, error) {
		called, err := s.cfg.Store.FindCall(ctx, u.Tenant, u.ID)
		return err == nil && s.deliverResult(ctx, called), err
	})
	s.overdue.count(OverdueDelivery, len(decided)+len(resolved), delivered+more)
	return delivered + more, errors.Join(err, resultsErr)
}

// each delivers claimed items concurrently, and returns the number of deliveries.
func each[T any](claimed []T, deliver func(T) (bool, error)) (delivered int, err error) {
	var group errgroup.Group
	group.SetLimit(dispatchWidth)
	var done atomic.Int64
	for _, u := range claimed {
		group.Go(func() error {
			ok, err := deliver(u)
			if ok {
				done.Add(1)
			}
			return err
		})
	}
	err = group.Wait()
	return int(done.Load()), err //nolint:wrapcheck // The store says what failed.
}

// deliver tells the workflow that waits how a request ended, and reports whether it knows.
func (s *Service) deliver(ctx context.Context, a wait.Approval) bool {
	err := s.resolve(ctx, a.WorkflowID, wire.Resolution{ID: a.ID, Round: a.Round, Status: a.Status, Reason: a.Reason})
	if err == nil || absent(err) || notWaiting(err) {
		err = s.cfg.Store.Delivered(ctx, wait.Undelivered{
			Tenant: a.Tenant, ID: a.ID, WorkflowID: a.WorkflowID, Round: a.Round,
		})
	} else {
		s.availability.report(err)
	}
	if err != nil {
		s.log.WarnContext(ctx, "delivering a decision to its workflow failed; it is retried",
			slog.String("tenant_id", string(a.Tenant)), slog.String("run_id", a.RunID), slog.String("approval_id", a.ID),
			slog.Any("error", err))
	}
	return err == nil
}

// resolve sends the Update that ends the wait.
func (s *Service) resolve(ctx context.Context, workflowID string, r wire.Resolution) error {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	update, err := s.cfg.Temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateID: r.UpdateID(), UpdateName: wire.ResolvePendingUpdate, Args: []any{r},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err //nolint:wrapcheck // The caller classifies it.
	}
	return update.Get(ctx, nil) //nolint:wrapcheck // As above.
}

// notWaiting reports whether a workflow refused an Update because it does not wait: it was
// delivered, or read by the workflow, before.
func notWaiting(err error) bool {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	return ok && (app.Type() == wire.NotWaiting || app.Type() == string(tool.Invalid))
}

// deliverDue is one round of deliveries; a failure is reported where it is found.
func (s *Service) deliverDue(ctx context.Context) {
	n, err := s.Deliver(ctx, DeliverLimit)
	if n > 0 {
		s.log.InfoContext(ctx, "overdue deliveries were made", slog.Int("count", n))
	}
	if err != nil && ctx.Err() == nil {
		s.overdue.failed(OverdueDelivery)
		if tool.KindOf(err) != tool.Unavailable {
			s.log.WarnContext(ctx, "delivering decisions failed", slog.Any("error", err))
		}
	}
}
