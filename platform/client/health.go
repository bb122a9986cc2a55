package client

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// Ready reports whether the server can do its work, and what it lacks. It
// needs no key.
func (c *Client) Ready(ctx context.Context) (v1.Health, error) {
	got, err := c.send(ctx, request{method: http.MethodGet}, []string{"readyz"})
	if err != nil {
		return v1.Health{}, err
	}
	if got.status != http.StatusOK && got.status != http.StatusServiceUnavailable {
		return v1.Health{}, c.problem(got)
	}
	var out v1.Health
	return out, c.decode(got, &out)
}
