package store

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// EventChannel is the channel of NOTIFY on which runs with new events or output
// are named.
const EventChannel = "toolcrib_events"

const defaultNotifyInterval = 20 * time.Millisecond

// Wake names a run that has something new to read.
type Wake struct {
	Tenant tool.TenantID
	RunID  string
}

// payload is how NOTIFY carries w.
func (w Wake) payload() string { return string(w.Tenant) + " " + w.RunID }

func wakeOf(payload string) Wake {
	tenant, run, _ := strings.Cut(payload, " ")
	return Wake{Tenant: tool.TenantID(tenant), RunID: run}
}

// notifier tells listeners which runs have something new. NOTIFY takes a lock
// that all committing transactions of the cluster's database share, so it stays
// out of the transactions that write events: it goes out after they commit,
// once for all of an interval. Listeners must treat it as a wake-up only, and
// poll besides.
type notifier struct {
	pool *pgxpool.Pool
	log  *slog.Logger
	wait time.Duration
	kick chan struct{} // Holds one token while wake-ups wait.
	quit chan struct{}
	done chan struct{}

	mu    sync.Mutex
	wakes map[Wake]struct{}
}

func startNotifier(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger, wait time.Duration) *notifier {
	n := &notifier{
		pool: pool, log: log, wait: wait, wakes: map[Wake]struct{}{},
		kick: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go n.run(context.WithoutCancel(ctx))
	return n
}

// wake has listeners told that a run has something new. It does not block.
func (s *Store) wake(tenant tool.TenantID, runID string) {
	if s.sealer != nil {
		s.sealer.written(tenant)
	}
	if s.notifier == nil {
		return
	}
	s.notifier.mu.Lock()
	s.notifier.wakes[Wake{Tenant: tenant, RunID: runID}] = struct{}{}
	s.notifier.mu.Unlock()
	select {
	case s.notifier.kick <- struct{}{}:
	default:
	}
}

// Listen calls woken with each run that has new events or output, written by any
// store on the database, until ctx ends or the connection fails. Wake-ups are
// gathered, and lost while nobody listens: poll besides, and once after Listen
// has begun again. It keeps one connection of its own, outside the pool.
func (s *Store) Listen(ctx context.Context, woken func(Wake)) error {
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
		woken(wakeOf(n.Payload))
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
	payloads := make([]string, 0, len(n.wakes))
	for w := range n.wakes {
		payloads = append(payloads, w.payload())
	}
	clear(n.wakes)
	n.mu.Unlock()
	if len(payloads) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := db.New(n.pool).NotifyEvents(ctx, payloads); err != nil {
		n.log.WarnContext(ctx, "listeners were not woken", slog.Any("error", err))
	}
}

// stop sends what waits and ends the notifier.
func (n *notifier) stop() {
	close(n.quit)
	<-n.done
}
