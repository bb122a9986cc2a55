package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// AddVersion implements [registry.Store]. A canary that is published and not withheld any more is given to every run.
func (s *Store) AddVersion(ctx context.Context, t tool.Tool, v tool.Version) (tool.Tool, tool.Version, error) {
	const op = "store.AddVersion"
	var head tool.Tool
	var stored tool.Version
	err := s.inTx(ctx, op, t.Tenant, func(q *db.Queries) (err error) {
		if head, stored, err = addVersion(ctx, q, op, t, v); err != nil || !v.Published || v.Withheld > 0 || t.Global() {
			return err
		}
		return q.PromoteCanary(ctx, db.PromoteCanaryParams{
			TenantID: string(t.Tenant), VersionID: stored.ID, EndedBy: text(v.CreatedBy),
		})
	})
	if err != nil {
		return tool.Tool{}, tool.Version{}, err
	}
	return head, stored, nil
}

// addVersion stores a version and the changed head in a transaction.
func addVersion(
	ctx context.Context, q *db.Queries, op string, t tool.Tool, v tool.Version,
) (head tool.Tool, stored tool.Version, err error) {
	id, err := idOrNew(v.ID)
	if err != nil {
		return head, stored, err
	}
	snapshot, err := content(v.Snapshot.Definition)
	if err != nil {
		return head, stored, err
	}
	if v.Published {
		if err := holdServer(ctx, q, op, t, &v.Snapshot.Definition); err != nil {
			return head, stored, err
		}
	}
	names, _ := furtherNames(v.Snapshot.Interaction)
	if v.Published && len(names) > 0 {
		if err := lockNames(ctx, q, t.Tenant, slices.Clone(names)...); err != nil {
			return head, stored, err
		}
	}
	if head, err = updateTool(ctx, q, op, t); err != nil {
		return head, stored, err
	}
	by, at := declarationRow(v.ReadsDeclared)
	row, err := q.AddToolVersion(ctx, db.AddToolVersionParams{
		ScopeID: scopeID(t.Tenant), Keep: names, ID: id, ToolID: t.ID, TenantID: optional(string(t.Tenant)),
		Version: text(v.Number), Digest: v.Digest,
		SchemaSnapshot: snapshot, Published: v.Published, PublishedAt: v.PublishedAt, CreatedBy: text(v.CreatedBy),
		ReadsDeclaredBy: by, ReadsDeclaredAt: at,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return head, stored, &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
			"version %s of tool %q exists with other content; use a new number", v.Number, t.Slug)}
	}
	if err != nil {
		return head, stored, err
	}
	if stored, err = versionOf(row, head.Slug); err != nil || !v.Published {
		return head, stored, err
	}
	return head, stored, rename(ctx, q, op, head, stored.Snapshot.Interaction)
}

// ListVersions implements [registry.Store].
func (s *Store) ListVersions(ctx context.Context, tenant tool.TenantID, toolID string) ([]tool.Version, error) {
	const op = "store.ListVersions"
	if err := checkIDs(op, toolID); err != nil {
		return nil, err
	}
	var tools []db.ToolRegistry
	var rows []versionRow
	err := s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queue(b, &tools, db.FindToolsByID, scopeID(tenant), toolID)
		queue(b, &rows, db.ListToolVersions, scopeID(tenant), toolID)
	})
	if err != nil {
		return nil, err
	}
	if len(tools) == 0 {
		return nil, notFound(op, "tool not found")
	}
	return collect(rows, func(row versionRow) (tool.Version, error) {
		v, err := versionOf(row.ToolVersion, tools[0].Slug)
		v.Withheld = int(row.Withheld)
		return v, err
	})
}

// versionRow is a row of ListToolVersions.
type versionRow struct {
	db.ToolVersion

	Withheld int32
}

// Version implements [resolver.Source]. It fails with tool.NotFound.
func (s *Store) Version(ctx context.Context, tenant tool.TenantID, toolID, digest string) (*tool.Version, error) {
	const op = "store.Version"
	if err := checkIDs(op, toolID); err != nil {
		return nil, err
	}
	var v tool.Version
	err := s.do(ctx, op, tenant, func(q *db.Queries) error {
		row, err := q.FindToolVersion(ctx, db.FindToolVersionParams{
			ScopeID: scopeID(tenant), ToolID: toolID, Digest: text(digest),
		})
		if err != nil {
			return err
		}
		v, err = versionOf(row.ToolVersion, row.Slug)
		return err
	})
	if err != nil {
		return nil, explain(err, tool.NotFound, "tool version not found")
	}
	return &v, nil
}

// VersionsOf implements [resolver.Source].
func (s *Store) VersionsOf(
	ctx context.Context, tenant tool.TenantID, toolIDs, digests []string,
) ([]*tool.Version, error) {
	const op = "store.VersionsOf"
	if err := checkIDs(op, toolIDs...); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindToolVersions, db.FindToolVersionsParams{
		ScopeID: scopeID(tenant), ToolIds: toolIDs, Digests: convert(digests, text),
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row db.FindToolVersionsRow) (*tool.Version, error) {
		v, err := versionOf(row.ToolVersion, row.Slug)
		return &v, err
	})
}

func versionOf(row db.ToolVersion, slug string) (tool.Version, error) {
	v := tool.Version{
		ID: row.ID, ToolID: row.ToolID, Tenant: tool.TenantID(value(row.TenantID)), Slug: slug, Number: row.Version,
		Digest: row.Digest, Published: row.Published, PublishedAt: row.PublishedAt, CreatedAt: row.CreatedAt,
		CreatedBy:     row.CreatedBy,
		ReadsDeclared: declarationOf(row.ReadsDeclaredBy, row.ReadsDeclaredAt),
	}
	return v, decode(row.SchemaSnapshot, &v.Snapshot.Definition)
}
