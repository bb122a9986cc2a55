package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

const scheduleUnknown = "schedule not found"

// CreateSchedule implements [schedule.Store].
func (s *Store) CreateSchedule(ctx context.Context, n schedule.Schedule) (schedule.Schedule, error) {
	const op = "store.CreateSchedule"
	if err := checkIDs(op, n.ID); err != nil {
		return schedule.Schedule{}, err
	}
	var row db.Schedule
	err := s.inTx(ctx, op, n.Tenant, func(q *db.Queries) error {
		if err := q.LockNumber(ctx, db.LockNumberParams{Of: "schedules", TenantID: string(n.Tenant)}); err != nil {
			return err
		}
		count, err := q.CountSchedules(ctx, string(n.Tenant))
		if err != nil {
			return err
		}
		if count >= schedule.MaxSchedules {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"the tenant has %d schedules, which is the most: delete one first", count)}
		}
		row, err = q.CreateSchedule(ctx, db.CreateScheduleParams{
			TenantID: string(n.Tenant), ID: n.ID, Name: text(n.Name), Agent: text(n.Agent),
			VersionConstraint: text(n.Constraint), Input: n.Input, Crons: texts(n.Crons), EveryS: seconds(n.Every),
			OffsetS: seconds(n.Offset), TimeZone: text(n.Zone), StartAt: n.StartAt, EndAt: n.EndAt, JitterS: seconds(n.Jitter),
			Overlap: string(n.Overlap), CatchupS: seconds(n.Catchup), Paused: n.Paused, Note: text(n.Note),
			StartsLeft: n.StartsLeft, CreatedBy: text(n.CreatedBy),
		})
		return explain(failure(op, err), tool.Conflict, fmt.Sprintf("the tenant has a schedule named %q already", n.Name))
	})
	return scheduleOf(row), explain(err, tool.NotFound, "tenant not found")
}

// FindSchedule implements [schedule.Store].
func (s *Store) FindSchedule(ctx context.Context, tenant tool.TenantID, nameOrID string) (schedule.Schedule, error) {
	params := db.FindScheduleParams{TenantID: string(tenant), Name: text(nameOrID)}
	if tool.ValidID(nameOrID) {
		params.ID = &nameOrID
	}
	row, err := ask(ctx, s.do, "store.FindSchedule", tenant, (*db.Queries).FindSchedule, params)
	return scheduleOf(row), explain(err, tool.NotFound, scheduleUnknown)
}

// ListSchedules implements [schedule.Store].
func (s *Store) ListSchedules(
	ctx context.Context, tenant tool.TenantID, before string, limit int,
) ([]schedule.Schedule, error) {
	const op = "store.ListSchedules"
	if err := checkIDs(op, before); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListSchedules, db.ListSchedulesParams{
		TenantID: string(tenant), Before: optional(before), Limit: pageSize(limit),
	})
	return convert(rows, scheduleOf), err
}

// ChangeSchedule implements [schedule.Store].
func (s *Store) ChangeSchedule(
	ctx context.Context, n schedule.Schedule, starts bool,
) (schedule.Schedule, error) {
	const op = "store.ChangeSchedule"
	if err := checkIDs(op, n.ID); err != nil {
		return schedule.Schedule{}, err
	}
	row, err := ask(ctx, s.do, op, n.Tenant, (*db.Queries).ChangeSchedule, db.ChangeScheduleParams{
		TenantID: string(n.Tenant), ID: n.ID, Revision: n.Revision, Agent: text(n.Agent),
		VersionConstraint: text(n.Constraint), Input: n.Input, Crons: texts(n.Crons), EveryS: seconds(n.Every),
		OffsetS: seconds(n.Offset), TimeZone: text(n.Zone), StartAt: n.StartAt, EndAt: n.EndAt, JitterS: seconds(n.Jitter),
		Overlap: string(n.Overlap), CatchupS: seconds(n.Catchup), Paused: n.Paused, Note: text(n.Note),
		StartsLeft: n.StartsLeft, SetStarts: starts, CreatedBy: text(n.CreatedBy),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return schedule.Schedule{}, schedule.Changed()
	}
	return scheduleOf(row), err
}

// DeleteSchedule implements [schedule.Store].
func (s *Store) DeleteSchedule(
	ctx context.Context, tenant tool.TenantID, id string, revision int64,
) (schedule.Schedule, error) {
	const op = "store.DeleteSchedule"
	if !tool.ValidID(id) {
		return schedule.Schedule{}, notFound(op, scheduleUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).DeleteSchedule, db.DeleteScheduleParams{
		TenantID: string(tenant), ID: id, Revision: revision,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		if _, found := s.FindSchedule(ctx, tenant, id); found != nil {
			return schedule.Schedule{}, found
		}
		return schedule.Schedule{}, schedule.Changed()
	}
	return scheduleOf(row), err
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

func scheduleOf(row db.Schedule) schedule.Schedule {
	return schedule.Schedule{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Name: row.Name, Agent: row.Agent,
		Constraint: row.VersionConstraint, Input: json.RawMessage(row.Input),
		Times: schedule.Times{
			Crons: row.Crons, Zone: row.TimeZone, Every: time.Duration(row.EveryS) * time.Second,
			Offset: time.Duration(row.OffsetS) * time.Second, StartAt: row.StartAt, EndAt: row.EndAt,
			Jitter: time.Duration(row.JitterS) * time.Second,
		},
		Overlap: schedule.Overlap(row.Overlap), Catchup: time.Duration(row.CatchupS) * time.Second, Paused: row.Paused,
		Note: row.Note, StartsLeft: row.StartsLeft, CreatedBy: row.CreatedBy, Revision: row.Revision,
		Applied: row.AppliedRevision, SyncError: row.SyncError, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
}
