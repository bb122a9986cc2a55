package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/store"
)

const (
	tendInterval    = time.Hour
	canaryIdle      = 20 * time.Second // Between two counts of the calls of a canary.
	sessionInterval = 30 * time.Second // From the end of a run to that of its sessions, at most.
	partitionsAhead = 3                // Months.
)

// tend creates the database's partitions ahead of time, deletes expired data, and
// delivers requests to runs, for as long as the plugin is open. Several workers may
// do so concurrently.
func (p *Plugin) tend() {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(tendInterval)
		defer tick.Stop()
		for {
			if _, err := p.store.EnsurePartitions(ctx, partitionsAhead); err != nil && ctx.Err() == nil {
				// There are partitions for some months ahead, and a default one
				// for the rest.
				p.cfg.Logger.WarnContext(ctx, "making partitions failed", slog.Any("error", err))
			}
			if _, err := p.store.SweepRequests(ctx); err != nil && ctx.Err() == nil {
				// The next sweep takes them.
				p.cfg.Logger.WarnContext(ctx, "sweeping answered requests failed", slog.Any("error", err))
			}
			if _, err := p.store.SweepRateBuckets(ctx); err != nil && ctx.Err() == nil {
				p.cfg.Logger.WarnContext(ctx, "sweeping full token buckets failed", slog.Any("error", err))
			}
			p.sweep(ctx)
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	wg.Go(func() {
		tick := time.NewTicker(sessionInterval)
		defer tick.Stop()
		for {
			p.endSessions(ctx)
			if _, err := p.store.JudgeCanaries(ctx, canaryIdle); err != nil && ctx.Err() == nil {
				p.cfg.Logger.WarnContext(ctx, "judging canaries failed", slog.Any("error", err))
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	wg.Go(func() { p.control.Run(ctx) })
	p.closers = append(p.closers, closer(func() {
		cancel()
		wg.Wait()
	}))
}

// sweep deletes the records that are kept no longer, and what that leaves empty.
func (p *Plugin) sweep(ctx context.Context) {
	failed := func(err error) {
		if err != nil && ctx.Err() == nil {
			// The next sweep goes on.
			p.cfg.Logger.WarnContext(ctx, "deleting expired records failed", slog.Any("error", err))
		}
	}
	_, err := p.store.SweepRetention(ctx, store.RetentionSweep{})
	failed(err)
	_, err = p.store.DropEmptyPartitions(ctx)
	failed(err)
	failed(p.store.MeasureRetention(ctx))
}
