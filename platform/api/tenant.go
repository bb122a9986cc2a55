package api

import (
	"context"
	"fmt"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

type tenantInput struct {
	Tenant string `path:"tenant" maxLength:"64" doc:"Slug or id"`
}

type maskingInput struct {
	Tenant string `path:"tenant" maxLength:"64" doc:"Slug or id"`
	Body   v1.Masking
}

type taintInput struct {
	Tenant string `path:"tenant" maxLength:"64" doc:"Slug or id"`
	Body   v1.TaintRule
}

// registerTenants adds the endpoints of tenants. A key sees its own tenant only:
// tenants are created and suspended with the command line, by the platform role.
func (s *server) registerTenants() {
	handle(s, route{
		id: "listTenants", method: http.MethodGet, path: "/v1/tenants", tag: "tenants", permission: TenantsRead,
		summary: "List the tenants that the key belongs to", detail: "A key belongs to one.",
	}, s.listTenants)
	handle(s, route{
		id: "getTenant", method: http.MethodGet, path: "/v1/tenants/{tenant}", tag: "tenants", permission: TenantsRead,
		summary: "Get the tenant of the key", detail: "Any other tenant is not found, whether it exists or not.",
	}, s.getTenant)
	handle(s, route{
		id: "setTenantMasking", method: http.MethodPut, path: "/v1/tenants/{tenant}/masking", tag: "tenants",
		permission: TenantsWrite,
		summary:    "Set whether values that look like secrets are redacted",
		detail: "By default, values that look like a secret by their name or form are replaced by `[redacted]` " +
			"in the inputs of runs, in messages, invocations and events. Calls use the unredacted values, which stay " +
			"in the database.",
	}, s.setTenantMasking)
	handle(s, route{
		id: "setTenantTaint", method: http.MethodPut, path: "/v1/tenants/{tenant}/taint", tag: "tenants",
		permission: TenantsWrite,
		summary:    "Set what is done with calls of tainted runs",
		detail: "A run is tainted by the first result of an untrusted source that it gets, such as a web page or an MCP " +
			"server. Its later calls that write outside or use a credential then wait for an approval, are denied, or run.",
	}, s.setTenantTaint)
}

func (s *server) listTenants(ctx context.Context, p tool.Principal, _ *struct{}) (*listed[v1.Tenant], error) {
	own, err := s.cfg.Store.FindTenant(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	return answer(v1.Page[v1.Tenant]{Items: []v1.Tenant{showTenant(own)}}), nil
}

func (s *server) getTenant(ctx context.Context, p tool.Principal, in *tenantInput) (*body[v1.Tenant], error) {
	own, err := s.ownTenant(ctx, p, in.Tenant)
	if err != nil {
		return nil, err
	}
	return answer(showTenant(own)), nil
}

func (s *server) setTenantMasking(ctx context.Context, p tool.Principal, in *maskingInput) (*body[v1.Tenant], error) {
	if _, err := s.ownTenant(ctx, p, in.Tenant); err != nil {
		return nil, err
	}
	changed, err := s.cfg.Store.SetTenantMasking(ctx, p.Tenant, in.Body.MaskSensitive)
	if err != nil {
		return nil, err
	}
	s.connections.check(p.Tenant)
	return answer(showTenant(changed)), nil
}

func (s *server) setTenantTaint(ctx context.Context, p tool.Principal, in *taintInput) (*body[v1.Tenant], error) {
	if _, err := s.ownTenant(ctx, p, in.Tenant); err != nil {
		return nil, err
	}
	changed, err := s.cfg.Store.SetTenantTaint(ctx, p.Tenant, in.Body.Taint)
	if err != nil {
		return nil, err
	}
	return answer(showTenant(changed)), nil
}

// ownTenant returns the tenant of the key, if it has the given name.
func (s *server) ownTenant(ctx context.Context, p tool.Principal, name string) (store.Tenant, error) {
	own, err := s.cfg.Store.FindTenant(ctx, p.Tenant)
	if err != nil {
		return store.Tenant{}, err
	}
	if name != own.Slug && name != string(own.ID) {
		return store.Tenant{}, &tool.Error{
			Kind: tool.NotFound, Op: "api.tenant", Msg: fmt.Sprintf("tenant %q not found", name),
		}
	}
	return own, nil
}

func showTenant(t store.Tenant) v1.Tenant {
	return v1.Tenant{
		ID: t.ID, Slug: t.Slug, Name: t.Name, Status: string(t.Status), MaskSensitive: t.MaskSensitive, Taint: t.Taint,
		PublishViews: t.PublishViews,
		CreatedAt:    t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
}
