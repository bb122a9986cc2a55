package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Tenant is the isolation boundary that everything belongs to.
type Tenant struct {
	ID     tool.TenantID `json:"id" example:"01975c2e-7d1a-7c3e-9f00-000000000001"`
	Slug   string        `json:"slug" example:"acme"`
	Name   string        `json:"name" example:"Acme"`
	Status string        `json:"status" enum:"active,suspended"`
	// MaskSensitive is the tenant's choice.
	MaskSensitive bool      `json:"mask_sensitive" doc:"Whether what looks like a secret is hidden in runs, messages, invocations and events"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// Masking is a tenant's choice of what its records show.
type Masking struct {
	MaskSensitive bool `json:"mask_sensitive" doc:"Whether what looks like a secret is hidden in runs, messages, invocations and events" example:"true"`
}
