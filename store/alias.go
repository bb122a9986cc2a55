package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// furtherNames returns a version's aliases and former names, sorted, and the last
// day of each, empty for an alias.
func furtherNames(i tool.Interaction) (names, lastDays []string) {
	names = slices.AppendSeq([]string{}, maps.Keys(i.FormerNames)) // No nil: the database wants an array.
	names = append(names, i.Aliases...)
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		lastDays = append(lastDays, i.FormerNames[name])
	}
	return names, lastDays
}

// rename sets the aliases and former names of a published version on its tool, and
// locks them.
func rename(ctx context.Context, q *db.Queries, op string, t tool.Tool, i tool.Interaction) error {
	names, lastDays := furtherNames(i)
	if len(names) == 0 {
		return nil
	}
	slugs, err := q.FindSlugs(ctx, db.FindSlugsParams{ScopeID: scopeID(t.Tenant), Names: names})
	if err != nil {
		return err
	}
	if len(slugs) > 0 {
		return &tool.Error{Kind: tool.Conflict, Op: op, Path: "/interaction/aliases", Msg: fmt.Sprintf(
			"%q is the slug of another tool", slugs[0])}
	}
	kept, err := q.KeepToolAliases(ctx, db.KeepToolAliasesParams{
		TenantID: optional(string(t.Tenant)), ToolID: t.ID, Aliases: names, LastDays: lastDays,
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(kept, name) {
			return registry.FurtherName{Name: name}.Taken(op)
		}
	}
	return nil
}

// aliased returns the entries that have name as an alias or former name.
func (s *Store) aliased(ctx context.Context, op string, tenant tool.TenantID, name string) ([]resolver.Entry, error) {
	var rows []db.FindToolsByAliasRow
	var versions []db.ListVersionsByAliasRow
	var overrides []tool.Override
	err := s.do(ctx, op, tenant, func(q *db.Queries) (err error) {
		rows, err = q.FindToolsByAlias(ctx, db.FindToolsByAliasParams{ScopeID: scopeID(tenant), Alias: text(name)})
		if err != nil || len(rows) == 0 {
			return err
		}
		versions, err = q.ListVersionsByAlias(ctx, db.ListVersionsByAliasParams{ScopeID: scopeID(tenant), Alias: text(name)})
		for i := 0; err == nil && i < len(rows); i++ {
			var found []db.ToolOverride
			found, err = q.ListOverridesByID(ctx, db.ListOverridesByIDParams{
				ScopeID: scopeID(tenant), ToolID: rows[i].ToolRegistry.ID,
			})
			for _, row := range found {
				o, failed := overrideOf(row)
				if failed != nil {
					return failed
				}
				overrides = append(overrides, o)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row db.FindToolsByAliasRow) (resolver.Entry, error) {
		e := resolver.Entry{
			Alias:     &resolver.Alias{Name: name, RemoveBy: row.RemoveBy},
			Overrides: overridesOf(row.ToolRegistry.ID, overrides),
		}
		for _, v := range versions {
			if v.ToolID == row.ToolRegistry.ID {
				e.Versions = append(e.Versions, resolver.VersionInfo{
					ID: v.ID, Number: v.Version, Digest: v.Digest, Published: v.Published, Withheld: int(v.Withheld),
				})
			}
		}
		e.Tool, err = s.seen(row.ToolRegistry)
		return e, err
	})
}
