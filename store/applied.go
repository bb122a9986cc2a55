package store

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// AppliedObject is what a set of definitions made.
type AppliedObject struct {
	Kind    string // As definitions name it: tool, agent, pipeline.
	ID      string
	Slug    string // When it was applied.
	Set     string
	By      string    // The subject of its last apply.
	At      time.Time // Of its last apply.
	Removed time.Time // When it was taken away with its set; zero where it is there.
	// Lost says of one that was to be recorded that it was not: another apply takes it away, or has done so meanwhile.
	Lost bool
}

// BeginApply returns the time that an apply begins, by the database's clock.
func (s *Store) BeginApply(ctx context.Context, tenant tool.TenantID) (time.Time, error) {
	var at time.Time
	err := s.do(ctx, "store.BeginApply", tenant, func(q *db.Queries) (err error) {
		at, err = q.BeginApply(ctx)
		return err
	})
	return at, err
}

// RecordApplied records that objects belong to a set of definitions, for an apply that began at a time
// ([Store.BeginApply]). An object belongs to one set: those that belonged to another one are returned, with that set,
// and so are those that are lost.
func (s *Store) RecordApplied(
	ctx context.Context, tenant tool.TenantID, set, by string, objects []AppliedObject, began time.Time,
) ([]AppliedObject, error) {
	const op = "store.RecordApplied"
	params := db.RecordAppliedParams{TenantID: string(tenant), SetName: set, AppliedBy: text(by), Began: &began}
	for _, o := range objects {
		if err := checkIDs(op, o.ID); err != nil {
			return nil, err
		}
		params.Kinds = append(params.Kinds, o.Kind)
		params.ObjectIds = append(params.ObjectIds, o.ID)
		params.Slugs = append(params.Slugs, o.Slug)
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).RecordApplied, params)
	return convert(rows, func(r db.RecordAppliedRow) AppliedObject {
		return AppliedObject{Kind: r.Kind, ID: r.ObjectID, Set: r.SetName, Lost: r.Lost}
	}), explain(err, tool.NotFound, "tenant not found")
}

// ListApplied lists what belongs to a set of definitions, by kind and slug. A set that nothing was applied to is
// empty.
func (s *Store) ListApplied(ctx context.Context, tenant tool.TenantID, set string) ([]AppliedObject, error) {
	rows, err := ask(ctx, s.do, "store.ListApplied", tenant, (*db.Queries).ListApplied, db.ListAppliedParams{
		TenantID: string(tenant), SetName: set,
	})
	return convert(rows, func(r db.AppliedObject) AppliedObject {
		o := AppliedObject{
			Kind: r.Kind, ID: r.ObjectID, Slug: r.Slug, Set: r.SetName, By: r.AppliedBy, At: r.AppliedAt,
		}
		if r.RemovedAt != nil {
			o.Removed = *r.RemovedAt
		}
		return o
	}), err
}

// ClaimRemoval claims an object to be taken away, as it was listed, for a minute: no other apply records or takes
// away a claimed one. It fails with tool.Conflict where the object was applied or taken away since, or is claimed.
func (s *Store) ClaimRemoval(ctx context.Context, tenant tool.TenantID, o AppliedObject) error {
	const op = "store.ClaimRemoval"
	if err := checkIDs(op, o.ID); err != nil {
		return err
	}
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		claimed, err := q.ClaimRemoval(ctx, db.ClaimRemovalParams{
			TenantID: string(tenant), Kind: o.Kind, ObjectID: o.ID, SetName: o.Set, AppliedAt: o.At,
		})
		if err == nil && claimed == 0 {
			err = &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"%s %q was applied or taken away by another request meanwhile: apply again", o.Kind, o.Slug)}
		}
		return err
	})
}

// ReleaseRemoval ends the claim of an object that was not taken away.
func (s *Store) ReleaseRemoval(ctx context.Context, tenant tool.TenantID, o AppliedObject) error {
	const op = "store.ReleaseRemoval"
	if err := checkIDs(op, o.ID); err != nil {
		return err
	}
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		return q.ReleaseRemoval(ctx, db.ReleaseRemovalParams{
			TenantID: string(tenant), Kind: o.Kind, ObjectID: o.ID, SetName: o.Set,
		})
	})
}

// MarkRemoved records that an object was taken away with its set: for good, or so that applying its definition
// again takes it back.
func (s *Store) MarkRemoved(ctx context.Context, tenant tool.TenantID, o AppliedObject, good bool) error {
	const op = "store.MarkRemoved"
	if err := checkIDs(op, o.ID); err != nil {
		return err
	}
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		return q.MarkRemoved(ctx, db.MarkRemovedParams{
			TenantID: string(tenant), Kind: o.Kind, ObjectID: o.ID, SetName: o.Set, Gone: good,
		})
	})
}
