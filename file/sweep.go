package file

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	sweepEvery = time.Minute
	sweepBatch = 100
	sweepLease = 5 * time.Minute
)

// Run sweeps until ctx ends. Several servers share the work.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if _, err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Logger.WarnContext(ctx, "sweeping files failed; it is retried", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Sweep deletes the files whose time is over and what uploads have left that never ended, and the
// contents of files that are gone. It returns how many files it deleted.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	total := 0
	for {
		n, err := s.cfg.Store.SweepFiles(ctx, sweepBatch)
		total += n
		if err != nil {
			return total, fmt.Errorf("sweeping files: %w", err)
		}
		if n < sweepBatch {
			break
		}
	}
	for _, place := range s.cfg.Contents {
		left, err := s.cfg.Store.ClaimLeftFiles(ctx, place.Location(), sweepLease, sweepBatch)
		if err != nil {
			return total, fmt.Errorf("finding what files have left: %w", err)
		}
		for _, ref := range left {
			s.remove(ctx, place, ref)
		}
	}
	return total, nil
}
