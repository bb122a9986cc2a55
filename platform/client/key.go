package client

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// CreateKey makes an API key. Its secret is returned this once only.
func (c *Client) CreateKey(ctx context.Context, in v1.NewKey) (v1.CreatedKey, error) {
	var out v1.CreatedKey
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"keys"}, body: in, out: &out})
	return out, err
}

// Key returns an API key, never its secret.
func (c *Client) Key(ctx context.Context, id string) (v1.Key, error) {
	var out v1.Key
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"keys", id}, out: &out})
	return out, err
}

// ListKeys returns the tenant's API keys, revoked ones too.
func (c *Client) ListKeys(ctx context.Context) ([]v1.Key, error) {
	var out v1.Page[v1.Key]
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"keys"}, out: &out})
	return out.Items, err
}

// RevokeKey revokes an API key and the keys that it created, immediately and
// irreversibly.
func (c *Client) RevokeKey(ctx context.Context, id string) (v1.Key, error) {
	var out v1.Key
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"keys", id, "revoke"}, out: &out})
	return out, err
}
