package store

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// AddSpaceMember implements [space.Store].
func (s *Store) AddSpaceMember(
	ctx context.Context, tenant tool.TenantID, spaceID string, m space.Member, by string,
) (space.Membership, error) {
	const op = "store.AddSpaceMember"
	if !tool.ValidID(spaceID) {
		return space.Membership{}, notFound(op, spaceUnknown)
	}
	params, err := s.memberParams(ctx, tenant, spaceID, m, by)
	if err != nil {
		return space.Membership{}, err
	}
	var row db.AddSpaceMemberRow
	err = s.inTx(ctx, op, tenant, func(q *db.Queries) error {
		// In another tenant's space, the reference fails.
		if _, err := q.FindSpace(ctx, findSpaceParams(tenant, spaceID)); err != nil {
			return explain(failure(op, err), tool.NotFound, spaceUnknown)
		}
		err := q.LockNumber(ctx, db.LockNumberParams{Of: "members/" + spaceID, TenantID: string(tenant)})
		if err != nil {
			return err
		}
		row, err = addMember(ctx, q, op, params)
		return err
	})
	return membershipOf(db.SpaceMember(row)), err
}

// memberParams describes a member that is to be added.
func (s *Store) memberParams(
	ctx context.Context, tenant tool.TenantID, spaceID string, m space.Member, by string,
) (db.AddSpaceMemberParams, error) {
	params := db.AddSpaceMemberParams{
		TenantID: string(tenant), SpaceID: spaceID, Kind: string(m.Kind), Name: text(m.Name), AddedBy: text(by),
	}
	if m.Kind == space.Agent {
		found, err := s.FindAgent(ctx, tenant, m.Name)
		if err != nil {
			return params, err
		}
		params.Name, params.AgentID = found.Slug, &found.ID
	}
	return params, nil
}

// addMember adds a member, unless there are as many as may be.
func addMember(
	ctx context.Context, q *db.Queries, op string, params db.AddSpaceMemberParams,
) (db.AddSpaceMemberRow, error) {
	n, err := q.CountSpaceMembers(ctx, db.CountSpaceMembersParams{
		TenantID: params.TenantID, SpaceID: params.SpaceID, Kind: params.Kind, Name: params.Name,
	})
	if err != nil {
		return db.AddSpaceMemberRow{}, err
	}
	if n >= space.MaxMembers {
		return db.AddSpaceMemberRow{}, &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
			"the space has %d members, which is the most: remove one first", n)}
	}
	return q.AddSpaceMember(ctx, params)
}

// RemoveSpaceMember implements [space.Store].
func (s *Store) RemoveSpaceMember(
	ctx context.Context, tenant tool.TenantID, spaceID string, m space.Member,
) (space.Membership, error) {
	const op = "store.RemoveSpaceMember"
	if !tool.ValidID(spaceID) {
		return space.Membership{}, notFound(op, spaceUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).RemoveSpaceMember, db.RemoveSpaceMemberParams{
		TenantID: string(tenant), SpaceID: spaceID, Kind: string(m.Kind), Name: text(m.Name),
	})
	return membershipOf(db.SpaceMember(row)), explain(err, tool.NotFound, "the space has no such member")
}

// ListSpaceMembers implements [space.Store].
func (s *Store) ListSpaceMembers(
	ctx context.Context, tenant tool.TenantID, spaceID string,
) ([]space.Membership, error) {
	const op = "store.ListSpaceMembers"
	if !tool.ValidID(spaceID) {
		return nil, notFound(op, spaceUnknown)
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListSpaceMembers, db.ListSpaceMembersParams{
		TenantID: string(tenant), SpaceID: spaceID,
	})
	return convert(rows, membershipOf), err
}

// IsSpaceMember implements [space.Store].
func (s *Store) IsSpaceMember(
	ctx context.Context, tenant tool.TenantID, spaceID string, m space.Member,
) (bool, error) {
	const op = "store.IsSpaceMember"
	if !tool.ValidID(spaceID) {
		return false, notFound(op, spaceUnknown)
	}
	return ask(ctx, s.do, op, tenant, (*db.Queries).IsSpaceMember, db.IsSpaceMemberParams{
		TenantID: string(tenant), SpaceID: spaceID, Kind: string(m.Kind), Name: text(m.Name),
	})
}

func membershipOf(row db.SpaceMember) space.Membership {
	return space.Membership{
		Member: space.Member{Kind: space.MemberKind(row.Kind), Name: row.Name}, AgentID: value(row.AgentID),
		AddedBy: row.AddedBy, CreatedAt: row.CreatedAt,
	}
}
