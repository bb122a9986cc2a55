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
		if err := lockNames(ctx, q, t.Tenant, former, slug); err != nil {
			return err
		}
		if err := freeOfFormer(ctx, q, op, t); err != nil {
			return err
		}
		if renamed, err = updateTool(ctx, q, op, t); err != nil {
			return err
		}
		if slug == former {
			if lastDay != "" {
				return nil
			}
			return q.EndFormerNames(ctx, db.EndFormerNamesParams{ScopeID: scopeID(t.Tenant), ToolID: t.ID})
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
				"%q cannot be kept: it is an alias or former name of another tool", former)}
		}
		return err
	})
	return renamed, err
}

// lockNames locks names against other transactions that assign them, between the check
// that a name is free and taking it.
func lockNames(ctx context.Context, q *db.Queries, tenant tool.TenantID, names ...string) error {
	for i := range names {
		names[i] = text(names[i])
	}
	return q.LockNames(ctx, db.LockNamesParams{ScopeID: scopeID(tenant), Names: names})
}

// freeOfFormer refuses a slug that is a former name of another tool of the same
// scope. The name is locked.
func freeOfFormer(ctx context.Context, q *db.Queries, op string, t tool.Tool) error {
	names, err := furtherNamesOf(ctx, q, t.Tenant, []string{text(t.Slug)})
	if err != nil {
		return err
	}
	for _, n := range names {
		if n.Former() && n.ToolID != t.ID {
			return n.Taken(op)
		}
	}
	return nil
}

// FurtherNames implements [registry.Store].
func (s *Store) FurtherNames(
	ctx context.Context, tenant tool.TenantID, names []string,
) ([]registry.FurtherName, error) {
	if len(names) == 0 {
		return nil, nil
	}
	var found []registry.FurtherName
	err := s.do(ctx, "store.FurtherNames", tenant, func(q *db.Queries) (err error) {
		found, err = furtherNamesOf(ctx, q, tenant, names)
		return err
	})
	return found, err
}

// furtherNamesOf returns those names that are aliases or former names of tools of a scope.
func furtherNamesOf(
	ctx context.Context, q *db.Queries, tenant tool.TenantID, names []string,
) ([]registry.FurtherName, error) {
	rows, err := q.FindFurtherNames(ctx, db.FindFurtherNamesParams{ScopeID: scopeID(tenant), Names: names})
	return convert(rows, func(row db.FindFurtherNamesRow) registry.FurtherName {
		return registry.FurtherName{Name: row.Name, ToolID: row.ID, Slug: row.Slug, LastDay: row.RemoveBy}
	}), err
}

// missing returns the error for a tool that is not found. If the slug is a former name,
// it has the current one.
func (s *Store) missing(ctx context.Context, op string, tenant tool.TenantID, ref tool.Ref) error {
	e := notFound(op, fmt.Sprintf("tool %q not found", ref.Name()))
	if ref.Slug == "" {
		return e
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindFormerSlug, db.FindFormerSlugParams{
		ScopeID: scopeID(tenant), Alias: text(ref.Slug),
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
