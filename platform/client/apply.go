package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// Apply brings definitions of tools and agents into the registry. The answer
// lists the definitions that are wrong; if there are any, none is applied.
func (c *Client) Apply(ctx context.Context, in v1.Apply) (v1.Applied, error) {
	return post[v1.Applied](ctx, c, in, "apply")
}
