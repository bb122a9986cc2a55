package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// run performs an operation: it waits for a connection, bounds the time, retries
// attempts that lost to a concurrent transaction or met a read-only server, and
// classifies the error. fn must use the given context.
//
// It fails with tool.Unavailable when the operation's time is over, and with
// tool.Timeout or tool.Cancelled when the caller's is.
func (s *Store) run(ctx context.Context, op string, fn func(ctx context.Context) error) error {
	leave, err := s.enter(ctx, op)
	if err != nil {
		return err
	}
	stalled := false
	defer func() { leave(stalled) }()
	bounded, cancel := context.WithTimeout(ctx, s.timeouts.operation(op))
	defer cancel()
	err = s.repeat(bounded, op, fn)
	switch kind := tool.KindOf(err); {
	case err == nil:
		s.unheard.Store(0)
		return nil
	case kind != tool.Unavailable && kind != tool.Timeout && kind != tool.Cancelled:
		return err // A late answer counts.
	case ctx.Err() != nil:
		return failure(op, ctx.Err())
	case bounded.Err() != nil:
		stalled = true
		if s.unheard.Add(1) > 1 { // A server that responds would have cancelled the statement first.
			s.renew()
		}
		return unanswered(op, err)
	}
	if codeOf(err) != "" {
		s.unheard.Store(0)
	}
	stalled = stalls(err)
	return err
}

// enter waits at the gate.
func (s *Store) enter(ctx context.Context, op string) (leave func(stalled bool), err error) {
	waiting, cancel := context.WithTimeout(ctx, s.timeouts.wait())
	defer cancel()
	leave, err = s.gate.enter(waiting, op)
	switch {
	case err == nil:
		return leave, nil
	case ctx.Err() != nil:
		return nil, failure(op, ctx.Err())
	}
	return nil, &tool.Error{Kind: tool.Unavailable, Op: op, Msg: "the database is too busy", Err: err}
}

// unanswered returns the error of an operation that timed out.
func unanswered(op string, err error) error {
	return &tool.Error{Kind: tool.Unavailable, Op: op, Msg: "the database did not answer in time", Err: err}
}

// maxRenewals bounds how often an operation reconnects to find a primary.
const maxRenewals = 3

// repeat retries fn while it loses to concurrent transactions or meets a read-only
// server.
func (s *Store) repeat(ctx context.Context, op string, fn func(ctx context.Context) error) error {
	var err error
	for try := range maxTries {
		if err = fn(ctx); err == nil {
			return nil
		}
		delay := time.Duration(try) * time.Millisecond
		switch {
		case refusesWrites(err):
			s.writes.note(err)
			s.renew()
			if try == maxRenewals {
				return failure(op, err)
			}
			delay = renewInterval
		case !lost(err):
			if diskFull(err) {
				s.writes.note(err)
			}
			return failure(op, err)
		}
		if !sleep(ctx, delay) {
			break
		}
	}
	if errors.Is(err, errRaced) {
		return &tool.Error{Kind: tool.Unavailable, Op: op, Msg: "the database is too busy with the same rows", Err: err}
	}
	return failure(op, err)
}

// sleep waits for d, and reports false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// within runs statements with the context of their operation, whose deadline is
// before the caller's.
type within struct {
	db.DBTX
	bound func() context.Context
}

func bind(ctx context.Context, to db.DBTX) db.DBTX {
	return within{DBTX: to, bound: func() context.Context { return ctx }}
}

// Exec implements [db.DBTX].
func (w within) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return w.DBTX.Exec(w.bound(), sql, args...) //nolint:contextcheck // It derives from the context of the caller.
}

// Query implements [db.DBTX].
func (w within) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	return w.DBTX.Query(w.bound(), sql, args...) //nolint:contextcheck // It derives from the context of the caller.
}

// QueryRow implements [db.DBTX].
func (w within) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	return w.DBTX.QueryRow(w.bound(), sql, args...) //nolint:contextcheck // It derives from the context of the caller.
}
