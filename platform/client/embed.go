package client

import (
	"context"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// EmbedOrigins returns the origins whose pages may frame the tenant's tools.
func (c *Client) EmbedOrigins(ctx context.Context) ([]v1.EmbedOrigin, error) {
	found, err := list[v1.EmbedOrigin](ctx, c, nil, "embed-origins")
	return found.Items, err
}

// AddEmbedOrigin lets pages of an origin frame the tenant's tools.
func (c *Client) AddEmbedOrigin(ctx context.Context, origin string) (v1.EmbedOrigin, error) {
	return post[v1.EmbedOrigin](ctx, c, v1.NewEmbedOrigin{Origin: origin}, "embed-origins")
}

// RemoveEmbedOrigin takes that away, by the id of the origin.
func (c *Client) RemoveEmbedOrigin(ctx context.Context, id string) (v1.EmbedOrigin, error) {
	return remove[v1.EmbedOrigin](ctx, c, "embed-origins", id)
}

// CreateEmbedToken makes a token that runs a tool in a frame of another site. Only its answer has the token.
func (c *Client) CreateEmbedToken(ctx context.Context, n v1.NewEmbedToken) (v1.EmbedToken, error) {
	return post[v1.EmbedToken](ctx, c, n, "embed-tokens")
}
