package store

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// RenameTool implements [registry.Store].
func (s *Store) RenameTool(ctx context.Context, t tool.Tool, slug, lastDay string) (tool.Tool, error) {
	const op = "store.RenameTool"
	former := t.Slug
	t.Slug = slug
	var renamed tool.Tool
	err := s.inTx(ctx, op, t.Tenant, func(q *db.Queries) (err error) {
		if err := freeOfFormer(ctx, q, op, t); err != nil {
			return err
		}
		if renamed, err = updateTool(ctx, q, op, t); err != nil {
			return err
		}
		own := db.EndToolAliasParams{ScopeID: scopeID(t.Tenant), Alias: text(slug), ToolID: t.ID}
		if err := q.EndToolAlias(ctx, own); err != nil || lastDay == "" {
			return err
		}
		kept, err := q.KeepFormerSlug(ctx, db.KeepFormerSlugParams{
			TenantID: optional(string(t.Tenant)), Alias: text(former), ToolID: t.ID, LastDay: lastDay,
		})
		if err == nil && len(kept) == 0 {
			return &tool.Error{Kind: tool.Conflict, Op: op, Path: "/slug", Msg: fmt.Sprintf(
				"%q cannot be kept: it is a further name of another tool", former)}
		}
		return err
	})
	return renamed, err
}

// freeOfFormer refuses a slug that is kept for another tool of the same scope,
// which had it until it was renamed.
func freeOfFormer(ctx context.Context, q *db.Queries, op string, t tool.Tool) error {
	rows, err := q.FindFormerSlug(ctx, db.FindFormerSlugParams{ScopeID: scopeID(t.Tenant), Alias: text(t.Slug)})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.ScopeID == scopeID(t.Tenant) && row.ID != t.ID {
			return &tool.Error{
				Kind: tool.Conflict, Op: op, Path: "/slug", Err: &registry.RenamedError{Slug: row.Slug}, Msg: fmt.Sprintf(
					"%q is the former name of tool %q until %s: change that one, or choose another slug", t.Slug, row.Slug,
					row.RemoveBy),
			}
		}
	}
	return nil
}

// missing is the failure to find a tool. Where a tool had the slug until it was
// renamed, it says what it is called now.
func (s *Store) missing(ctx context.Context, op string, tenant tool.TenantID, ref tool.Ref) error {
	e := notFound(op, fmt.Sprintf("tool %q not found", ref.Name()))
	if ref.Slug == "" {
		return e
	}
	var rows []db.FindFormerSlugRow
	err := s.do(ctx, op, tenant, func(q *db.Queries) (err error) {
		rows, err = q.FindFormerSlug(ctx, db.FindFormerSlugParams{ScopeID: scopeID(tenant), Alias: text(ref.Slug)})
		return err
	})
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		return &tool.Error{Kind: tool.NotFound, Op: op, Err: &registry.RenamedError{Slug: rows[0].Slug}, Msg: fmt.Sprintf(
			"tool %q is called %q now", ref.Slug, rows[0].Slug)}
	}
	return e
}
