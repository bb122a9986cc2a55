package store

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// ScheduleTenants implements [schedule.Outbox].
func (s *Store) ScheduleTenants(ctx context.Context, limit int) ([]tool.TenantID, error) {
	var raw []byte
	err := s.doGlobal(ctx, "store.ScheduleTenants", func(q *db.Queries) (err error) {
		raw, err = q.ScheduleTenants(ctx, number(limit))
		return err
	})
	if err != nil {
		return nil, err
	}
	var tenants []tool.TenantID
	return tenants, decode(raw, &tenants)
}

// ClaimSchedules implements [schedule.Outbox].
func (s *Store) ClaimSchedules(
	ctx context.Context, tenant tool.TenantID, id string, most int, lease time.Duration,
) ([]schedule.Claimed, error) {
	const op = "store.ClaimSchedules"
	if err := checkIDs(op, id); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ClaimSchedules, db.ClaimSchedulesParams{
		TenantID: string(tenant), ID: optional(id), Most: number(most), LeaseS: lease.Seconds(),
	})
	return convert(rows, func(row db.ClaimSchedulesRow) schedule.Claimed {
		return schedule.Claimed{
			Schedule: scheduleOf(row.Schedule), Deleted: row.Schedule.DeletedAt != nil,
			Resting: TenantStatus(row.TenantStatus) != TenantActive, Failures: int(row.Schedule.SyncFailures),
			Fence: row.Schedule.SyncFence, Due: row.Schedule.SyncDue,
		}
	}), err
}

// EndScheduleSync implements [schedule.Outbox].
func (s *Store) EndScheduleSync(ctx context.Context, end schedule.Sync) error {
	const op = "store.EndScheduleSync"
	if err := checkIDs(op, end.ID); err != nil {
		return err
	}
	n, err := ask(ctx, s.do, op, end.Tenant, (*db.Queries).EndScheduleSync, db.EndScheduleSyncParams{
		TenantID: string(end.Tenant), ID: end.ID, Fence: end.Fence, Revision: end.Revision, ClaimedDue: end.Due,
		Error: text(tool.Clip(end.Error, 500)), NextS: end.Next.Seconds(),
	})
	return leaseLost(op, n, err)
}

// RemoveSchedule implements [schedule.Outbox].
func (s *Store) RemoveSchedule(ctx context.Context, c schedule.Claimed) error {
	const op = "store.RemoveSchedule"
	if err := checkIDs(op, c.ID); err != nil {
		return err
	}
	n, err := ask(ctx, s.do, op, c.Tenant, (*db.Queries).RemoveSchedule, db.RemoveScheduleParams{
		TenantID: string(c.Tenant), ID: c.ID, Fence: c.Fence,
	})
	return leaseLost(op, n, err)
}

// leaseLost returns the error of an update under a lease that changed no row.
func leaseLost(op string, rows int64, err error) error {
	if err == nil && rows == 0 {
		return &tool.Error{Kind: tool.Conflict, Op: op, Msg: "the lease on the schedule has been lost"}
	}
	return err
}
