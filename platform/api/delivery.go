package api

import (
	"context"
	"net/http"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

type deliveryInput struct {
	WebhookPath
	Delivery string `path:"delivery" maxLength:"64"`
}

type listDeliveriesInput struct {
	WebhookPath
	Status webhook.DeliveryStatus `query:"status" enum:"pending,delivered,failed" doc:"Only those with this status"`
	Type   tool.EventType         `query:"type" maxLength:"64" doc:"Only those of this type of event"`
	Paging
}

func (s *server) registerDeliveries() {
	handle(s, route{
		id: "pingWebhook", method: http.MethodPost, path: "/v1/webhooks/{webhook}/ping", tag: "webhooks",
		permission: WebhooksWrite, status: http.StatusAccepted, summary: "Send a test to a webhook",
		detail: "Makes a delivery of type `webhook.ping`, which is attempted once, also if the webhook is not active. Get " +
			"the delivery to see how that went.",
	}, s.pingWebhook)
	handle(s, route{
		id: "listDeliveries", method: http.MethodGet, path: "/v1/webhooks/{webhook}/deliveries", tag: "webhooks",
		permission: WebhooksRead, summary: "List deliveries of a webhook, newest first",
		detail: "They are kept for 30 days.",
	}, s.listDeliveries)
	handle(s, route{
		id: "getDelivery", method: http.MethodGet, path: "/v1/webhooks/{webhook}/deliveries/{delivery}", tag: "webhooks",
		permission: WebhooksRead, summary: "Get a delivery",
	}, s.getDelivery)
	handle(s, route{
		id: "replayDelivery", method: http.MethodPost, path: "/v1/webhooks/{webhook}/deliveries/{delivery}/replay",
		tag: "webhooks", permission: WebhooksWrite, status: http.StatusAccepted, summary: "Send a delivery once more",
		detail: "With the same `webhook-id` and body, and all attempts anew. One that is pending has nothing to replay.",
	}, s.replayDelivery)
}

func (s *server) pingWebhook(ctx context.Context, p tool.Principal, in *webhookInput) (*body[v1.Delivery], error) {
	made, err := s.cfg.Store.PingWebhook(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromDelivery(made)), nil
}

func (s *server) listDeliveries(
	ctx context.Context, p tool.Principal, in *listDeliveriesInput,
) (*listed[v1.Delivery], error) {
	q := webhook.DeliveryQuery{
		Tenant: p.Tenant, WebhookID: in.ID, Status: in.Status, Type: in.Type, Limit: in.fetch(),
	}
	var err error
	if q.Before, err = in.before(); err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListDeliveries(ctx, q)
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromDelivery, func(d webhook.Delivery) string { return d.ID })), nil
}

func (s *server) getDelivery(ctx context.Context, p tool.Principal, in *deliveryInput) (*body[v1.Delivery], error) {
	found, err := s.cfg.Store.FindDelivery(ctx, p.Tenant, in.ID, in.Delivery)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromDelivery(found)), nil
}

func (s *server) replayDelivery(ctx context.Context, p tool.Principal, in *deliveryInput) (*body[v1.Delivery], error) {
	made, err := s.cfg.Store.ReplayDelivery(ctx, p.Tenant, in.ID, in.Delivery)
	if err != nil {
		return nil, err
	}
	return answer(v1.FromDelivery(made)), nil
}
