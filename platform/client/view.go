package client

import (
	"context"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// PublishView publishes a view. Only its answer has the link.
func (c *Client) PublishView(ctx context.Context, n v1.NewView) (v1.PublishedView, error) {
	return post[v1.PublishedView](ctx, c, n, "views")
}

// Views returns a page of published views, newest first.
func (c *Client) Views(ctx context.Context, page Page) (v1.Page[v1.View], error) {
	return list[v1.View](ctx, c, page.query(), "views")
}

// View returns a published view.
func (c *Client) View(ctx context.Context, id string) (v1.View, error) {
	return get[v1.View](ctx, c, nil, "views", id)
}

// RevokeView makes the link of a view useless for good.
func (c *Client) RevokeView(ctx context.Context, id string) (v1.View, error) {
	return remove[v1.View](ctx, c, "views", id)
}

// RotateView replaces the link of a view by one that is good for a time, a week when zero.
func (c *Client) RotateView(ctx context.Context, id string, keep time.Duration) (v1.PublishedView, error) {
	return post[v1.PublishedView](ctx, c, v1.ViewRotation{ExpiresIn: int64(keep / time.Second)}, "views", id, "rotate")
}
