package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// Roles returns the built-in roles and the tenant's.
func (c *Client) Roles(ctx context.Context) ([]v1.Role, error) {
	return items[v1.Role](ctx, c, nil, "roles")
}

// Role returns a role by its name.
func (c *Client) Role(ctx context.Context, name string) (v1.Role, error) {
	return get[v1.Role](ctx, c, nil, "roles", name)
}

// CreateRole makes a role of the tenant.
func (c *Client) CreateRole(ctx context.Context, in v1.NewRole) (v1.Role, error) {
	return post[v1.Role](ctx, c, in, "roles")
}

// ChangeRole changes a role of the tenant, for all that have it.
func (c *Client) ChangeRole(ctx context.Context, name string, in v1.RoleChange) (v1.Role, error) {
	return put[v1.Role](ctx, c, in, "roles", name)
}

// DeleteRole deletes a role of the tenant that no key has, and returns it.
func (c *Client) DeleteRole(ctx context.Context, name string) (v1.Role, error) {
	return remove[v1.Role](ctx, c, "roles", name)
}
