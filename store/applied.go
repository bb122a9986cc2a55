package store

import (
	"context"
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
}

// RecordApplied records that objects belong to a set of definitions. An object belongs to one set: those that
// belonged to another one are returned, with that set.
func (s *Store) RecordApplied(
	ctx context.Context, tenant tool.TenantID, set, by string, objects []AppliedObject,
) ([]AppliedObject, error) {
	const op = "store.RecordApplied"
	params := db.RecordAppliedParams{TenantID: string(tenant), SetName: set, AppliedBy: text(by)}
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
		return AppliedObject{Kind: r.Kind, ID: r.ObjectID, Set: r.SetName}
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

// MarkRemoved records that an object was taken away with its set: for good, or so that applying its definition
// again takes it back.
func (s *Store) MarkRemoved(ctx context.Context, tenant tool.TenantID, kind, id string, good bool) error {
	const op = "store.MarkRemoved"
	if err := checkIDs(op, id); err != nil {
		return err
	}
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		return q.MarkRemoved(ctx, db.MarkRemovedParams{TenantID: string(tenant), Kind: kind, ObjectID: id, Gone: good})
	})
}
