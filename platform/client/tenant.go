package client

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// Tenant returns the key's own tenant by slug or id; any other is not found.
func (c *Client) Tenant(ctx context.Context, name string) (v1.Tenant, error) {
	var out v1.Tenant
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"tenants", name}, out: &out})
	return out, err
}

// Tenants returns the tenants that the key belongs to: one.
func (c *Client) Tenants(ctx context.Context) ([]v1.Tenant, error) {
	var out v1.Page[v1.Tenant]
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"tenants"}, out: &out})
	return out.Items, err
}

// Problems returns every problem that the server answers with.
func (c *Client) Problems(ctx context.Context) ([]v1.ProblemClass, error) {
	var out v1.Page[v1.ProblemClass]
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"problems"}, out: &out})
	return out.Items, err
}

// SetTenantMasking chooses whether what looks like a secret is hidden where the
// key's tenant's records are shown.
func (c *Client) SetTenantMasking(ctx context.Context, tenant string, mask bool) (v1.Tenant, error) {
	var out v1.Tenant
	err := c.do(ctx, request{
		method: http.MethodPut, path: []string{"tenants", tenant, "masking"}, body: v1.Masking{MaskSensitive: mask},
		out: &out,
	})
	return out, err
}
