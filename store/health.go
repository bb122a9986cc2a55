package store

import (
	"context"
	"log/slog"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// CheckSchema reports whether the database has the schema that this binary needs. It
// fails with a [*SchemaError] where steps are missing, and with tool.Unavailable. A
// newer schema is accepted.
func (s *Store) CheckSchema(ctx context.Context) error {
	asking := Store{pool: s.pool, log: slog.New(slog.DiscardHandler)} // Open has logged the warning already.
	return asking.checkSchema(ctx)
}

// Ping reports whether the database answers. It fails with tool.Unavailable. It does
// not wait for a connection of the pool.
func (s *Store) Ping(ctx context.Context) error {
	return failure("store.Ping", s.pool.Ping(ctx))
}

// probeWrite writes a record to the write-ahead log and commits it, which waits for
// the disk and for synchronous standbys, unless the transaction is read-only.
const probeWrite = `select case when current_setting('transaction_read_only')::bool or pg_is_in_recovery() then false
	else pg_logical_emit_message(true, 'toolcrib', 'readiness') is not null end`

// CheckWrites reports whether the database takes writes: it commits one that changes
// no row. It fails with tool.Unavailable where the database is read-only, where the
// commit does not complete before ctx ends, and where an operation of this store
// failed in the last 5 seconds because the server was read-only or its disk full.
// Like [Store.Ping] it does not wait for a connection of the pool.
func (s *Store) CheckWrites(ctx context.Context) error {
	const op = "store.CheckWrites"
	if err := s.writes.recent(); err != nil {
		return failure(op, err)
	}
	var wrote bool
	if err := s.pool.QueryRow(ctx, probeWrite).Scan(&wrote); err != nil {
		return failure(op, err)
	}
	if !wrote {
		s.renew() // New connections may find a primary.
		return &tool.Error{Kind: tool.Unavailable, Op: op, Msg: "the database is read-only"}
	}
	return nil
}

// PoolStats is the usage of the connection pool.
type PoolStats struct {
	Max, Total, Idle, InUse int
	Acquires                int64         // Since the store was opened, like those below.
	Cancelled               int64         // Acquires whose caller left before there was a connection.
	Waits                   int64         // Acquires that found no idle connection.
	Waited                  time.Duration // Spent acquiring connections.
}

// PoolStats returns the current usage of the connection pool.
func (s *Store) PoolStats() PoolStats {
	stat := s.pool.Stat()
	waits, waited := s.gate.stats()
	return PoolStats{
		Max: s.gate.limit, Total: int(stat.TotalConns()), Idle: int(stat.IdleConns()), InUse: int(stat.AcquiredConns()),
		Acquires: stat.AcquireCount(), Cancelled: stat.CanceledAcquireCount(), Waits: waits + stat.EmptyAcquireCount(),
		Waited: waited + stat.AcquireDuration(),
	}
}
