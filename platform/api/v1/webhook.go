package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

// NewWebhook makes a webhook.
type NewWebhook struct {
	URL         string           `json:"url" minLength:"1" maxLength:"2000" doc:"Where requests are sent: https, or http where an operator allows the host" example:"https://example.com/hooks/toolcrib"`
	Types       []tool.EventType `json:"types" nullable:"false" minItems:"1" maxItems:"50" doc:"The types of events to send" example:"[\"tool.needs_approval\",\"run.failed\"]"`
	Agent       string           `json:"agent,omitempty" maxLength:"64" doc:"Slug; only events of runs of this agent" example:"supportDesk"`
	Tool        string           `json:"tool,omitempty" maxLength:"64" doc:"Slug; only events of this tool" example:"refundOrder"`
	Description string           `json:"description,omitempty" maxLength:"500" example:"Posts to the approvals channel"`
	Active      *bool            `json:"active,omitempty" doc:"Whether events are sent; true when absent"`
}

// WebhookChange changes a webhook. Absent members are left unchanged.
type WebhookChange struct {
	URL         *string          `json:"url,omitempty" minLength:"1" maxLength:"2000" example:"https://example.com/hooks/toolcrib"`
	Types       []tool.EventType `json:"types,omitempty" minItems:"1" maxItems:"50" example:"[\"run.failed\"]"`
	Agent       *string          `json:"agent,omitempty" maxLength:"64" doc:"Slug; empty for every agent" example:"supportDesk"`
	Tool        *string          `json:"tool,omitempty" maxLength:"64" doc:"Slug; empty for every tool" example:"refundOrder"`
	Description *string          `json:"description,omitempty" maxLength:"500"`
	Active      *bool            `json:"active,omitempty" doc:"Whether events are sent. One that becomes active gets those from then on, and is not disabled any more"`
}

// Webhook is a URL that events of the tenant are sent to.
type Webhook struct {
	ID             string           `json:"id" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
	URL            string           `json:"url" example:"https://example.com/hooks/toolcrib"`
	Types          []tool.EventType `json:"types" example:"[\"tool.needs_approval\",\"run.failed\"]"`
	Agent          string           `json:"agent,omitempty"`
	Tool           string           `json:"tool,omitempty"`
	Description    string           `json:"description,omitempty"`
	Active         bool             `json:"active"`
	DisabledAt     *time.Time       `json:"disabled_at,omitempty" doc:"When the platform disabled it, because its deliveries failed"`
	DisabledReason string           `json:"disabled_reason,omitempty"`
	SecretVersion  int              `json:"secret_version" doc:"Number of its secret, from 1" example:"1"`
	OldSecretUntil *time.Time       `json:"old_secret_until,omitempty" doc:"Until when the secret before signs too"`
	FailingSince   *time.Time       `json:"failing_since,omitempty" doc:"The first failed attempt since the last success"`
	DeliveredAt    *time.Time       `json:"delivered_at,omitempty" doc:"The last success, to the minute"`
	Revision       int64            `json:"revision" example:"1"`
	CreatedBy      string           `json:"created_by,omitempty" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	CreatedAt      time.Time        `json:"created_at"`
	UpdatedAt      time.Time        `json:"updated_at"`
}

// WebhookSecret is a webhook with its new secret, which is never shown again.
type WebhookSecret struct {
	Webhook
	Secret string `json:"secret" doc:"Signs the requests, as in Standard Webhooks; shown only here" example:"whsec_…"`
}

// WebhookRotation replaces the secret of a webhook.
type WebhookRotation struct {
	OverlapS *int `json:"overlap_s,omitempty" minimum:"0" maximum:"604800" doc:"For how many seconds the secret before signs too; a day when absent" example:"86400"`
}

// Delivery is an event that is sent to a webhook, and how that went.
type Delivery struct {
	ID            string                 `json:"id" doc:"Header webhook-id of every attempt" example:"01975c2e-7d1a-7c3e-9f00-0000000000e2"`
	WebhookID     string                 `json:"webhook_id" example:"01975c2e-7d1a-7c3e-9f00-0000000000e1"`
	Type          tool.EventType         `json:"type" example:"run.failed"`
	RunID         string                 `json:"run_id,omitempty" example:"01975c2e-7d1a-7c3e-9f00-0000000000a1"`
	InvocationID  string                 `json:"invocation_id,omitempty" example:"01975c2e-7d1a-7c3e-9f00-0000000000b1"`
	Status        webhook.DeliveryStatus `json:"status" enum:"pending,delivered,failed"`
	Attempts      int                    `json:"attempts" doc:"Since it was made or replayed last"`
	Replays       int                    `json:"replays,omitempty"`
	At            time.Time              `json:"at" doc:"When the event happened"`
	CreatedAt     time.Time              `json:"created_at"`
	NextAttemptAt *time.Time             `json:"next_attempt_at,omitempty" doc:"While it is pending"`
	EndedAt       *time.Time             `json:"ended_at,omitempty"`
	LastAttemptAt *time.Time             `json:"last_attempt_at,omitempty"`
	LastMS        int64                  `json:"last_ms,omitempty" doc:"How long the last attempt took, in milliseconds"`
	LastStatus    int                    `json:"last_status,omitempty" doc:"HTTP status of the last answer; absent if there was none" example:"503"`
	LastError     string                 `json:"last_error,omitempty" doc:"Why the last attempt failed" example:"the receiver answered with 503 Service Unavailable"`
	LastAnswer    string                 `json:"last_answer,omitempty" doc:"The beginning of the last answer's body"`
}

// WebhookMessage is the body of a request to a webhook.
type WebhookMessage = webhook.Message

// FromWebhook returns a webhook as it is answered.
func FromWebhook(w webhook.Webhook) Webhook {
	return Webhook{
		ID: w.ID, URL: w.URL, Types: w.Types, Agent: w.Agent, Tool: w.Tool, Description: w.Description, Active: w.Active,
		DisabledAt: w.DisabledAt, DisabledReason: w.DisabledReason, SecretVersion: w.Secret.Version,
		OldSecretUntil: w.OldSecretUntil, FailingSince: w.FailingSince, DeliveredAt: w.DeliveredAt, Revision: w.Revision,
		CreatedBy: w.CreatedBy, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
}

// FromDelivery returns a delivery as it is answered.
func FromDelivery(d webhook.Delivery) Delivery {
	out := Delivery{
		ID: d.ID, WebhookID: d.WebhookID, Type: d.Type, RunID: d.RunID, InvocationID: d.InvocationID, Status: d.Status,
		Attempts: d.Attempts, Replays: d.Replays, At: d.At, CreatedAt: d.CreatedAt, EndedAt: d.EndedAt,
		LastAttemptAt: d.LastAttemptAt, LastMS: d.LastDuration.Milliseconds(), LastStatus: d.LastStatus,
		LastError: d.LastError, LastAnswer: d.LastAnswer,
	}
	if d.Status == webhook.Pending {
		out.NextAttemptAt = &d.DueAt
	}
	return out
}
