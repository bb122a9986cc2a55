package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// CreateKey makes an API key. Its secret is returned this once only.
func (c *Client) CreateKey(ctx context.Context, in v1.NewKey) (v1.CreatedKey, error) {
	return post[v1.CreatedKey](ctx, c, in, "keys")
}

// Key returns an API key, never its secret.
func (c *Client) Key(ctx context.Context, id string) (v1.Key, error) {
	return get[v1.Key](ctx, c, nil, "keys", id)
}

// ListKeys returns the tenant's API keys, revoked ones too.
func (c *Client) ListKeys(ctx context.Context) ([]v1.Key, error) {
	return items[v1.Key](ctx, c, nil, "keys")
}

// RevokeKey revokes an API key and the keys that it created, immediately and
// irreversibly.
func (c *Client) RevokeKey(ctx context.Context, id string) (v1.Key, error) {
	return post[v1.Key](ctx, c, nil, "keys", id, "revoke")
}
