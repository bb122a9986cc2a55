package store

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// EventChannel is the channel of NOTIFY on which tenants with new events are
// named.
const EventChannel = "toolcrib_events"

const defaultNotifyInterval = 20 * time.Millisecond

// notifier tells listeners which tenants have new events. NOTIFY takes a lock
// that all committing transactions of the cluster's database share, so it stays
// out of the transactions that write events: it goes out after they commit,
// once for all of an interval. Listeners must treat it as a wake-up only, and
// poll besides.
type notifier struct {
	pool *pgxpool.Pool
	log  *slog.Logger
	wait time.Duration
	kick chan struct{} // Holds one token while tenants wait.
	quit chan struct{}
	done chan struct{}

	mu      sync.Mutex
	tenants map[tool.TenantID]struct{}
}

func startNotifier(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger, wait time.Duration) *notifier {
	n := &notifier{
		pool: pool, log: log, wait: wait, tenants: map[tool.TenantID]struct{}{},
		kick: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go n.run(context.WithoutCancel(ctx))
	return n
}

// wake has listeners told that tenant has new events. It does not block.
func (s *Store) wake(tenant tool.TenantID) {
	if s.notifier == nil {
		return
	}
	s.notifier.mu.Lock()
	s.notifier.tenants[tenant] = struct{}{}
	s.notifier.mu.Unlock()
	select {
	case s.notifier.kick <- struct{}{}:
	default:
	}
}

// Listen calls woken with each tenant that has new events, of any store on the
// database, until ctx ends or the connection fails. Wake-ups are gathered, and
// lost while nobody listens: poll besides, and once after Listen has begun
// again. It keeps one connection of its own, outside the pool.
func (s *Store) Listen(ctx context.Context, woken func(tool.TenantID)) error {
	const op = "store.Listen"
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return failure(op, err)
	}
	conn := pooled.Hijack()
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "listen "+EventChannel); err != nil {
		return failure(op, err)
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return failure(op, err)
		}
		woken(tool.TenantID(n.Payload))
	}
}

func (n *notifier) run(ctx context.Context) {
	defer close(n.done)
	for {
		select {
		case <-n.quit:
			n.flush(ctx)
			return
		case <-n.kick:
		}
		n.flush(ctx)
		select {
		case <-n.quit:
		case <-time.After(n.wait):
		}
	}
}

func (n *notifier) flush(ctx context.Context) {
	n.mu.Lock()
	names := make([]string, 0, len(n.tenants))
	for tenant := range n.tenants {
		names = append(names, string(tenant))
	}
	clear(n.tenants)
	n.mu.Unlock()
	if len(names) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := db.New(n.pool).NotifyEvents(ctx, names); err != nil {
		n.log.WarnContext(ctx, "listeners were not woken", slog.Any("error", err))
	}
}

// stop sends what waits and ends the notifier.
func (n *notifier) stop() {
	close(n.quit)
	<-n.done
}
