package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// DeleteTool deletes a tool irreversibly, and returns it as it was.
func (c *Client) DeleteTool(ctx context.Context, name string) (v1.Tool, error) {
	return remove[v1.Tool](ctx, c, "tools", name)
}

// BulkTools changes many tools. Tools that failed are among the items.
func (c *Client) BulkTools(ctx context.Context, in v1.BulkTools) (v1.BulkResult, error) {
	return post[v1.BulkResult](ctx, c, in, "tools", "bulk")
}
