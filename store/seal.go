package store

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	// sealBatch is the number of events numbered in one transaction.
	sealBatch = 1000
	// defaultSealInterval is the interval at which events are numbered in streams
	// that have no readers.
	defaultSealInterval = 2 * time.Second
	// auditSealInterval is the interval at which the audit log is chained.
	auditSealInterval = time.Second
	// sealTimeout bounds the numbering when a store closes.
	sealTimeout = 5 * time.Second
)

// SealEvents gives every committed event of a tenant its number in the tenant's stream,
// in batches. Reading the stream does this too, as does the store in the background for
// tenants whose events it wrote. Concurrent calls from any process are safe.
func (s *Store) SealEvents(ctx context.Context, tenant tool.TenantID) error {
	return s.do(ctx, "store.SealEvents", tenant, func(q *db.Queries) error {
		for {
			sealed, err := q.SealEvents(ctx, db.SealEventsParams{TenantID: string(tenant), Most: sealBatch})
			if err != nil || sealed < sealBatch {
				return err
			}
		}
	})
}

// sealer numbers events and chains the audit log in the background, outside the
// transactions that write them. A process that dies leaves a few seconds of events without
// numbers, until the tenant's stream is next read or written, or the database is migrated;
// rows of the audit log are chained by any other process.
type sealer struct {
	store *Store
	every time.Duration
	end   context.CancelFunc
	done  chan struct{}

	mu      sync.Mutex
	tenants map[tool.TenantID]struct{} // With events that are not numbered yet.
}

func startSealer(ctx context.Context, s *Store, every time.Duration) *sealer {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	l := &sealer{store: s, every: every, end: end, done: make(chan struct{}), tenants: map[tool.TenantID]struct{}{}}
	go l.run(ctx)
	return l
}

// written records that a tenant has new events. It does not block.
func (l *sealer) written(tenant tool.TenantID) {
	l.mu.Lock()
	l.tenants[tenant] = struct{}{}
	l.mu.Unlock()
}

func (l *sealer) run(ctx context.Context) {
	defer close(l.done)
	tick, audits := time.NewTicker(l.every), time.NewTicker(min(l.every, auditSealInterval))
	defer tick.Stop()
	defer audits.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done(): // Number the events written so far.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sealTimeout)
			defer cancel()
			l.seal(ctx)
			_ = l.store.SealAudit(ctx) // Else another process does it.
			return
		case <-tick.C:
			l.seal(ctx)
		case <-audits.C:
			err := l.store.SealAudit(ctx)
			if err != nil && !failing && ctx.Err() == nil {
				l.store.log.WarnContext(ctx, "chaining the audit log failed", slog.Any("error", err))
			}
			failing = err != nil
		}
	}
}

// seal numbers new events. Failures are retried the next time.
func (l *sealer) seal(ctx context.Context) {
	l.mu.Lock()
	tenants := l.tenants
	l.tenants = make(map[tool.TenantID]struct{}, len(tenants))
	l.mu.Unlock()
	for tenant := range tenants {
		if err := l.store.SealEvents(ctx, tenant); err != nil {
			l.written(tenant)
			if ctx.Err() != nil {
				continue
			}
			l.store.log.WarnContext(ctx, "numbering the events of a tenant failed",
				slog.String("tenant_id", string(tenant)), slog.Any("error", err))
		}
	}
}

// stop numbers the remaining events and stops the sealer.
func (l *sealer) stop() {
	l.end()
	<-l.done
}
