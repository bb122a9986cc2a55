package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

const platformTenants = "/v1/platform/tenants"

// registerPlatformTenants adds the endpoints of tenants, for operators. Exports and erasures take hours, and are
// commands.
func (o *operators) registerPlatformTenants() {
	operate(o, route{
		id: "listPlatformTenants", method: http.MethodGet, path: platformTenants, tag: "tenants",
		summary: "List the tenants, in the order of their slugs",
	}, func(ctx context.Context, _ tool.Principal, in *Paging) (*listed[v1.PlatformTenant], error) {
		after, err := openCursor(in.Cursor)
		if err != nil {
			return nil, err
		}
		found, err := o.platform.ListTenants(ctx, after, in.fetch())
		if err != nil {
			return nil, err
		}
		return answer(page(*in, found, showPlatformTenant, func(t store.Tenant) string { return t.Slug })), nil
	})
	operate(o, route{
		id: "createTenant", method: http.MethodPost, path: platformTenants, tag: "tenants", status: http.StatusCreated,
		summary: "Make a tenant",
		detail:  "It has no key yet: toolcrib key create makes its first one.",
	}, func(ctx context.Context, _ tool.Principal, in *body[v1.NewTenant]) (*body[v1.PlatformTenant], error) {
		made, err := o.platform.CreateTenant(ctx, store.Tenant{Slug: in.Body.Slug, Name: in.Body.Name})
		return answer(showPlatformTenant(made)), err
	})
	operate(o, route{
		id: "getPlatformTenant", method: http.MethodGet, path: platformTenants + "/{tenant}", tag: "tenants",
		summary: "Get a tenant",
	}, func(ctx context.Context, _ tool.Principal, in *tenantInput) (*body[v1.PlatformTenant], error) {
		found, err := o.platform.FindTenant(ctx, in.Tenant)
		return answer(showPlatformTenant(found)), err
	})
	for _, c := range []struct {
		id, summary, detail string
		to                  store.TenantStatus
	}{
		{
			"suspend", "Suspend a tenant", "Its keys are refused at once, and its runs get nothing done until it is resumed.",
			store.TenantSuspended,
		},
		{"resume", "Resume a suspended tenant", "", store.TenantActive},
	} {
		operate(o, route{
			id: c.id + "Tenant", method: http.MethodPost, path: platformTenants + "/{tenant}/" + c.id, tag: "tenants",
			summary: c.summary, detail: c.detail,
		}, func(ctx context.Context, _ tool.Principal, in *tenantInput) (*body[v1.PlatformTenant], error) {
			found, err := o.platform.FindTenant(ctx, in.Tenant)
			if err != nil {
				return nil, err
			}
			changed, err := o.platform.SetTenantStatus(ctx, found.ID, c.to)
			return answer(showPlatformTenant(changed)), err
		})
	}
}

func showPlatformTenant(t store.Tenant) v1.PlatformTenant {
	return v1.PlatformTenant{Tenant: showTenant(t), MaxUnfinishedRuns: t.MaxUnfinishedRuns}
}
