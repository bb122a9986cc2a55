package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// ListNodes returns a page of the nodes of a run's graphs: those that have ended, in the order in
// which they did, and the items of maps.
func (c *Client) ListNodes(ctx context.Context, runID string, p Page) (v1.Page[v1.Node], error) {
	return list[v1.Node](ctx, c, p.query(), "runs", runID, "nodes")
}
