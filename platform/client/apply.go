package client

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// Apply brings definitions of tools and agents into the registry. The answer
// lists the definitions that are wrong; if there are any, none is applied.
func (c *Client) Apply(ctx context.Context, in v1.Apply) (v1.Applied, error) {
	var out v1.Applied
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"apply"}, body: in, out: &out})
	return out, err
}
