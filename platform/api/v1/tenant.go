package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Tenant is the isolation boundary of all data.
type Tenant struct {
	ID     tool.TenantID `json:"id" example:"01975c2e-7d1a-7c3e-9f00-000000000001"`
	Slug   string        `json:"slug" example:"acme"`
	Name   string        `json:"name" example:"Acme"`
	Status string        `json:"status" enum:"active,suspended"`
	// MaskSensitive is the tenant's choice.
	MaskSensitive bool `json:"mask_sensitive" doc:"Whether values that look like secrets are redacted in runs, messages, invocations and events"`
	// Taint is the tenant's choice.
	Taint        tool.TaintRule `json:"taint" enum:"off,approve,deny" doc:"What is done with calls of tainted runs that write outside or use a credential"`
	PublishViews bool           `json:"mcp_apps_publish_enabled" doc:"Whether views may be published"`
	CreatedAt    time.Time      `json:"created_at"`
	UpdatedAt    time.Time      `json:"updated_at"`
}

// Masking is a tenant's setting for the redaction of its records.
type Masking struct {
	MaskSensitive bool `json:"mask_sensitive" doc:"Whether values that look like secrets are redacted in runs, messages, invocations and events" example:"true"`
}
