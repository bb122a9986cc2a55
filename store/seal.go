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
	// sealBatch is how many events are numbered in one transaction.
	sealBatch = 1000
	// defaultSealInterval is how often the events of tenants whose streams are
	// not being read are numbered.
	defaultSealInterval = 2 * time.Second
	// sealTimeout bounds what a process still numbers when its store closes.
	sealTimeout = 5 * time.Second
)

// SealEvents gives every committed event of a tenant its number in the tenant's
// stream, in batches. Reading the stream does so, and the store does in the
// background for the tenants it wrote events of. It is safe for concurrent use
// from any number of processes.
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

// sealer numbers events in the background, apart from the transactions that
// write them. A process that dies leaves a few seconds of events without
// numbers, until the tenant's stream is next read or written, or the database
// is migrated.
type sealer struct {
	store *Store
	every time.Duration
	end   context.CancelFunc
	done  chan struct{}

	mu      sync.Mutex
	tenants map[tool.TenantID]struct{} // With events written since they were numbered.
}

func startSealer(ctx context.Context, s *Store, every time.Duration) *sealer {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	l := &sealer{store: s, every: every, end: end, done: make(chan struct{}), tenants: map[tool.TenantID]struct{}{}}
	go l.run(ctx)
	return l
}

// written notes that a tenant has new events. It does not block.
func (l *sealer) written(tenant tool.TenantID) {
	l.mu.Lock()
	l.tenants[tenant] = struct{}{}
	l.mu.Unlock()
}

func (l *sealer) run(ctx context.Context) {
	defer close(l.done)
	tick := time.NewTicker(l.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done(): // What was written until now is numbered.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sealTimeout)
			defer cancel()
			l.seal(ctx)
			return
		case <-tick.C:
			l.seal(ctx)
		}
	}
}

// seal numbers what was written since the last time. What fails is tried again
// the next time.
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

// stop numbers what was written and ends the sealer.
func (l *sealer) stop() {
	l.end()
	<-l.done
}
