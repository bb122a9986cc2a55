package runs

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	// dispatchWidth is how many starts one dispatch attempts at once.
	dispatchWidth = 8
	// DispatchLimit is how many starts a dispatch should claim at most: as many
	// as it can attempt within their lease when each takes its full time.
	DispatchLimit = dispatchWidth * int(startLease/(2*StartTimeout))
	// DispatchInterval is how often due starts should be dispatched.
	DispatchInterval = time.Second
)

// Dispatch claims at most limit starts that are due, of any tenant, attempts
// each, and returns how many workflows Temporal has confirmed. Several processes
// may dispatch at the same time. While Temporal is away it claims nothing and
// fails with tool.Unavailable.
func (s *Service) Dispatch(ctx context.Context, limit int) (started int, err error) {
	waiting, err := s.cfg.Store.CountStarts(ctx)
	if err != nil {
		return 0, fmt.Errorf("counting starts: %w", err)
	}
	s.overdue.saw(waiting)
	if waiting.Count == 0 {
		return 0, nil
	}
	if err := s.Available(ctx); err != nil {
		return 0, err
	}
	keys, err := s.cfg.Store.ClaimStarts(ctx, limit, startLease)
	if err != nil {
		return 0, fmt.Errorf("claiming starts: %w", err)
	}
	var confirmed atomic.Int64
	var group errgroup.Group
	group.SetLimit(dispatchWidth)
	for _, key := range keys {
		group.Go(func() error {
			ok, err := s.retry(ctx, key)
			if ok {
				confirmed.Add(1)
			}
			return err
		})
	}
	err = group.Wait()
	s.overdue.count(OverdueStart, len(keys), int(confirmed.Load()))
	return int(confirmed.Load()), err
}

// retry attempts a start that was claimed.
func (s *Service) retry(ctx context.Context, key agent.StartKey) (bool, error) {
	start, err := s.cfg.Store.FindStart(ctx, key)
	switch {
	case tool.KindOf(err) == tool.NotFound: // Another attempt was confirmed meanwhile.
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading the start of %s: %w", key.WorkflowID, err)
	case start.RunID != "" && start.RunStatus != agent.RunPending:
		// It began, or ended. Temporal may have forgotten the execution since: to
		// start it again would do everything twice.
		return false, s.cfg.Store.DeleteStart(ctx, start)
	}
	confirmed, err := s.attempt(ctx, start)
	if err != nil { // The run has ended, and says why.
		return false, nil //nolint:nilerr // attempt logged it.
	}
	return confirmed, nil
}

// lookDue looks at the queues where it is time.
func (s *Service) lookDue(ctx context.Context) {
	if !s.queueDue() {
		return
	}
	looking, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	if err := s.LookAtQueues(looking); err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "counting what waits failed", slog.Any("error", err))
	}
}

// DispatchUntil dispatches due starts, looks at the queues, delivers decisions, and wakes agents of
// spaces, every [DispatchInterval] until ctx ends.
func (s *Service) DispatchUntil(ctx context.Context) {
	ticker := time.NewTicker(DispatchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		n, err := s.Dispatch(ctx, DispatchLimit)
		if n > 0 {
			s.log.InfoContext(ctx, "workflows that were accepted before were started", slog.Int("count", n))
		}
		if err != nil && ctx.Err() == nil {
			s.overdue.failed(OverdueStart)
			if tool.KindOf(err) != tool.Unavailable { // Which is reported where it is found.
				s.log.WarnContext(ctx, "dispatching starts failed", slog.Any("error", err))
			}
		}
		s.lookDue(ctx)
		s.deliverDue(ctx)
		s.wakeDue(ctx)
	}
}
