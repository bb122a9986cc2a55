package store

import (
	"context"

	"github.com/toolcrib/toolcrib/store/internal/db"
)

// EnsurePartitions makes the partitions of tool_invocations for this month and
// the given number after it, at most 24, and returns how many were missing.
// Call it daily, from as many processes as there are: without it new rows
// gather in the default partition, from which the next call takes them. Where
// one is missing, tool calls wait for the moment it takes to make it. It fails
// with tool.Unavailable where something else, such as a backup, keeps the table.
func (s *Store) EnsurePartitions(ctx context.Context, monthsAhead int) (int, error) {
	var made int32
	err := s.doGlobal(ctx, "store.EnsurePartitions", func(q *db.Queries) (err error) {
		made, err = q.EnsureInvocationPartitions(ctx, number(monthsAhead))
		return err
	})
	return int(made), err
}
