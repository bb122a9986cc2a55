package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/toolcrib/toolcrib/internal/egress"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

// WebhookPath names the webhook of a path. It is exported as [Paging] is.
type WebhookPath struct {
	ID string `path:"webhook" maxLength:"64"`
}

type webhookInput struct{ WebhookPath }

type changeWebhookInput struct {
	WebhookPath
	Changing
	Body v1.WebhookChange
}

type deleteWebhookInput struct {
	WebhookPath
	Changing
}

type rotateWebhookInput struct {
	WebhookPath
	Changing
	Body *v1.WebhookRotation
}

type listWebhooksInput struct{ Paging }

type webhookOutput struct {
	Etag string `header:"Etag" doc:"Names this state of the webhook, for If-Match"`
	Body v1.Webhook
}

type webhookSecretOutput struct {
	Location string `header:"Location"`
	Etag     string `header:"Etag"`
	Body     v1.WebhookSecret
}

func (s *server) registerWebhooks() {
	handle(s, route{
		id: "createWebhook", method: http.MethodPost, path: "/v1/webhooks", tag: "webhooks", permission: WebhooksWrite,
		status: http.StatusCreated, summary: "Make a webhook",
		detail: "Sends events to a URL from then on, signed as in Standard Webhooks. Only this response has the secret: a " +
			"repeated request with its idempotency key returns none.",
		secret: true,
	}, s.createWebhook)
	handle(s, route{
		id: "listWebhooks", method: http.MethodGet, path: "/v1/webhooks", tag: "webhooks", permission: WebhooksRead,
		summary: "List webhooks, newest first", detail: "Never their secrets.",
	}, s.listWebhooks)
	handle(s, route{
		id: "getWebhook", method: http.MethodGet, path: "/v1/webhooks/{webhook}", tag: "webhooks",
		permission: WebhooksRead, summary: "Get a webhook", detail: "Never its secret.",
	}, s.getWebhook)
	handle(s, route{
		id: "changeWebhook", method: http.MethodPut, path: "/v1/webhooks/{webhook}", tag: "webhooks",
		permission: WebhooksWrite, summary: "Change a webhook",
		detail: "What happens while it is not active is not sent later. Deliveries that were pending are sent once it is " +
			"active again.",
	}, s.changeWebhook)
	handle(s, route{
		id: "deleteWebhook", method: http.MethodDelete, path: "/v1/webhooks/{webhook}", tag: "webhooks",
		permission: WebhooksWrite, summary: "Delete a webhook, with its deliveries",
	}, s.deleteWebhook)
	handle(s, route{
		id: "rotateWebhook", method: http.MethodPost, path: "/v1/webhooks/{webhook}/rotate", tag: "webhooks",
		permission: WebhooksWrite, summary: "Replace the secret of a webhook",
		detail: "Both secrets sign for the overlap, so that receivers can change theirs meanwhile. Only this response has " +
			"the new one.",
		secret: true,
	}, s.rotateWebhook)
	s.registerDeliveries()
}

// describeWebhooks makes the types of events of webhooks an enumeration, in the description as in
// validation.
func describeWebhooks(doc *huma.OpenAPI) {
	var types []any
	for _, t := range webhook.EventTypes() {
		types = append(types, t)
	}
	schemas := doc.Components.Schemas.Map()
	for _, name := range []string{"NewWebhook", "WebhookChange", "Webhook", "WebhookSecret"} {
		items := schemas[name].Properties["types"].Items
		items.Enum = types
		items.PrecomputeMessages()
	}
}

// checkWebhookURL is the default of Config.CheckWebhook: https only, and no address.
func checkWebhookURL(_ tool.TenantID, rawURL string) error {
	u, err := url.Parse(rawURL)
	switch {
	case err != nil:
		return &tool.Error{Kind: tool.Invalid, Op: "api.checkWebhook", Msg: "the URL is malformed", Err: err}
	case u.Scheme != "https":
		return &tool.Error{Kind: tool.Denied, Op: "api.checkWebhook", Msg: "use https"}
	default:
		return egress.CheckURL(u)
	}
}

func (s *server) createWebhook(
	ctx context.Context, p tool.Principal, in *body[v1.NewWebhook],
) (*webhookSecretOutput, error) {
	asked := in.Body
	if asked.Agent != "" {
		if _, err := s.cfg.Store.FindAgent(ctx, p.Tenant, asked.Agent); err != nil {
			return nil, err
		}
	}
	if asked.Tool != "" {
		if _, err := s.cfg.Store.FindTool(ctx, p.Tenant, tool.Ref{Slug: asked.Tool}); err != nil {
			return nil, err
		}
	}
	w, secret, err := s.webhooks.Create(ctx, webhook.Webhook{
		Tenant: p.Tenant, URL: asked.URL, Description: asked.Description, Types: asked.Types, Agent: asked.Agent,
		Tool: asked.Tool, Active: asked.Active == nil || *asked.Active, CreatedBy: p.Subject,
	})
	if err != nil {
		return nil, credentialFailure(err)
	}
	return showWebhookSecret(w, secret), nil
}

func (s *server) listWebhooks(
	ctx context.Context, p tool.Principal, in *listWebhooksInput,
) (*listed[v1.Webhook], error) {
	before, err := in.before()
	if err != nil {
		return nil, err
	}
	found, err := s.cfg.Store.ListWebhooks(ctx, p.Tenant, before, in.fetch())
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, found, v1.FromWebhook, func(w webhook.Webhook) string { return w.ID })), nil
}

func (s *server) getWebhook(ctx context.Context, p tool.Principal, in *webhookInput) (*webhookOutput, error) {
	w, err := s.cfg.Store.FindWebhook(ctx, p.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	return showWebhook(w), nil
}

func (s *server) changeWebhook(ctx context.Context, p tool.Principal, in *changeWebhookInput) (*webhookOutput, error) {
	revision, err := s.webhookRevision(ctx, p, in.ID, in.Changing)
	if err != nil {
		return nil, err
	}
	w, err := s.webhooks.Change(ctx, p.Tenant, in.ID, webhook.Change{
		URL: in.Body.URL, Description: in.Body.Description, Agent: in.Body.Agent, Tool: in.Body.Tool, Types: in.Body.Types,
		Active: in.Body.Active, Revision: revision,
	})
	if err != nil {
		return nil, in.changed(err)
	}
	return showWebhook(w), nil
}

func (s *server) deleteWebhook(ctx context.Context, p tool.Principal, in *deleteWebhookInput) (*webhookOutput, error) {
	revision, err := s.webhookRevision(ctx, p, in.ID, in.Changing)
	if err != nil {
		return nil, err
	}
	w, err := s.cfg.Store.DeleteWebhook(ctx, p.Tenant, in.ID, revision)
	if err != nil {
		return nil, in.changed(err)
	}
	return showWebhook(w), nil
}

func (s *server) rotateWebhook(
	ctx context.Context, p tool.Principal, in *rotateWebhookInput,
) (*webhookSecretOutput, error) {
	revision, err := s.webhookRevision(ctx, p, in.ID, in.Changing)
	if err != nil {
		return nil, err
	}
	var overlap time.Duration // The default.
	if in.Body != nil && in.Body.OverlapS != nil {
		if overlap = time.Duration(*in.Body.OverlapS) * time.Second; overlap == 0 {
			overlap = -1
		}
	}
	w, secret, err := s.webhooks.Rotate(ctx, p.Tenant, in.ID, overlap, revision)
	if err != nil {
		return nil, credentialFailure(in.changed(err))
	}
	return showWebhookSecret(w, secret), nil
}

// webhookRevision returns the revision that the condition of a change requires, and zero without
// a condition.
func (s *server) webhookRevision(ctx context.Context, p tool.Principal, id string, in Changing) (int64, error) {
	if in.IfMatch == "" {
		return 0, nil
	}
	w, err := s.cfg.Store.FindWebhook(ctx, p.Tenant, id)
	if err != nil {
		return 0, err
	}
	if !names(in.IfMatch, etag(w.ID, w.Revision), false) {
		return 0, preconditionFailed()
	}
	return w.Revision, nil
}

func showWebhook(w webhook.Webhook) *webhookOutput {
	return &webhookOutput{Etag: etag(w.ID, w.Revision), Body: v1.FromWebhook(w)}
}

func showWebhookSecret(w webhook.Webhook, secret string) *webhookSecretOutput {
	return &webhookSecretOutput{
		Location: "/v1/webhooks/" + w.ID, Etag: etag(w.ID, w.Revision),
		Body: v1.WebhookSecret{Webhook: v1.FromWebhook(w), Secret: secret},
	}
}
