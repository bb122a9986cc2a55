package store

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// FollowRun records a follower of a run's output for the length of lease: models are
// called with streaming while there is one. It does nothing for a run that has ended
// or does not exist.
func (s *Store) FollowRun(ctx context.Context, tenant tool.TenantID, runID string, lease time.Duration) error {
	const op = "store.FollowRun"
	if err := checkIDs(op, runID); err != nil {
		return err
	}
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		return q.FollowRun(ctx, db.FollowRunParams{TenantID: string(tenant), RunID: runID, LeaseS: lease.Seconds()})
	})
}
