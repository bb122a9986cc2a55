package store

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// PostMessage implements [space.Store].
func (s *Store) PostMessage(ctx context.Context, p space.Post) (space.Posted, error) {
	const op = "store.PostMessage"
	tenant := p.Principal.Tenant
	if !tool.ValidID(p.SpaceID) {
		return space.Posted{}, notFound(op, spaceUnknown)
	}
	if err := checkIDs(op, p.ID, p.RunID); err != nil {
		return space.Posted{}, err
	}
	id, err := idOrNew(p.ID)
	if err != nil {
		return space.Posted{}, err
	}
	made, err := ask(ctx, s.do, op, tenant, (*db.Queries).PostSpaceMessage, db.PostSpaceMessageParams{
		TenantID: string(tenant), SpaceID: p.SpaceID, ID: id, FromKind: string(p.From.Kind), FromName: text(p.From.Name),
		Subject: text(p.Principal.Subject), RunID: optional(p.RunID), Hops: number(p.Hops), Text: text(p.Text),
		LimitReason: space.HopLimit, Permissions: texts(p.Principal.Permissions), Scopes: texts(p.Principal.Scopes),
	})
	if err != nil {
		return space.Posted{}, err
	}
	m, err := s.FindSpaceMessage(ctx, tenant, p.SpaceID, id)
	if tool.KindOf(err) == tool.NotFound {
		return space.Posted{}, s.notPosted(ctx, tenant, p)
	}
	if made.Posted > 0 {
		s.wake(tenant, p.SpaceID)
	}
	return space.Posted{Message: m, Woken: int(made.Woken), Repeated: made.Posted == 0}, err
}

// notPosted returns why a text was not posted.
func (s *Store) notPosted(ctx context.Context, tenant tool.TenantID, p space.Post) error {
	const op = "store.PostMessage"
	found, err := s.FindSpace(ctx, tenant, p.SpaceID)
	switch {
	case err != nil:
		return err
	case found.ArchivedAt != nil:
		return &tool.Error{Kind: tool.Conflict, Op: op, Msg: "the space is archived: nothing is posted to it any more"}
	default:
		return &tool.Error{Kind: tool.Denied, Op: op, Msg: p.From.String() + " is no member of the space"}
	}
}

// FindSpaceMessage implements [space.Store].
func (s *Store) FindSpaceMessage(
	ctx context.Context, tenant tool.TenantID, spaceID, id string,
) (space.Message, error) {
	const op, unknown = "store.FindSpaceMessage", "message not found"
	if !tool.ValidID(spaceID) || !tool.ValidID(id) {
		return space.Message{}, notFound(op, unknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindSpaceMessage, db.FindSpaceMessageParams{
		TenantID: string(tenant), SpaceID: spaceID, ID: id,
	})
	return spaceMessageOf(row), explain(err, tool.NotFound, unknown)
}

// ListSpaceMessages implements [space.Store].
func (s *Store) ListSpaceMessages(ctx context.Context, q space.MessageQuery) ([]space.Message, error) {
	const op = "store.ListSpaceMessages"
	if !tool.ValidID(q.SpaceID) {
		return nil, notFound(op, spaceUnknown)
	}
	rows, err := ask(ctx, s.do, op, q.Tenant, (*db.Queries).ListSpaceMessages, db.ListSpaceMessagesParams{
		TenantID: string(q.Tenant), SpaceID: q.SpaceID, Before: q.Before, Kind: string(q.Kind), Skip: number(q.Offset),
		Limit: pageSize(q.Limit),
	})
	return convert(rows, spaceMessageOf), err
}

// ListSpaceChanges implements [space.Store].
func (s *Store) ListSpaceChanges(
	ctx context.Context, tenant tool.TenantID, spaceID string, after int64, limit int,
) ([]space.Message, error) {
	const op = "store.ListSpaceChanges"
	if !tool.ValidID(spaceID) {
		return nil, notFound(op, spaceUnknown)
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListSpaceChanges, db.ListSpaceChangesParams{
		TenantID: string(tenant), SpaceID: spaceID, After: after, Limit: pageSize(limit),
	})
	return convert(rows, spaceMessageOf), err
}

func spaceMessageOf(row db.SpaceMessage) space.Message {
	m := space.Message{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), SpaceID: row.SpaceID, Seq: row.Seq, ChangedSeq: row.ChangedSeq,
		Kind: space.MessageKind(row.Kind), From: space.Member{Kind: space.MemberKind(row.FromKind), Name: row.FromName},
		Subject: row.Subject, RunID: value(row.RunID), Hops: int(row.Hops), Text: row.Text, NotWoken: row.NotWoken,
		Status: space.MessageStatus(row.Status), CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	if m.Kind == space.Tool {
		m.Call = &space.Call{
			Tool: row.Tool, Version: row.Version, CallID: row.CallID, Input: row.Input, Output: row.Output,
			Kind: tool.Kind(row.ErrorKind), Error: row.Error, ExpiresAt: row.ExpiresAt,
		}
	}
	return m.Settle(time.Now())
}
