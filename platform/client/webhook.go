package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/webhook"
)

// DeliveryQuery filters deliveries. Zero fields do not filter.
type DeliveryQuery struct {
	Status string
	Type   string
	Page
}

// CreateWebhook makes a webhook. Only this answer has its secret.
func (c *Client) CreateWebhook(ctx context.Context, in v1.NewWebhook) (v1.WebhookSecret, error) {
	return post[v1.WebhookSecret](ctx, c, in, "webhooks")
}

// ListWebhooks returns a page of webhooks, newest first.
func (c *Client) ListWebhooks(ctx context.Context, page Page) (v1.Page[v1.Webhook], error) {
	return list[v1.Webhook](ctx, c, page.query(), "webhooks")
}

// Webhook returns a webhook.
func (c *Client) Webhook(ctx context.Context, id string) (v1.Webhook, error) {
	return get[v1.Webhook](ctx, c, nil, "webhooks", id)
}

// ChangeWebhook changes a webhook.
func (c *Client) ChangeWebhook(ctx context.Context, id string, in v1.WebhookChange) (v1.Webhook, error) {
	return put[v1.Webhook](ctx, c, in, "webhooks", id)
}

// DeleteWebhook deletes a webhook with its deliveries.
func (c *Client) DeleteWebhook(ctx context.Context, id string) (v1.Webhook, error) {
	return remove[v1.Webhook](ctx, c, "webhooks", id)
}

// RotateWebhook replaces the secret of a webhook. Only this answer has the new one.
func (c *Client) RotateWebhook(ctx context.Context, id string, in v1.WebhookRotation) (v1.WebhookSecret, error) {
	return post[v1.WebhookSecret](ctx, c, in, "webhooks", id, "rotate")
}

// PingWebhook sends a test to a webhook. The returned delivery is pending.
func (c *Client) PingWebhook(ctx context.Context, id string) (v1.Delivery, error) {
	return post[v1.Delivery](ctx, c, nil, "webhooks", id, "ping")
}

// ListDeliveries returns a page of deliveries of a webhook, newest first.
func (c *Client) ListDeliveries(ctx context.Context, id string, q DeliveryQuery) (v1.Page[v1.Delivery], error) {
	return list[v1.Delivery](ctx, c, q.query("status", q.Status, "type", q.Type), "webhooks", id, "deliveries")
}

// Delivery returns a delivery.
func (c *Client) Delivery(ctx context.Context, id, delivery string) (v1.Delivery, error) {
	return get[v1.Delivery](ctx, c, nil, "webhooks", id, "deliveries", delivery)
}

// ReplayDelivery sends a delivery once more, under its id. The returned delivery is pending.
func (c *Client) ReplayDelivery(ctx context.Context, id, delivery string) (v1.Delivery, error) {
	return post[v1.Delivery](ctx, c, nil, "webhooks", id, "deliveries", delivery, "replay")
}

// Errors of [WebhookVerifier.Verify].
var (
	ErrWebhookSignature = webhook.ErrSignature // The request is not signed by any of the secrets.
	ErrWebhookTimestamp = webhook.ErrTimestamp // The request was signed too long ago, or in the future.
)

// WebhookVerifier verifies requests that a webhook's receiver gets. It is safe for concurrent
// use.
//
//	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
//	…
//	message, err := verifier.Verify(r.Header, body)
//	if err != nil {
//		http.Error(w, "not signed", http.StatusUnauthorized)
//		return
//	}
type WebhookVerifier struct {
	// Secrets are the secrets of the webhook: one, or the old and the new one while it is
	// rotated.
	Secrets []string
	// Tolerance is how far the time of a request may be from this clock. Defaults to 5 minutes.
	Tolerance time.Duration
}

// Verify checks the signature and the time of a request, and returns its message. A message may
// come more than once: the id is the same each time. It fails with [ErrWebhookSignature] or
// [ErrWebhookTimestamp]. It compares in constant time.
func (v WebhookVerifier) Verify(header http.Header, body []byte) (v1.WebhookMessage, error) {
	var message v1.WebhookMessage
	if err := webhook.Verify(header, body, time.Now(), v.Tolerance, v.Secrets...); err != nil {
		return message, err
	}
	if err := json.Unmarshal(body, &message); err != nil {
		return message, fmt.Errorf("reading the message of a webhook: %w", err)
	}
	return message, nil
}
