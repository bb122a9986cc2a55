package tool

import (
	"cmp"
	"encoding/json"
	"maps"
	"time"
)

// Override is what a tenant decides about a tool, its own or a global one, or what the
// platform decides about it for every tenant. It changes no version. Its switch and approval are
// authority: read at each call, never pinned. Its [Adaptation] is content: a run goes on with the
// one it began with.
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

	Adaptation

	Reason    string    `json:"reason,omitempty"` // For people; at most MaxOverrideReason characters.
	ChangedBy string    `json:"changed_by"`       // Subject of the principal, such as "key:0198…".
	ChangedAt time.Time `json:"changed_at"`
	// Revision grows with each change, also where the override was removed in between. The store sets it.
	Revision int64 `json:"revision"`
}

// Bounds of an [Override].
const (
	MaxOverrideReason      = 1000 // Characters.
	MaxOverrideDescription = 4000 // Characters.
	MaxOverrideDefaults    = 16 << 10
)

// OverrideVersion is one state of an override.
type OverrideVersion struct {
	Override

	Removed bool `json:"removed,omitempty"` // The override was removed: nothing is decided in it.
}

// Adaptation is how overrides change what a tool shows and how its calls run.
type Adaptation struct {
	// Description replaces the version's for models and clients; empty keeps it.
	Description string `json:"description,omitempty"`
	// Defaults are values of arguments, by their names, that a call leaves out. A caller's own value wins.
	Defaults map[string]json.RawMessage `json:"defaults,omitempty"`
	Limits   *CallLimits                `json:"limits,omitempty"` // Nil for none.
}

// Adapts reports whether there is anything to change.
func (a *Adaptation) Adapts() bool {
	return a.Description != "" || len(a.Defaults) > 0 || a.Limits != nil && *a.Limits != CallLimits{}
}

// CallLimits narrow the execution of a tool's calls. A zero field changes nothing, nor does one that is wider
// than the version's own.
type CallLimits struct {
	TimeoutSeconds float64 `json:"timeout_s,omitempty"`
	MaxAttempts    int     `json:"max_attempts,omitempty"`
	InlineBytes    int     `json:"inline_bytes,omitempty"`
}

// Narrow returns an execution with the limits applied.
func (l CallLimits) Narrow(e Execution) Execution {
	if l.TimeoutSeconds > 0 && l.TimeoutSeconds < e.Timeout().Seconds() {
		e.TimeoutSeconds = l.TimeoutSeconds
	}
	if l.MaxAttempts > 0 && l.MaxAttempts < e.Attempts() {
		e.MaxAttempts = l.MaxAttempts
	}
	if l.InlineBytes > 0 && l.InlineBytes < cmp.Or(e.InlineBytes, MaxInlineResult) {
		e.InlineBytes = l.InlineBytes
	}
	return e
}

// OverrideRevisions are the revisions of the overrides that adapt a version; zero where a level does not.
type OverrideRevisions struct {
	Tenant   int64 `json:"tenant,omitempty"`
	Platform int64 `json:"platform,omitempty"`
}

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

// Revisions returns those of the overrides that adapt the tool. Overrides that only switch it have none.
func (o Overrides) Revisions() OverrideRevisions {
	var out OverrideRevisions
	if o.Tenant != nil && o.Tenant.Adapts() {
		out.Tenant = o.Tenant.Revision
	}
	if o.Platform != nil && o.Platform.Adapts() {
		out.Platform = o.Platform.Revision
	}
	return out
}

// Adaptation returns the platform's adaptation with the tenant's on top: its description and its default of
// an argument come before the platform's, and of limits the narrower one applies.
func (o Overrides) Adaptation() Adaptation {
	var out Adaptation
	for _, level := range []*Override{o.Platform, o.Tenant} {
		if level == nil {
			continue
		}
		out.Description = cmp.Or(level.Description, out.Description)
		if len(level.Defaults) > 0 {
			merged := make(map[string]json.RawMessage, len(out.Defaults)+len(level.Defaults))
			maps.Copy(merged, out.Defaults)
			maps.Copy(merged, level.Defaults)
			out.Defaults = merged
		}
		if level.Limits != nil {
			limits := *level.Limits
			if out.Limits != nil {
				limits = limits.within(*out.Limits)
			}
			out.Limits = &limits
		}
	}
	return out
}

// within returns the narrower of each limit.
func (l CallLimits) within(other CallLimits) CallLimits {
	return CallLimits{
		TimeoutSeconds: narrower(l.TimeoutSeconds, other.TimeoutSeconds),
		MaxAttempts:    narrower(l.MaxAttempts, other.MaxAttempts),
		InlineBytes:    narrower(l.InlineBytes, other.InlineBytes),
	}
}

// narrower returns the smaller limit; zero is none.
func narrower[N int | float64](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
