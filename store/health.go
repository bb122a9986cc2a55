package store

import (
	"context"
	"log/slog"
	"time"
)

// CheckSchema reports whether the database has the schema that this binary
// needs. It fails with a [*SchemaError] where steps are missing, and with
// tool.Unavailable. A newer schema will do.
func (s *Store) CheckSchema(ctx context.Context) error {
	asking := Store{pool: s.pool, log: slog.New(slog.DiscardHandler)} // Open has told of a newer one.
	return asking.checkSchema(ctx)
}

// PoolStats is how the connections to the database are used.
type PoolStats struct {
	Max, Total, Idle, InUse int
	Acquires                int64         // Since the store was opened, like those below.
	Cancelled               int64         // Acquires whose caller left before there was a connection.
	Waits                   int64         // Acquires that found no idle connection.
	Waited                  time.Duration // Spent acquiring connections.
}

// PoolStats returns how the store's connections are used at this moment.
func (s *Store) PoolStats() PoolStats {
	stat := s.pool.Stat()
	return PoolStats{
		Max: int(stat.MaxConns()), Total: int(stat.TotalConns()), Idle: int(stat.IdleConns()), InUse: int(stat.AcquiredConns()),
		Acquires: stat.AcquireCount(), Cancelled: stat.CanceledAcquireCount(), Waits: stat.EmptyAcquireCount(),
		Waited: stat.AcquireDuration(),
	}
}
