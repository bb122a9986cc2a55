package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// Entries implements [resolver.Source]. It fails with tool.NotFound for an unknown
// tenant only. An alias or former name costs another round trip.
func (s *Store) Entries(ctx context.Context, tenant tool.TenantID, ref tool.Ref) (resolver.Candidates, error) {
	const op = "store.Entries"
	find, list, name := db.FindToolsBySlug, db.ListVersionsBySlug, text(ref.Slug)
	if ref.Slug == "" {
		find, list, name = db.FindToolsByID, db.ListVersionsByID, ref.ID
		if !tool.ValidID(name) {
			name = globalScope // Not a tool.
		}
	}
	var tenants []db.Tenant
	var tools []db.ToolRegistry
	var versions []db.ListPageVersionsRow
	err := s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queue(b, &tenants, db.FindTenant, string(tenant))
		queue(b, &tools, find, scopeID(tenant), name)
		queue(b, &versions, list, scopeID(tenant), name)
	})
	if err != nil {
		return resolver.Candidates{}, err
	}
	c, err := s.candidates(op, tenants, tools, versions)
	if err == nil && len(c.Entries) == 0 && ref.Slug != "" {
		c.Entries, err = s.aliased(ctx, op, tenant, ref.Slug)
	}
	return c, err
}

// Page implements [resolver.Source]. It fails with tool.NotFound for an unknown
// tenant only.
func (s *Store) Page(
	ctx context.Context, tenant tool.TenantID, after resolver.Cursor, limit int,
) (resolver.Candidates, error) {
	const op = "store.Page"
	page, err := listParams(op, tenant, registry.ToolQuery{AfterSlug: after.Slug, AfterID: after.ID, Limit: limit})
	if err != nil {
		return resolver.Candidates{}, err
	}
	var tenants []db.Tenant
	var tools []db.ToolRegistry
	var versions []db.ListPageVersionsRow
	err = s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queue(b, &tenants, db.FindTenant, string(tenant))
		queue(b, &tools, db.ListTools, page.ScopeID, page.AfterSlug, page.AfterID, page.Status, page.Implementation,
			page.Bucket, page.Search, page.UpdatedSince, page.Limit)
		queue(b, &versions, db.ListPageVersions, page.ScopeID, page.AfterSlug, page.AfterID, page.Limit)
	})
	if err != nil {
		return resolver.Candidates{}, err
	}
	return s.candidates(op, tenants, tools, versions)
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
		if err != nil {
			return nil, err
		}
		policies[r.ID] = p
	}
	return policies, nil
}

func (s *Store) candidates(
	op string, tenants []db.Tenant, tools []db.ToolRegistry, versions []db.ListPageVersionsRow,
) (resolver.Candidates, error) {
	if len(tenants) == 0 {
		return resolver.Candidates{}, notFound(op, "tenant not found")
	}
	c := resolver.Candidates{TenantSlug: tenants[0].Slug, TenantActive: TenantStatus(tenants[0].Status) == TenantActive}
	infos := map[string][]resolver.VersionInfo{}
	for _, v := range versions {
		infos[v.ToolID] = append(infos[v.ToolID], resolver.VersionInfo{
			ID: v.ID, Number: v.Version, Digest: v.Digest, Published: v.Published,
			ReadsDeclared: declarationOf(v.ReadsDeclaredBy, v.ReadsDeclaredAt),
		})
	}
	for _, row := range tools {
		t, err := s.seen(row)
		if err != nil {
			return resolver.Candidates{}, err
		}
		c.Entries = append(c.Entries, resolver.Entry{Tool: t, Versions: infos[row.ID]})
	}
	return c, nil
}
