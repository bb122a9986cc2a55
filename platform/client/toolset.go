package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// CreateToolset creates a toolset.
func (c *Client) CreateToolset(ctx context.Context, d v1.ToolsetDefinition) (v1.Toolset, error) {
	return post[v1.Toolset](ctx, c, d, "toolsets")
}

// Toolsets returns a page of toolsets in the order of slugs.
func (c *Client) Toolsets(ctx context.Context, page Page) (v1.Page[v1.Toolset], error) {
	return list[v1.Toolset](ctx, c, page.query(), "toolsets")
}

// Toolset returns a toolset by slug or id.
func (c *Client) Toolset(ctx context.Context, name string) (v1.Toolset, error) {
	return get[v1.Toolset](ctx, c, nil, "toolsets", name)
}

// UpdateToolset replaces a toolset.
func (c *Client) UpdateToolset(ctx context.Context, name string, d v1.ToolsetDefinition) (v1.Toolset, error) {
	return put[v1.Toolset](ctx, c, d, "toolsets", name)
}

// DeleteToolset deletes a toolset and revokes the keys that were made for it.
func (c *Client) DeleteToolset(ctx context.Context, name string) (v1.DeletedToolset, error) {
	return remove[v1.DeletedToolset](ctx, c, "toolsets", name)
}
