package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// maxStartSweep is the number of starts deleted in one transaction.
const maxStartSweep = 1000

// ReserveScheduleStart implements [schedule.Starts].
func (s *Store) ReserveScheduleStart(
	ctx context.Context, tenant tool.TenantID, scheduleID string, at time.Time,
) (schedule.Start, error) {
	const op = "store.ReserveScheduleStart"
	if !tool.ValidID(scheduleID) {
		return schedule.Start{}, notFound(op, scheduleUnknown)
	}
	id, err := uuid7.New()
	if err != nil {
		return schedule.Start{}, err
	}
	runID, err := uuid7.New()
	if err != nil {
		return schedule.Start{}, err
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).ReserveScheduleStart, db.ReserveScheduleStartParams{
		TenantID: string(tenant), ID: id, ScheduleID: scheduleID, ScheduledAt: at.UTC().Truncate(time.Second), RunID: runID,
	})
	if err != nil {
		return schedule.Start{}, explain(err, tool.NotFound, scheduleUnknown)
	}
	start := startOf(db.ScheduleStart{
		TenantID: row.TenantID, ID: row.ID, ScheduleID: row.ScheduleID, ScheduledAt: row.ScheduledAt, RunID: row.RunID,
		Status: row.Status, Kind: row.Kind, Reason: row.Reason, CreatedAt: row.CreatedAt,
	})
	start.Fresh = row.Fresh
	return start, nil
}

// EndScheduleStart implements [schedule.Starts].
func (s *Store) EndScheduleStart(ctx context.Context, start schedule.Start) error {
	const op = "store.EndScheduleStart"
	if err := checkIDs(op, start.ID, start.RunID); err != nil {
		return err
	}
	_, err := ask(ctx, s.do, op, start.Tenant, (*db.Queries).EndScheduleStart, db.EndScheduleStartParams{
		TenantID: string(start.Tenant), ID: start.ID, Status: string(start.Status), RunID: start.RunID,
		Kind: string(start.Kind), Reason: text(tool.Clip(start.Reason, 500)),
	})
	return explain(err, tool.NotFound, "start not found")
}

// ListScheduleStarts implements [schedule.Store].
func (s *Store) ListScheduleStarts(ctx context.Context, q schedule.StartQuery) ([]schedule.Start, error) {
	const op = "store.ListScheduleStarts"
	if err := checkIDs(op, q.ScheduleID, q.Before); err != nil {
		return nil, err
	}
	if _, err := s.FindSchedule(ctx, q.Tenant, q.ScheduleID); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, q.Tenant, (*db.Queries).ListScheduleStarts, db.ListScheduleStartsParams{
		TenantID: string(q.Tenant), ScheduleID: q.ScheduleID, Status: string(q.Status), Before: optional(q.Before),
		Limit: pageSize(q.Limit),
	})
	return convert(rows, startOf), err
}

// SweepScheduleStarts implements [schedule.Outbox].
func (s *Store) SweepScheduleStarts(ctx context.Context) (int, error) {
	for total := 0; ; {
		var gone int32
		err := s.doGlobal(ctx, "store.SweepScheduleStarts", func(q *db.Queries) (err error) {
			gone, err = q.SweepScheduleStarts(ctx, maxStartSweep)
			return err
		})
		total += int(gone)
		if err != nil || gone < maxStartSweep {
			s.sweeps.note(string(RetainScheduleStarts), total, err)
			return total, err
		}
	}
}

// ScheduleAuthority implements [schedule.Starts].
func (s *Store) ScheduleAuthority(
	ctx context.Context, tenant tool.TenantID, subject string,
) (tool.Principal, error) {
	const op = "store.ScheduleAuthority"
	denied := func(msg string) (tool.Principal, error) {
		return tool.Principal{}, &tool.Error{Kind: tool.Denied, Op: op, Msg: msg}
	}
	id, isKey := strings.CutPrefix(subject, keySubject)
	if !isKey || !tool.ValidID(id) {
		return denied("only API keys make schedules")
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindCaller, db.FindCallerParams{
		TenantID: string(tenant), ID: id,
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows) || tool.KindOf(err) == tool.NotFound && err != nil:
		return denied("the API key that the schedule was made with does not exist any more")
	case err != nil:
		return tool.Principal{}, err
	case TenantStatus(row.TenantStatus) != TenantActive:
		return denied("the tenant is suspended")
	case row.APIKey.RevokedAt != nil:
		return denied("the API key that the schedule was made with has been revoked: change the schedule with another")
	case row.Expired:
		return denied("the API key that the schedule was made with has expired: change the schedule with another")
	}
	key := keyOf(row.APIKey, "")
	key.granted = row.RolePermissions
	return key.Principal().Narrow(), nil
}

func startOf(row db.ScheduleStart) schedule.Start {
	return schedule.Start{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), ScheduleID: row.ScheduleID, At: row.ScheduledAt, RunID: row.RunID,
		Status: schedule.StartStatus(row.Status), Kind: tool.Kind(row.Kind), Reason: row.Reason, CreatedAt: row.CreatedAt,
	}
}
