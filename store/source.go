package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// Entries implements [resolver.Source]. It fails with tool.NotFound for an unknown
// tenant only. An alias or former name costs another round trip.
func (s *Store) Entries(ctx context.Context, tenant tool.TenantID, ref tool.Ref) (resolver.Candidates, error) {
	const op = "store.Entries"
	find, list, decided, name := db.FindToolsBySlug, db.ListVersionsBySlug, db.ListOverridesBySlug, text(ref.Slug)
	if ref.Slug == "" {
		find, list, decided, name = db.FindToolsByID, db.ListVersionsByID, db.ListOverridesByID, ref.ID
		if !tool.ValidID(name) {
			name = globalScope // Not a tool.
		}
	}
	var tenants []db.Tenant
	var tools []db.ToolRegistry
	var versions []db.ListVersionsByIDRow
	var overrides []db.ToolOverride
	err := s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queue(b, &tenants, db.FindTenant, string(tenant))
		queue(b, &tools, find, scopeID(tenant), name)
		queue(b, &versions, list, scopeID(tenant), name)
		queue(b, &overrides, decided, scopeID(tenant), name)
	})
	if err != nil {
		return resolver.Candidates{}, err
	}
	decisions, err := collect(overrides, overrideOf)
	if err != nil {
		return resolver.Candidates{}, err
	}
	c, err := s.candidates(op, tenants, tools, versions, decisions)
	if err == nil && len(c.Entries) == 0 && ref.Slug != "" {
		c.Entries, err = s.aliased(ctx, op, tenant, ref.Slug)
	}
	return c, err
}

// Page implements [resolver.Source]. It fails with tool.NotFound for an unknown
// tenant only.
func (s *Store) Page(ctx context.Context, tenant tool.TenantID, q resolver.PageQuery) (resolver.Candidates, error) {
	const op = "store.Page"
	var tenants []db.Tenant
	var rows []pageRow
	err := s.readAfter(ctx, op, db.SetTenantInOrder, tenant, func(b *pgx.Batch) {
		queue(b, &tenants, db.FindTenant, string(tenant))
		queue(b, &rows, db.ListEntries, scopeID(tenant), text(q.After), q.Within, string(q.Implementation), string(q.Bucket),
			text(q.Search), pageSize(q.Limit))
	})
	if err != nil {
		return resolver.Candidates{}, err
	}
	c, err := candidatesOf(op, tenants)
	if err != nil {
		return c, err
	}
	c.Entries, err = collect(rows, s.pageEntry)
	return c, err
}

// pageRow is a row of ListEntries: a tool, and its versions column by column.
type pageRow struct {
	db.ToolRegistry

	IDs, Numbers, Digests []string
	Published             []bool
	DeclaredBy            []string // Empty where nobody declared reads.
	DeclaredAt            []time.Time
	Withheld              []int32
	Overrides             []byte // A JSON array, or nil.
}

func (s *Store) pageEntry(row pageRow) (resolver.Entry, error) {
	t, err := s.seen(row.ToolRegistry)
	if err != nil {
		return resolver.Entry{}, err
	}
	var overrides []tool.Override
	if row.Overrides != nil {
		if err := decode(row.Overrides, &overrides); err != nil {
			return resolver.Entry{}, err
		}
	}
	e := resolver.Entry{Tool: t, Overrides: overridesOf(t.ID, overrides)}
	for i, id := range row.IDs {
		v := resolver.VersionInfo{
			ID: id, Number: row.Numbers[i], Digest: row.Digests[i], Published: row.Published[i],
			Withheld: int(row.Withheld[i]),
		}
		if row.DeclaredBy[i] != "" {
			v.ReadsDeclared = declarationOf(row.DeclaredBy[i], &row.DeclaredAt[i])
		}
		e.Versions = append(e.Versions, v)
	}
	return e, nil
}

// Policies implements [resolver.Source]. Unknown ids are absent from the answer.
func (s *Store) Policies(ctx context.Context, tenant tool.TenantID, toolIDs []string) (map[string]tool.Policy, error) {
	ids := slices.DeleteFunc(slices.Clone(toolIDs), func(id string) bool { return !tool.ValidID(id) })
	rows, err := ask(ctx, s.do, "store.Policies", tenant, (*db.Queries).ListToolPolicies, db.ListToolPoliciesParams{
		ScopeID: scopeID(tenant), ToolIds: ids,
	})
	if err != nil {
		return nil, err
	}
	return s.policies(rows)
}

func (s *Store) policies(rows []db.ListToolPoliciesRow) (map[string]tool.Policy, error) {
	policies := make(map[string]tool.Policy, len(rows))
	for _, r := range rows {
		p, err := policyOf(r.EgressClass, r.EgressRules, r.RequiresApproval, r.PermissionPolicy, r.RequiredPermission,
			s.audience(r.TenantID, r.TenantSlugs))
		if err == nil {
			p.Profiles, err = usesOf(r.Profiles)
		}
		if err != nil {
			return nil, err
		}
		policies[r.ID] = p
	}
	return policies, nil
}

func (s *Store) candidates(
	op string, tenants []db.Tenant, tools []db.ToolRegistry, versions []db.ListVersionsByIDRow, overrides []tool.Override,
) (resolver.Candidates, error) {
	c, err := candidatesOf(op, tenants)
	if err != nil {
		return c, err
	}
	infos := map[string][]resolver.VersionInfo{}
	for _, v := range versions {
		infos[v.ToolID] = append(infos[v.ToolID], resolver.VersionInfo{
			ID: v.ID, Number: v.Version, Digest: v.Digest, Published: v.Published, Withheld: int(v.Withheld),
			ReadsDeclared: declarationOf(v.ReadsDeclaredBy, v.ReadsDeclaredAt),
		})
	}
	for _, row := range tools {
		t, err := s.seen(row)
		if err != nil {
			return resolver.Candidates{}, err
		}
		c.Entries = append(c.Entries, resolver.Entry{
			Tool: t, Versions: infos[row.ID], Overrides: overridesOf(row.ID, overrides),
		})
	}
	return c, nil
}

// candidatesOf returns the candidates of a tenant, still without entries.
func candidatesOf(op string, tenants []db.Tenant) (resolver.Candidates, error) {
	if len(tenants) == 0 {
		return resolver.Candidates{}, notFound(op, "tenant not found")
	}
	return resolver.Candidates{
		TenantSlug: tenants[0].Slug, TenantActive: TenantStatus(tenants[0].Status) == TenantActive,
	}, nil
}
