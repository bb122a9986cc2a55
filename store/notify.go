package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// EventChannel is the NOTIFY channel for runs with new events or output.
const EventChannel = "toolcrib_events"

const (
	defaultNotifyInterval = 20 * time.Millisecond
	// endNotifyInterval is the interval of batches with the end of a run, for which
	// callers wait.
	endNotifyInterval = 4 * time.Millisecond
)

// ErrClosed is the cause of the error of listeners whose store was closed.
var ErrClosed = errors.New("the store is closed")

// Wake names a run with new events or output.
type Wake struct {
	Tenant tool.TenantID
	RunID  string
}

// payload is the NOTIFY payload of w.
func (w Wake) payload() string { return string(w.Tenant) + " " + w.RunID }

func wakeOf(payload string) Wake {
	tenant, run, _ := strings.Cut(payload, " ")
	return Wake{Tenant: tool.TenantID(tenant), RunID: run}
}

// notifier notifies listeners of runs with new events or output. NOTIFY takes a lock
// that all committing transactions of the database share, so it is not part of the
// transactions that write events but follows them, batched by interval. Listeners
// must treat it as a wake-up only, and poll as well.
type notifier struct {
	store *Store
	log   *slog.Logger
	wait  time.Duration
	kick  chan struct{} // Has one token while wake-ups are pending.
	hurry chan struct{} // Has one token while the end of a run is pending.
	quit  chan struct{}
	done  chan struct{}

	mu    sync.Mutex
	wakes map[Wake]struct{}
}

func startNotifier(ctx context.Context, s *Store, wait time.Duration) *notifier {
	n := &notifier{
		store: s, log: s.log, wait: wait, wakes: map[Wake]struct{}{},
		kick: make(chan struct{}, 1), hurry: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go n.run(context.WithoutCancel(ctx))
	return n
}

// wake notifies listeners of new events or output of a run. It does not block.
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
	offer(s.notifier.kick)
}

// wakeEnd is wake for the end of a run, which is notified sooner.
func (s *Store) wakeEnd(tenant tool.TenantID, runID string) {
	s.wake(tenant, runID)
	if s.notifier != nil {
		offer(s.notifier.hurry)
	}
}

// offer puts a token into c unless it has one.
func offer(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Listen calls woken with each run that has new events or output, written by any
// store on the database, until ctx ends or the connection fails. Wake-ups are batched,
// and lost while there is no listener: poll as well, and once after each start of
// Listen. It uses one connection of its own, outside the pool, and pings the server
// periodically. Its error wraps [ErrClosed] once the store is closed.
func (s *Store) Listen(ctx context.Context, woken func(Wake)) error {
	return s.listenTo(ctx, "store.Listen", EventChannel, func(w Wake) {
		if w != (Wake{}) {
			woken(w)
		}
	})
}

// listenTo calls woken with the payloads of a channel, and first with an empty one, when
// it has subscribed.
func (s *Store) listenTo(ctx context.Context, op, channel string, woken func(Wake)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := s.attend(ctx, op, channel, woken)
	select {
	case <-s.closed:
		return &tool.Error{Kind: tool.Unavailable, Op: op, Msg: "the store is closed", Err: ErrClosed}
	default:
		return err
	}
}

// attend listens until ctx ends or the connection fails.
func (s *Store) attend(ctx context.Context, op, channel string, woken func(Wake)) error {
	conn, err := s.listen(ctx, channel)
	if err != nil {
		return failure(op, err)
	}
	woken(Wake{})
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeouts.Connect)
		defer cancel()
		_ = conn.Close(closing)
	}()
	for {
		quiet, cancel := context.WithTimeout(ctx, s.quiet)
		n, err := conn.WaitForNotification(quiet)
		cancel()
		switch {
		case err == nil:
			woken(wakeOf(n.Payload))
		case ctx.Err() != nil || quiet.Err() == nil:
			return failure(op, err)
		default:
			asking, cancel := context.WithTimeout(ctx, s.timeouts.Connect)
			err := conn.Ping(asking)
			cancel()
			if err != nil {
				return failure(op, err)
			}
		}
	}
}

// listen opens a connection and subscribes to a channel.
func (s *Store) listen(ctx context.Context, channel string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeouts.Operation)
	defer cancel()
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	conn := pooled.Hijack()
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
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
		n.pause()
	}
}

// pause waits for the interval, or for the end of a run.
func (n *notifier) pause() {
	flushed := time.Now()
	select {
	case <-n.quit:
	case <-time.After(n.wait):
	case <-n.hurry:
		select {
		case <-n.quit:
		case <-time.After(min(n.wait, endNotifyInterval) - time.Since(flushed)):
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
	err := n.store.doGlobal(ctx, "store.Notify", func(q *db.Queries) error { return q.NotifyEvents(ctx, payloads) })
	if err != nil {
		n.log.WarnContext(ctx, "notifying listeners failed", slog.Any("error", err))
	}
}

// stop sends pending wake-ups and stops the notifier.
func (n *notifier) stop() {
	close(n.quit)
	<-n.done
}
