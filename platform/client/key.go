package client

import (
	"context"
	"net/url"
	"strconv"
	"time"

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

// KeyQuery filters keys. Zero fields do not filter.
type KeyQuery struct {
	UnusedFor time.Duration // Keys that could be used for so long, and were not. Whole seconds.
	Owner     string
}

// ListKeys returns the tenant's API keys, revoked ones too.
func (c *Client) ListKeys(ctx context.Context, q KeyQuery) ([]v1.Key, error) {
	query := url.Values{}
	if q.UnusedFor > 0 {
		query.Set("unused_for_s", strconv.Itoa(int(q.UnusedFor.Seconds())))
	}
	if q.Owner != "" {
		query.Set("owner", q.Owner)
	}
	return items[v1.Key](ctx, c, query, "keys")
}

// People returns those who used tokens of an issuer, the last one first, at most limit.
func (c *Client) People(ctx context.Context, limit int) ([]v1.Person, error) {
	return items[v1.Person](ctx, c, url.Values{"limit": {strconv.Itoa(limit)}}, "people")
}

// RevokeKey revokes an API key and the keys that it created, immediately and
// irreversibly.
func (c *Client) RevokeKey(ctx context.Context, id string) (v1.Key, error) {
	return post[v1.Key](ctx, c, nil, "keys", id, "revoke")
}
