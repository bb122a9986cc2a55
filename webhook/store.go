package webhook

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Store stores webhooks and their deliveries. Package store implements it.
//
// Every method acts within one tenant: records of others are NotFound, like those that do not
// exist.
type Store interface {
	// CreateWebhook stores a new webhook, which gets the events from then on. It fails with
	// Conflict where the tenant has [MaxWebhooks].
	CreateWebhook(ctx context.Context, w Webhook) (Webhook, error)
	FindWebhook(ctx context.Context, tenant tool.TenantID, id string) (Webhook, error)
	// ListWebhooks returns the webhooks before an id, newest first.
	ListWebhooks(ctx context.Context, tenant tool.TenantID, before string, limit int) ([]Webhook, error)
	// ChangeWebhook replaces URL, Description, Types, Agent, Tool and Active, if the revision is
	// still w.Revision; else it fails with [ErrChanged]. One that becomes active is not disabled
	// any more, and gets the events from then on.
	ChangeWebhook(ctx context.Context, w Webhook) (Webhook, error)
	// RotateWebhookSecret replaces the secret as ChangeWebhook does. The one before is kept for
	// the overlap.
	RotateWebhookSecret(ctx context.Context, w Webhook, overlap time.Duration) (Webhook, error)
	// DeleteWebhook deletes a webhook with its deliveries. A revision that is not zero is the
	// expected one: another fails with [ErrChanged].
	DeleteWebhook(ctx context.Context, tenant tool.TenantID, id string, revision int64) (Webhook, error)

	// PingWebhook makes a delivery of type [EventPing].
	PingWebhook(ctx context.Context, tenant tool.TenantID, id string) (Delivery, error)
	FindDelivery(ctx context.Context, tenant tool.TenantID, webhook, id string) (Delivery, error)
	ListDeliveries(ctx context.Context, q DeliveryQuery) ([]Delivery, error)
	// ReplayDelivery makes a delivery that has ended pending again. It fails with Conflict for one
	// that is pending.
	ReplayDelivery(ctx context.Context, tenant tool.TenantID, webhook, id string) (Delivery, error)
}

// Claim says how many deliveries are leased.
type Claim struct {
	Most  int // In all.
	Each  int // Of each webhook, by all servers together.
	Lease time.Duration
}

// Outbox is what a server that delivers needs of the store. Any number of servers may use it
// concurrently.
type Outbox interface {
	// WebhookTenants returns up to limit active tenants with something to do, in random order.
	WebhookTenants(ctx context.Context, limit int) ([]tool.TenantID, error)
	// MakeDeliveries makes the deliveries of new events of a tenant's runs, each once.
	MakeDeliveries(ctx context.Context, tenant tool.TenantID) (made int, err error)
	// ClaimDeliveries leases deliveries of a tenant that are due, and counts an attempt of each.
	ClaimDeliveries(ctx context.Context, tenant tool.TenantID, c Claim) ([]Due, error)
	// EndAttempt records an attempt, and disables the webhook where the attempt says so, with an
	// event of type [EventDisabled]. It fails with Conflict where the lease has been lost.
	EndAttempt(ctx context.Context, a Attempt) (disabled bool, err error)
	// ReleaseDelivery returns a leased delivery, which is due at once. What was begun of its attempt does
	// not count: its server stops, which says nothing about the receiver.
	ReleaseDelivery(ctx context.Context, tenant tool.TenantID, id string, fence int64) error
	// SweepDeliveries deletes deliveries of all tenants that are older than 30 days.
	SweepDeliveries(ctx context.Context) (int, error)
}
