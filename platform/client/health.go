package client

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// Ready reports whether the server can do its work, and what it lacks. It
// needs no key.
func (c *Client) Ready(ctx context.Context) (v1.Health, error) {
	raw, status, err := c.send(ctx, request{method: http.MethodGet}, []string{"readyz"})
	if err != nil {
		return v1.Health{}, err
	}
	if status != http.StatusOK && status != http.StatusServiceUnavailable {
		return v1.Health{}, problem(raw, status)
	}
	var out v1.Health
	return out, decode(raw, &out)
}
