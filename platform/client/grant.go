package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// GrantQuery filters standing grants. Zero fields do not filter.
type GrantQuery struct {
	Tool   string // Slug.
	Active bool   // Only those that may be used.
	Page
}

// CreateGrant makes a standing grant.
func (c *Client) CreateGrant(ctx context.Context, in v1.NewGrant) (v1.Grant, error) {
	return post[v1.Grant](ctx, c, in, "approval-grants")
}

// ListGrants returns a page of standing grants, newest first.
func (c *Client) ListGrants(ctx context.Context, q GrantQuery) (v1.Page[v1.Grant], error) {
	active := ""
	if q.Active {
		active = "true"
	}
	return list[v1.Grant](ctx, c, q.query("tool", q.Tool, "active", active), "approval-grants")
}

// Grant returns a standing grant.
func (c *Client) Grant(ctx context.Context, id string) (v1.Grant, error) {
	return get[v1.Grant](ctx, c, nil, "approval-grants", id)
}

// RevokeGrant revokes a standing grant.
func (c *Client) RevokeGrant(ctx context.Context, id string) (v1.Grant, error) {
	return post[v1.Grant](ctx, c, nil, "approval-grants", id, "revoke")
}
