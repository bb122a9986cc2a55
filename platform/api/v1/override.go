package v1

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// NewOverride is what a tenant decides about a tool. It replaces an earlier decision.
type NewOverride struct {
	Enabled          *bool                      `json:"enabled,omitempty" doc:"Switches the tool on or off for the tenant; absent leaves that to the platform" example:"false"`
	RequiresApproval bool                       `json:"requires_approval,omitempty" doc:"Asks a person at every call; it cannot take an approval away that the tool or the platform requires" example:"true"`
	Description      string                     `json:"description,omitempty" maxLength:"4000" doc:"What models and clients are shown instead of the tool's description, in runs that begin from now on; absent keeps that" example:"Fetches a public page. Use it for the pages of our suppliers only."`
	Defaults         map[string]json.RawMessage `json:"defaults,omitempty" doc:"Values of arguments that a call leaves out, by their names. The input schema must accept them; a caller's own value wins. Models see them: no secrets" example:"{\"max_bytes\":20000}"`
	Limits           *OverrideLimits            `json:"limits,omitempty" doc:"Narrows how calls run; absent fields keep the tool's own"`
	Reason           string                     `json:"reason,omitempty" maxLength:"1000" doc:"For people; explanations show it" example:"not before the audit"`
	Revision         int64                      `json:"revision,omitempty" doc:"Unless zero, the change fails if the tenant's override has another revision, as with If-Match" example:"0"`
}

// OverrideLimits narrow how calls of a tool run.
type OverrideLimits struct {
	TimeoutSeconds float64 `json:"timeout_s,omitempty" doc:"Of one attempt, to the millisecond" minimum:"0" example:"10"`
	MaxAttempts    int     `json:"max_attempts,omitempty" doc:"Of a call that may be repeated" minimum:"0" example:"1"`
	InlineBytes    int     `json:"inline_bytes,omitempty" doc:"The largest result that a model is shown whole, in bytes" minimum:"0" example:"4096"`
}

// Override is a decision about a tool.
type Override struct {
	Tool             string                     `json:"tool" doc:"Slug" example:"web_fetch"`
	ToolID           string                     `json:"tool_id"`
	By               string                     `json:"by" enum:"tenant,platform" doc:"The platform decides for every tenant; a tenant's own decision comes before that"`
	Enabled          *bool                      `json:"enabled,omitempty" doc:"Absent where it is left to the next level" example:"false"`
	RequiresApproval bool                       `json:"requires_approval" example:"true"`
	Description      string                     `json:"description,omitempty" doc:"Absent where it is left to the next level" example:"Fetches a public page. Use it for the pages of our suppliers only."`
	Defaults         map[string]json.RawMessage `json:"defaults,omitempty" example:"{\"max_bytes\":20000}"`
	Limits           *OverrideLimits            `json:"limits,omitempty"`
	Reason           string                     `json:"reason,omitempty" example:"not before the audit"`
	Revision         int64                      `json:"revision" doc:"Grows with each change, also where the override was removed in between" example:"3"`
	ChangedBy        string                     `json:"changed_by" doc:"Subject" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ChangedAt        time.Time                  `json:"changed_at"`
}

// OverrideVersion is a decision as it was, under its revision.
type OverrideVersion struct {
	Override

	Removed bool `json:"removed,omitempty" doc:"The decision was taken back with this revision" example:"false"`
}

// ToolOverrides are the decisions about one tool that apply in the tenant of the key.
type ToolOverrides struct {
	Tool             string                     `json:"tool" doc:"Slug" example:"web_fetch"`
	ToolID           string                     `json:"tool_id"`
	Enabled          bool                       `json:"enabled" doc:"Whether the tool is switched on, all decisions considered" example:"false"`
	RequiresApproval bool                       `json:"requires_approval" doc:"Whether the tool itself or a decision about it requires one" example:"true"`
	Description      string                     `json:"description" doc:"That of an override, else the draft's" example:"Fetches a public page. Use it for the pages of our suppliers only."`
	Defaults         map[string]json.RawMessage `json:"defaults,omitempty" doc:"The tenant's come before the platform's" example:"{\"max_bytes\":20000}"`
	Limits           *OverrideLimits            `json:"limits,omitempty" doc:"The narrower of the tenant's and the platform's"`
	Tenant           *Override                  `json:"tenant,omitempty"`
	Platform         *Override                  `json:"platform,omitempty"`
}

// Effective is a tool as it is in the tenant of the key, all decisions considered.
type Effective struct {
	Enabled          bool                       `json:"enabled" doc:"Whether the tool is switched on" example:"true"`
	Why              string                     `json:"why" doc:"Who switched it on or off, and their reason" example:"switched on by the platform, for every tenant: comes with the platform"`
	RequiresApproval bool                       `json:"requires_approval" doc:"Whether the tool or a decision about it requires one" example:"false"`
	Description      string                     `json:"description" doc:"That of an override, else the draft's" example:"Fetches a public page. Use it for the pages of our suppliers only."`
	Defaults         map[string]json.RawMessage `json:"defaults,omitempty" doc:"Values of arguments that a call leaves out" example:"{\"max_bytes\":20000}"`
	Limits           *OverrideLimits            `json:"limits,omitempty" doc:"What narrows how its calls run"`
}

// Decision converts what is to be decided.
func (o *NewOverride) Decision() tool.Override {
	return tool.Override{
		Enabled: o.Enabled, RequiresApproval: o.RequiresApproval, Reason: o.Reason,
		Adaptation: tool.Adaptation{
			Description: o.Description, Defaults: o.Defaults, Limits: (*tool.CallLimits)(o.Limits),
		},
	}
}

// FromOverride converts a decision.
func FromOverride(o tool.Override) Override {
	by := "tenant"
	if o.Tenant == "" {
		by = "platform"
	}
	return Override{
		Tool: o.Slug, ToolID: o.ToolID, By: by, Enabled: o.Enabled, RequiresApproval: o.RequiresApproval,
		Description: o.Description, Defaults: o.Defaults, Limits: (*OverrideLimits)(o.Limits), Reason: o.Reason,
		Revision: o.Revision, ChangedBy: o.ChangedBy, ChangedAt: o.ChangedAt,
	}
}

// FromOverrideVersion converts a decision as it was.
func FromOverrideVersion(v tool.OverrideVersion) OverrideVersion {
	return OverrideVersion{Override: FromOverride(v.Override), Removed: v.Removed}
}

// FromOverrides converts the decisions about a tool.
func FromOverrides(t tool.Tool, o tool.Overrides) ToolOverrides {
	enabled, _ := o.Enabled(t.Global())
	merged := o.Adaptation()
	out := ToolOverrides{
		Tool: t.Slug, ToolID: t.ID, Enabled: enabled, RequiresApproval: o.Raise(t.Policy).RequiresApproval,
		Description: cmp.Or(merged.Description, t.Description), Defaults: merged.Defaults,
		Limits: (*OverrideLimits)(merged.Limits),
	}
	if o.Tenant != nil {
		out.Tenant = new(FromOverride(*o.Tenant))
	}
	if o.Platform != nil {
		out.Platform = new(FromOverride(*o.Platform))
	}
	return out
}

// FromStanding converts what is decided about a tool.
func FromStanding(s resolver.Standing) *Effective {
	return &Effective{
		Enabled: s.Enabled, Why: s.Why, RequiresApproval: s.Policy.RequiresApproval, Description: s.Description,
		Defaults: s.Adaptation.Defaults, Limits: (*OverrideLimits)(s.Adaptation.Limits),
	}
}
