package client

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// DeleteTool deletes a tool irreversibly, and returns it as it was.
func (c *Client) DeleteTool(ctx context.Context, name string) (v1.Tool, error) {
	var out v1.Tool
	err := c.do(ctx, request{method: http.MethodDelete, path: []string{"tools", name}, out: &out})
	return out, err
}

// BulkTools changes many tools. Tools that failed are among the items.
func (c *Client) BulkTools(ctx context.Context, in v1.BulkTools) (v1.BulkResult, error) {
	var out v1.BulkResult
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"tools", "bulk"}, body: in, out: &out})
	return out, err
}
