package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/store/internal/db"
)

// EnsurePartitions creates the partitions of tool_invocations for this month and the
// given number of months after it, at most 24, and returns how many were missing. Call
// it daily; concurrent calls are safe. Without it new rows go to the default
// partition. They stay there, and the partition of a month that has begun starts two
// days later, so that calls never wait for rows to be moved or searched. It fails with
// tool.Unavailable while another session, such as a backup, locks the table.
func (s *Store) EnsurePartitions(ctx context.Context, monthsAhead int) (int, error) {
	made := 0
	err := s.doGlobal(ctx, "store.EnsurePartitions", func(q *db.Queries) error {
		n, err := ensurePartitions(ctx, q, monthsAhead)
		made += n
		return err
	})
	return made, err
}

// ensurePartitions creates the partitions that need no scan of the default partition,
// and validates the fences of the others one after another.
func ensurePartitions(ctx context.Context, q *db.Queries, monthsAhead int) (made int, err error) {
	for range 26 {
		n, err := q.EnsureInvocationPartitions(ctx, number(monthsAhead))
		if err != nil {
			return made, err
		}
		made += int(n)
		fence, err := q.FenceDefaultPartition(ctx, number(monthsAhead))
		if err != nil || fence == "" {
			return made, err
		}
		err = q.ValidateDefaultFence(ctx, fence)
		pgErr, answered := errors.AsType[*pgconn.PgError](err)
		switch {
		case answered && pgErr.Code == codeUndefinedObject: // Another process has created the partition.
		case answered && pgErr.Code == codeCheckViolation:
			// Without a fence, calls of that time go to the default partition as before.
			return made, errors.Join(
				fmt.Errorf("the default partition has calls after %s: %w", fence, err),
				q.DropDefaultFence(ctx, fence))
		case err != nil:
			return made, err // The next call validates it.
		}
	}
	return made, nil
}
