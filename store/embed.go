package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
)

var _ toolembed.Store = (*Store)(nil)

const (
	originUnknown = "origin not found"
	embedUnknown  = "embed token not found"
)

// AddEmbedOrigin implements [toolembed.Store].
func (s *Store) AddEmbedOrigin(ctx context.Context, o toolembed.Origin) (toolembed.Origin, error) {
	const op = "store.AddEmbedOrigin"
	if err := checkIDs(op, o.ID); err != nil {
		return toolembed.Origin{}, err
	}
	if err := toolembed.CheckOrigin(o.Origin); err != nil {
		return toolembed.Origin{}, err
	}
	var made db.EmbedOrigin
	err := s.inTx(ctx, op, o.Tenant, func(q *db.Queries) error {
		if err := q.LockNumber(ctx, db.LockNumberParams{Of: "embed_origins", TenantID: string(o.Tenant)}); err != nil {
			return err
		}
		all, err := q.ListEmbedOrigins(ctx, string(o.Tenant))
		if err != nil {
			return err
		}
		for _, known := range all {
			if known.Name == o.Origin {
				made = known
				return nil
			}
		}
		if len(all) >= toolembed.MaxOrigins {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"the tenant allows %d origins to frame its tools, which is the most: remove one first", len(all))}
		}
		made, err = q.AddEmbedOrigin(ctx, db.AddEmbedOriginParams{
			TenantID: string(o.Tenant), ID: o.ID, Name: o.Origin, CreatedBy: text(o.CreatedBy),
		})
		return err
	})
	return originOf(made), err
}

// RemoveEmbedOrigin implements [toolembed.Store].
func (s *Store) RemoveEmbedOrigin(ctx context.Context, tenant tool.TenantID, id string) (toolembed.Origin, error) {
	const op = "store.RemoveEmbedOrigin"
	if !tool.ValidID(id) {
		return toolembed.Origin{}, notFound(op, originUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).RemoveEmbedOrigin, db.RemoveEmbedOriginParams{
		TenantID: string(tenant), ID: id,
	})
	return originOf(row), explain(err, tool.NotFound, originUnknown)
}

// ListEmbedOrigins implements [toolembed.Store].
func (s *Store) ListEmbedOrigins(ctx context.Context, tenant tool.TenantID) ([]toolembed.Origin, error) {
	rows, err := ask(ctx, s.do, "store.ListEmbedOrigins", tenant, (*db.Queries).ListEmbedOrigins, string(tenant))
	return convert(rows, originOf), err
}

// FramingOrigins implements [toolembed.Store].
func (s *Store) FramingOrigins(ctx context.Context, slug string) ([]string, error) {
	tenant, err := s.TenantOfSlug(ctx, text(slug))
	if err != nil {
		if tool.KindOf(err) == tool.NotFound {
			return nil, nil
		}
		return nil, err
	}
	return ask(ctx, s.do, "store.FramingOrigins", tenant, (*db.Queries).FramingOrigins, string(tenant))
}

// CreateEmbedToken implements [toolembed.Store].
func (s *Store) CreateEmbedToken(
	ctx context.Context, g toolembed.Grant, secretHash []byte,
) (toolembed.Grant, error) {
	const op = "store.CreateEmbedToken"
	if err := checkIDs(op, g.ID, g.ToolID, g.KeyID); err != nil {
		return toolembed.Grant{}, err
	}
	var row db.EmbedToken
	err := s.inTx(ctx, op, g.Tenant, func(q *db.Queries) error {
		if _, err := q.DropOldEmbedTokens(ctx, string(g.Tenant)); err != nil {
			return err
		}
		var err error
		row, err = q.CreateEmbedToken(ctx, db.CreateEmbedTokenParams{
			TenantID: string(g.Tenant), ID: g.ID, SecretHash: secretHash, Origin: text(g.Origin), ToolID: g.ToolID,
			Tool: g.Slug, Version: g.Version, Digest: g.Digest, Caller: text(g.Caller), KeyID: g.KeyID,
			Permission: text(g.Permission), KeepSeconds: toolembed.Keep.Seconds(),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return &tool.Error{Kind: tool.Denied, Op: op, Path: "/origin", Msg: fmt.Sprintf(
				"the tenant does not allow pages of %.80q to frame its tools", g.Origin)}
		}
		return err
	})
	return embedGrantOf(row), err
}

// OpenEmbedToken implements [toolembed.Store].
func (s *Store) OpenEmbedToken(
	ctx context.Context, tenant tool.TenantID, id string, secretHash []byte, origin string,
) (toolembed.Grant, error) {
	const op = "store.OpenEmbedToken"
	if !tool.ValidID(id) {
		return toolembed.Grant{}, notFound(op, embedUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).OpenEmbedToken, db.OpenEmbedTokenParams{
		TenantID: string(tenant), ID: id, SecretHash: secretHash, Origin: text(origin),
	})
	g := embedGrantOf(row.EmbedToken)
	g.TenantSlug, g.TenantName = row.TenantSlug, row.TenantName
	return g, explain(err, tool.NotFound, embedUnknown)
}

func originOf(row db.EmbedOrigin) toolembed.Origin {
	return toolembed.Origin{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Origin: row.Name, CreatedBy: row.CreatedBy,
		CreatedAt: row.CreatedAt,
	}
}

func embedGrantOf(row db.EmbedToken) toolembed.Grant {
	return toolembed.Grant{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Origin: row.Origin,
		VersionIdentity: tool.VersionIdentity{ToolID: row.ToolID, Slug: row.Tool, Version: row.Version, Digest: row.Digest},
		Caller:          row.Caller, KeyID: row.KeyID, Permission: row.Permission, ExpiresAt: row.ExpiresAt,
		CreatedAt: row.CreatedAt,
	}
}
