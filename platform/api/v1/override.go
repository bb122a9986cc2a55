package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// NewOverride is what a tenant decides about a tool. It replaces an earlier decision.
type NewOverride struct {
	Enabled          *bool  `json:"enabled,omitempty" doc:"Switches the tool on or off for the tenant; absent leaves that to the platform" example:"false"`
	RequiresApproval bool   `json:"requires_approval,omitempty" doc:"Asks a person at every call; it cannot take an approval away that the tool or the platform requires" example:"true"`
	Reason           string `json:"reason,omitempty" maxLength:"1000" doc:"For people; explanations show it" example:"not before the audit"`
}

// Override is a decision about a tool.
type Override struct {
	Tool             string    `json:"tool" doc:"Slug" example:"web_fetch"`
	ToolID           string    `json:"tool_id"`
	By               string    `json:"by" enum:"tenant,platform" doc:"The platform decides for every tenant; a tenant's own decision on enabled comes before that"`
	Enabled          *bool     `json:"enabled,omitempty" doc:"Absent where it is left to the next level" example:"false"`
	RequiresApproval bool      `json:"requires_approval" example:"true"`
	Reason           string    `json:"reason,omitempty" example:"not before the audit"`
	ChangedBy        string    `json:"changed_by" doc:"Subject" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ChangedAt        time.Time `json:"changed_at"`
}

// ToolOverrides are the decisions about one tool that apply in the tenant of the key.
type ToolOverrides struct {
	Tool             string    `json:"tool" doc:"Slug" example:"web_fetch"`
	ToolID           string    `json:"tool_id"`
	Enabled          bool      `json:"enabled" doc:"Whether the tool is switched on, all decisions considered" example:"false"`
	RequiresApproval bool      `json:"requires_approval" doc:"Whether the tool itself or a decision about it requires one" example:"true"`
	Tenant           *Override `json:"tenant,omitempty"`
	Platform         *Override `json:"platform,omitempty"`
}

// FromOverride converts a decision.
func FromOverride(o tool.Override) Override {
	by := "tenant"
	if o.Tenant == "" {
		by = "platform"
	}
	return Override{
		Tool: o.Slug, ToolID: o.ToolID, By: by, Enabled: o.Enabled, RequiresApproval: o.RequiresApproval, Reason: o.Reason,
		ChangedBy: o.ChangedBy, ChangedAt: o.ChangedAt,
	}
}

// FromOverrides converts the decisions about a tool.
func FromOverrides(t tool.Tool, o tool.Overrides) ToolOverrides {
	enabled, _ := o.Enabled(t.Global())
	out := ToolOverrides{
		Tool: t.Slug, ToolID: t.ID, Enabled: enabled, RequiresApproval: o.Raise(t.Policy).RequiresApproval,
	}
	if o.Tenant != nil {
		out.Tenant = new(FromOverride(*o.Tenant))
	}
	if o.Platform != nil {
		out.Platform = new(FromOverride(*o.Platform))
	}
	return out
}
