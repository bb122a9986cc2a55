package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/store/internal/db"
)

// EnsurePartitions makes the partitions of tool_invocations for this month and
// the given number after it, at most 24, and returns how many were missing.
// Call it daily, from as many processes as there are: without it new rows
// gather in the default partition. They stay there, and the partition of a month
// that has begun starts two days later; so no call waits for rows to be moved or
// searched. It fails with tool.Unavailable where something else, such as a
// backup, keeps the table.
func (s *Store) EnsurePartitions(ctx context.Context, monthsAhead int) (int, error) {
	made := 0
	err := s.doGlobal(ctx, "store.EnsurePartitions", func(q *db.Queries) error {
		n, err := ensurePartitions(ctx, q, monthsAhead)
		made += n
		return err
	})
	return made, err
}

// ensurePartitions makes partitions for which nothing is to be searched, and for
// the others validates one fence after another.
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
		case answered && pgErr.Code == codeUndefinedObject: // Another process made the partition meanwhile.
		case answered && pgErr.Code == codeCheckViolation:
			// Without a fence, calls of that time go to the default partition as before.
			return made, errors.Join(
				fmt.Errorf("the default partition holds calls of the time behind %s: %w", fence, err),
				q.DropDefaultFence(ctx, fence))
		case err != nil:
			return made, err // The next call validates it.
		}
	}
	return made, nil
}
