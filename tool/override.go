package tool

import "time"

// Override is what a tenant decides about a tool, its own or a global one, or what the
// platform decides about it for every tenant. It is authority: read at each call, never
// pinned, and it changes no version.
type Override struct {
	// Tenant is empty for a decision of the platform.
	Tenant TenantID `json:"tenant_id,omitempty"`
	ToolID string   `json:"tool_id"`
	Slug   string   `json:"tool,omitempty"` // The tool's; in lists only.

	// Enabled switches the tool on or off; nil leaves that to the next level.
	Enabled *bool `json:"enabled,omitempty"`
	// RequiresApproval asks a person at every call. It can only be raised: false
	// leaves what the tool and the other level require.
	RequiresApproval bool `json:"requires_approval,omitempty"`

	Reason    string    `json:"reason,omitempty"` // For people; at most MaxOverrideReason characters.
	ChangedBy string    `json:"changed_by"`       // Subject of the principal, such as "key:0198…".
	ChangedAt time.Time `json:"changed_at"`
}

// MaxOverrideReason limits the reason of an [Override], in characters.
const MaxOverrideReason = 1000

// Overrides are those of one tool that apply in one tenant.
type Overrides struct {
	Tenant   *Override // Nil where the tenant decided nothing.
	Platform *Override // Nil where the platform decided nothing.
}

// Enabled reports whether the tool is switched on, and which override decides that: the
// tenant's before the platform's. Without either, a global tool is off and a tenant's own
// is on, and by is nil. (Checklist S0-72, S0-73.)
func (o Overrides) Enabled(global bool) (enabled bool, by *Override) {
	for _, level := range []*Override{o.Tenant, o.Platform} {
		if level != nil && level.Enabled != nil {
			return *level.Enabled, level
		}
	}
	return !global, nil
}

// Raise returns the policy with what the overrides require beside it.
func (o Overrides) Raise(p Policy) Policy {
	for _, level := range []*Override{o.Tenant, o.Platform} {
		if level != nil && level.RequiresApproval {
			p.RequiresApproval = true
		}
	}
	return p
}
