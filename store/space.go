package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

const spaceUnknown = "space not found"

var (
	_ space.Store  = (*Store)(nil)
	_ space.Visits = (*Store)(nil)
	_ space.Wakes  = (*Store)(nil)
)

// CreateSpace implements [space.Store].
func (s *Store) CreateSpace(ctx context.Context, sp space.Space, members ...space.Member) (space.Space, error) {
	const op = "store.CreateSpace"
	if err := checkIDs(op, sp.ID); err != nil {
		return space.Space{}, err
	}
	id, err := idOrNew(sp.ID)
	if err != nil {
		return space.Space{}, err
	}
	adding := make([]db.AddSpaceMemberParams, len(members))
	for i, m := range members {
		if adding[i], err = s.memberParams(ctx, sp.Tenant, id, m, sp.CreatedBy); err != nil {
			return space.Space{}, err
		}
	}
	var row db.Space
	err = s.inTx(ctx, op, sp.Tenant, func(q *db.Queries) error {
		if err := q.LockNumber(ctx, db.LockNumberParams{Of: "spaces", TenantID: string(sp.Tenant)}); err != nil {
			return err
		}
		n, err := q.CountSpaces(ctx, string(sp.Tenant))
		if err != nil {
			return err
		}
		if n >= space.MaxSpaces {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"the tenant has %d spaces, which is the most: delete one first", n)}
		}
		row, err = q.CreateSpace(ctx, db.CreateSpaceParams{
			TenantID: string(sp.Tenant), ID: id, Slug: sp.Slug, Name: text(sp.Name), Description: text(sp.Description),
			MaxHops: number(sp.MaxHops), CreatedBy: text(sp.CreatedBy),
		})
		if err != nil {
			return explain(failure(op, err), tool.Conflict, fmt.Sprintf("there is a space %q already", sp.Slug))
		}
		for _, params := range adding {
			if _, err := addMember(ctx, q, op, params); err != nil {
				return err
			}
		}
		return nil
	})
	return spaceOf(row), explain(err, tool.NotFound, "tenant not found")
}

// FindSpace implements [space.Store].
func (s *Store) FindSpace(ctx context.Context, tenant tool.TenantID, slugOrID string) (space.Space, error) {
	row, err := ask(ctx, s.do, "store.FindSpace", tenant, (*db.Queries).FindSpace, findSpaceParams(tenant, slugOrID))
	return spaceOf(row), explain(err, tool.NotFound, spaceUnknown)
}

func findSpaceParams(tenant tool.TenantID, slugOrID string) db.FindSpaceParams {
	params := db.FindSpaceParams{TenantID: string(tenant), Name: text(slugOrID)}
	if tool.ValidID(slugOrID) {
		params.ID = &slugOrID
	}
	return params
}

// ListSpaces implements [space.Store].
func (s *Store) ListSpaces(ctx context.Context, q space.Query) ([]space.Space, error) {
	const op = "store.ListSpaces"
	if err := checkIDs(op, q.Before); err != nil {
		return nil, err
	}
	params := db.ListSpacesParams{
		TenantID: string(q.Tenant), Before: optional(q.Before), Archived: q.Archived, Slugs: texts(q.Slugs),
		Limit: pageSize(q.Limit),
	}
	if q.Member != nil {
		params.MemberKind, params.MemberName = string(q.Member.Kind), text(q.Member.Name)
	}
	rows, err := ask(ctx, s.doFiltered, op, q.Tenant, (*db.Queries).ListSpaces, params)
	return convert(rows, spaceOf), err
}

// ChangeSpace implements [space.Store].
func (s *Store) ChangeSpace(ctx context.Context, sp space.Space) (space.Space, error) {
	const op = "store.ChangeSpace"
	if !tool.ValidID(sp.ID) {
		return space.Space{}, notFound(op, spaceUnknown)
	}
	row, err := ask(ctx, s.do, op, sp.Tenant, (*db.Queries).ChangeSpace, db.ChangeSpaceParams{
		TenantID: string(sp.Tenant), ID: sp.ID, Revision: sp.Revision, Name: text(sp.Name),
		Description: text(sp.Description), MaxHops: number(sp.MaxHops), Archived: sp.ArchivedAt != nil,
	})
	return spaceOf(row), s.changedSpace(ctx, sp.Tenant, sp.ID, err)
}

// changedSpace returns the error of a change by revision.
func (s *Store) changedSpace(ctx context.Context, tenant tool.TenantID, id string, err error) error {
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if _, found := s.FindSpace(ctx, tenant, id); found != nil {
		return found
	}
	return space.Changed()
}

// DeleteSpace implements [space.Store].
func (s *Store) DeleteSpace(
	ctx context.Context, tenant tool.TenantID, id string, revision int64,
) (space.Space, error) {
	const op = "store.DeleteSpace"
	if !tool.ValidID(id) {
		return space.Space{}, notFound(op, spaceUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).DeleteSpace, db.DeleteSpaceParams{
		TenantID: string(tenant), ID: id, Revision: revision,
	})
	return spaceOf(row), s.changedSpace(ctx, tenant, id, err)
}

func spaceOf(row db.Space) space.Space {
	return space.Space{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Slug: row.Slug, Name: row.Name, Description: row.Description,
		MaxHops: int(row.MaxHops), LastSeq: row.LastSeq, ArchivedAt: row.ArchivedAt, Revision: row.Revision,
		CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
}
