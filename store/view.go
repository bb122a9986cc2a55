package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/view"
)

var _ view.Views = (*Store)(nil)

const viewUnknown = "view not found"

// PublishingEnabled implements [view.Views].
func (s *Store) PublishingEnabled(ctx context.Context, tenant tool.TenantID) (bool, error) {
	on, err := ask(ctx, s.do, "store.PublishingEnabled", tenant, (*db.Queries).PublishingEnabled, string(tenant))
	return on, explain(err, tool.NotFound, "tenant not found")
}

// SetPublishing sets whether the tenant may publish views. It fails with tool.NotFound.
func (s *Store) SetPublishing(ctx context.Context, tenant tool.TenantID, enabled bool) (Tenant, error) {
	row, err := ask(ctx, s.do, "store.SetPublishing", tenant, (*db.Queries).SetPublishing, db.SetPublishingParams{
		TenantID: string(tenant), Enabled: enabled,
	})
	if err != nil {
		return Tenant{}, explain(err, tool.NotFound, "tenant not found")
	}
	return tenantOf(row), nil
}

// CreateView implements [view.Views].
func (s *Store) CreateView(
	ctx context.Context, v view.View, secretHash []byte, keep time.Duration,
) (view.View, error) {
	const op = "store.CreateView"
	if err := checkIDs(op, v.ID, v.ToolID, v.RunID); err != nil {
		return view.View{}, err
	}
	if err := v.Check(); err != nil {
		return view.View{}, err
	}
	var row db.PublishedView
	err := s.inTx(ctx, op, v.Tenant, func(q *db.Queries) error {
		if err := q.LockNumber(ctx, db.LockNumberParams{Of: "views", TenantID: string(v.Tenant)}); err != nil {
			return err
		}
		if _, err := q.DropOldViews(ctx, string(v.Tenant)); err != nil {
			return err
		}
		if err := oneMoreView(ctx, q, op, v.Tenant); err != nil {
			return err
		}
		var err error
		row, err = q.CreateView(ctx, db.CreateViewParams{
			TenantID: string(v.Tenant), ID: v.ID, Name: text(v.Title), Description: text(v.Description), Kind: string(v.Kind),
			ToolID: v.ToolID, Tool: v.Slug, Version: v.Version, Digest: v.Digest, RunID: optional(v.RunID),
			SecretHash: secretHash, KeepSeconds: keep.Seconds(), CreatedBy: text(v.CreatedBy),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return notPublished(ctx, q, op, &v)
		}
		return err
	})
	return viewOf(row), err
}

// oneMoreView fails with tool.Conflict where the tenant has as many live views as it may have.
func oneMoreView(ctx context.Context, q *db.Queries, op string, tenant tool.TenantID) error {
	live, err := q.CountLiveViews(ctx, string(tenant))
	if err == nil && live >= view.MaxLive {
		return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
			"the tenant has %d published views, which is the most: revoke one first", live)}
	}
	return err
}

// notPublished returns why a view was not stored.
func notPublished(ctx context.Context, q *db.Queries, op string, v *view.View) error {
	on, err := q.PublishingEnabled(ctx, string(v.Tenant))
	switch {
	case err != nil:
		return explain(err, tool.NotFound, "tenant not found")
	case !on:
		return publishingOff(op)
	}
	return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
		"the tool %q is disabled, quarantined or gone: nothing of it is published", v.Slug)}
}

func publishingOff(op string) error {
	return &tool.Error{
		Kind: tool.Denied, Op: op,
		Msg: "the tenant does not publish views: switch it on first, with PUT /v1/tenants/{tenant}/publishing or " +
			"toolcrib tenant publish on",
	}
}

// FindView implements [view.Views].
func (s *Store) FindView(ctx context.Context, tenant tool.TenantID, id string) (view.View, error) {
	const op = "store.FindView"
	if !tool.ValidID(id) {
		return view.View{}, notFound(op, viewUnknown)
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListViews, db.ListViewsParams{
		TenantID: string(tenant), ID: &id, Limit: 1,
	})
	switch {
	case err != nil:
		return view.View{}, err
	case len(rows) == 0:
		return view.View{}, notFound(op, viewUnknown)
	}
	return listedView(rows[0]), nil
}

// ListViews implements [view.Views].
func (s *Store) ListViews(
	ctx context.Context, tenant tool.TenantID, before string, limit int,
) ([]view.View, error) {
	const op = "store.ListViews"
	if err := checkIDs(op, before); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).ListViews, db.ListViewsParams{
		TenantID: string(tenant), Before: optional(before), Limit: pageSize(limit),
	})
	return convert(rows, listedView), err
}

// OpenView implements [view.Views].
func (s *Store) OpenView(
	ctx context.Context, tenant tool.TenantID, id string, secretHash []byte,
) (view.View, error) {
	const op = "store.OpenView"
	if !tool.ValidID(id) {
		return view.View{}, notFound(op, viewUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).OpenView, db.OpenViewParams{
		TenantID: string(tenant), ID: id, SecretHash: secretHash,
	})
	return viewOf(row), explain(err, tool.NotFound, viewUnknown)
}

// RevokeView implements [view.Views].
func (s *Store) RevokeView(ctx context.Context, tenant tool.TenantID, id, by string) (view.View, error) {
	const op = "store.RevokeView"
	if !tool.ValidID(id) {
		return view.View{}, notFound(op, viewUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).RevokeView, db.RevokeViewParams{
		TenantID: string(tenant), ID: id, ChangedBy: text(by),
	})
	return viewOf(row), explain(err, tool.NotFound, viewUnknown)
}

// RotateView implements [view.Views].
func (s *Store) RotateView(
	ctx context.Context, tenant tool.TenantID, id, by string, secretHash []byte, keep time.Duration,
) (view.View, error) {
	const op = "store.RotateView"
	if !tool.ValidID(id) {
		return view.View{}, notFound(op, viewUnknown)
	}
	var row db.PublishedView
	err := s.inTx(ctx, op, tenant, func(q *db.Queries) error {
		if err := q.LockNumber(ctx, db.LockNumberParams{Of: "views", TenantID: string(tenant)}); err != nil {
			return err
		}
		found, err := q.ListViews(ctx, db.ListViewsParams{TenantID: string(tenant), ID: &id, Limit: 1})
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return notFound(op, viewUnknown)
		}
		v := listedView(found[0])
		if v.RevokedAt != nil {
			return &tool.Error{
				Kind: tool.Conflict, Op: op, Msg: "the view was revoked, for good: publish another",
			}
		}
		if v.Expired { // It is live again.
			if err := oneMoreView(ctx, q, op, tenant); err != nil {
				return err
			}
		}
		row, err = q.RotateView(ctx, db.RotateViewParams{
			TenantID: string(tenant), ID: id, SecretHash: secretHash, KeepSeconds: keep.Seconds(), ChangedBy: text(by),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return notPublished(ctx, q, op, &v)
		}
		return err
	})
	return viewOf(row), err
}

func listedView(row db.ListViewsRow) view.View {
	v := viewOf(row.PublishedView)
	v.Suspended, v.Expired = row.Suspended, row.Expired
	return v
}

func viewOf(row db.PublishedView) view.View {
	v := view.View{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Title: row.Name, Description: row.Description,
		Kind:            view.Kind(row.Kind),
		VersionIdentity: tool.VersionIdentity{ToolID: row.ToolID, Slug: row.Tool, Version: row.Version, Digest: row.Digest},
		ExpiresAt:       row.ExpiresAt, RevokedAt: row.RevokedAt, Rotations: int(row.Rotations), CreatedBy: row.CreatedBy,
		ChangedBy: row.ChangedBy, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	if row.RunID != nil {
		v.RunID = *row.RunID
	}
	return v
}
