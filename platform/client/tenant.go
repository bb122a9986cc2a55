package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Tenant returns the key's own tenant by slug or id; any other is not found.
func (c *Client) Tenant(ctx context.Context, name string) (v1.Tenant, error) {
	return get[v1.Tenant](ctx, c, nil, "tenants", name)
}

// Tenants returns the tenants that the key belongs to: one.
func (c *Client) Tenants(ctx context.Context) ([]v1.Tenant, error) {
	return items[v1.Tenant](ctx, c, nil, "tenants")
}

// Problems returns every problem that the server answers with.
func (c *Client) Problems(ctx context.Context) ([]v1.ProblemClass, error) {
	return items[v1.ProblemClass](ctx, c, nil, "problems")
}

// SetTenantPublishing chooses whether the key's tenant publishes views.
func (c *Client) SetTenantPublishing(ctx context.Context, tenant string, enabled bool) (v1.Tenant, error) {
	return put[v1.Tenant](ctx, c, v1.Publishing{Enabled: enabled}, "tenants", tenant, "publishing")
}

// SetTenantMasking chooses whether what looks like a secret is hidden where the
// key's tenant's records are shown.
func (c *Client) SetTenantMasking(ctx context.Context, tenant string, mask bool) (v1.Tenant, error) {
	return put[v1.Tenant](ctx, c, v1.Masking{MaskSensitive: mask}, "tenants", tenant, "masking")
}

// SetTenantTaint sets what is done with calls of tainted runs that write outside or use a credential.
func (c *Client) SetTenantTaint(ctx context.Context, tenant string, rule tool.TaintRule) (v1.Tenant, error) {
	return put[v1.Tenant](ctx, c, v1.TaintRule{Taint: rule}, "tenants", tenant, "taint")
}
