package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// Quotas returns every quota of the tenant, with what is used of it.
func (c *Client) Quotas(ctx context.Context) ([]v1.Quota, error) {
	return items[v1.Quota](ctx, c, nil, "quotas")
}
