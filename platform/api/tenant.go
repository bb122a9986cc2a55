package api

import (
	"context"
	"fmt"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type listTenantsOutput struct {
	Body v1.Page[v1.Tenant]
}

type tenantInput struct {
	Tenant string `path:"tenant" maxLength:"64" doc:"Slug or id"`
}

type tenantOutput struct {
	Body v1.Tenant
}

// registerTenants adds the endpoints of tenants. A key knows its own and no
// other: tenants are made and suspended by the platform role, next to the
// database.
func (s *server) registerTenants() {
	handle(s, route{
		id: "listTenants", method: http.MethodGet, path: "/v1/tenants", tag: "tenants", permission: TenantsRead,
		summary: "List the tenants that the key belongs to", detail: "A key belongs to one.",
	}, s.listTenants)
	handle(s, route{
		id: "getTenant", method: http.MethodGet, path: "/v1/tenants/{tenant}", tag: "tenants", permission: TenantsRead,
		summary: "Get the tenant of the key", detail: "Any other tenant is not found, whether there is one or not.",
	}, s.getTenant)
}

func (s *server) listTenants(ctx context.Context, p tool.Principal, _ *struct{}) (*listTenantsOutput, error) {
	own, err := s.cfg.Store.FindTenant(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	return &listTenantsOutput{Body: v1.Page[v1.Tenant]{Items: []v1.Tenant{showTenant(own)}}}, nil
}

func (s *server) getTenant(ctx context.Context, p tool.Principal, in *tenantInput) (*tenantOutput, error) {
	own, err := s.cfg.Store.FindTenant(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	if in.Tenant != own.Slug && in.Tenant != string(own.ID) {
		return nil, &tool.Error{Kind: tool.NotFound, Op: "api.getTenant", Msg: fmt.Sprintf("tenant %q not found", in.Tenant)}
	}
	return &tenantOutput{Body: showTenant(own)}, nil
}

func showTenant(t store.Tenant) v1.Tenant {
	return v1.Tenant{
		ID: t.ID, Slug: t.Slug, Name: t.Name, Status: string(t.Status), CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
}
