package store

import (
	"context"

	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

const assignmentUnknown = "assignment not found"

// SetAssignment implements [profile.Profiles]. An empty id is generated; that of an assignment that
// it replaces stays.
func (s *Store) SetAssignment(ctx context.Context, a profile.Assignment) (profile.Assignment, error) {
	const op = "store.SetAssignment"
	if err := a.Check(); err != nil {
		return profile.Assignment{}, err
	}
	id, err := idOrNew(a.ID)
	if err != nil {
		return profile.Assignment{}, err
	}
	if err := checkIDs(op, id, string(a.Tenant), a.ToolID, a.AgentID, a.ProfileID); err != nil {
		return profile.Assignment{}, err
	}
	row, err := ask(ctx, s.do, op, a.Tenant, (*db.Queries).SetAssignment, db.SetAssignmentParams{
		TenantID: string(a.Tenant), ID: id, ToolID: a.ToolID, AgentID: optional(a.AgentID),
		ProfileID: optional(a.ProfileID), ChangedBy: text(a.ChangedBy),
	})
	if err != nil {
		return profile.Assignment{}, explain(err, tool.NotFound, "the tenant has no such tool, agent or profile")
	}
	return s.FindAssignment(ctx, a.Tenant, row.ID)
}

// FindAssignment implements [profile.Profiles].
func (s *Store) FindAssignment(ctx context.Context, tenant tool.TenantID, id string) (profile.Assignment, error) {
	const op = "store.FindAssignment"
	if !tool.ValidID(id) {
		return profile.Assignment{}, notFound(op, assignmentUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindAssignment, db.FindAssignmentParams{
		TenantID: string(tenant), ID: id,
	})
	if err != nil {
		return profile.Assignment{}, explain(err, tool.NotFound, assignmentUnknown)
	}
	return assignmentOf(db.ListAssignmentsRow(row)), nil
}

// ListAssignments implements [profile.Profiles].
func (s *Store) ListAssignments(
	ctx context.Context, tenant tool.TenantID, f profile.Filter, after profile.Assignment, limit int,
) ([]profile.Assignment, error) {
	const op = "store.ListAssignments"
	if err := checkIDs(op, f.ToolID, f.AgentID, f.ProfileID, after.ID); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListAssignments, db.ListAssignmentsParams{
		TenantID: string(tenant), ToolID: optional(f.ToolID), AgentID: optional(f.AgentID),
		ProfileID: optional(f.ProfileID), AfterTool: text(after.Tool), AfterAgent: text(after.Agent),
		AfterID: orNil(after.ID), Limit: pageSize(limit),
	})
	return convert(rows, assignmentOf), err
}

// DeleteAssignment implements [profile.Profiles]. It deletes what counted the calls that ran at once
// under the assignment.
func (s *Store) DeleteAssignment(
	ctx context.Context, tenant tool.TenantID, id string,
) (profile.Assignment, error) {
	found, err := s.FindAssignment(ctx, tenant, id)
	if err != nil {
		return profile.Assignment{}, err
	}
	err = s.inTx(ctx, "store.DeleteAssignment", tenant, func(q *db.Queries) error {
		row, err := q.DeleteAssignment(ctx, db.DeleteAssignmentParams{TenantID: string(tenant), ID: id})
		if err != nil || row.ProfileID == nil {
			return err
		}
		return q.DropSlots(ctx, db.DropSlotsParams{
			TenantID: string(tenant), Scope: tool.ProfileScope(*row.ProfileID, row.ToolID, value(row.AgentID)),
		})
	})
	if err != nil {
		return profile.Assignment{}, explain(err, tool.NotFound, assignmentUnknown)
	}
	return found, nil
}

func assignmentOf(row db.ListAssignmentsRow) profile.Assignment {
	a := row.ToolAssignment
	return profile.Assignment{
		ID: a.ID, Tenant: tool.TenantID(a.TenantID), ToolID: a.ToolID, Tool: row.Tool, AgentID: value(a.AgentID),
		Agent: row.Agent, ProfileID: value(a.ProfileID), Profile: row.Profile, ChangedBy: a.ChangedBy, ChangedAt: a.ChangedAt,
	}
}

// SweepRateBuckets deletes the token buckets of all tenants that are full, and returns their number.
// Call it periodically; concurrent calls are safe.
func (s *Store) SweepRateBuckets(ctx context.Context) (int, error) {
	for total := 0; ; {
		var gone int32
		err := s.doGlobal(ctx, "store.SweepRateBuckets", func(q *db.Queries) (err error) {
			gone, err = q.SweepRateBuckets(ctx, sweepSize)
			return err
		})
		total += int(gone)
		if err != nil || gone < sweepSize {
			s.sweeps.note(SweepRateBuckets, total, err)
			return total, err
		}
	}
}
