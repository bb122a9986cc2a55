package tool

import (
	"fmt"
	"time"
)

// Profile is a named set of restrictions that a tenant adds to uses of tools. It can only be
// stricter than a tool's own policy: a zero field changes nothing. It is authority: read at each
// call, and never pinned.
type Profile struct {
	ID   string `json:"id"`
	Name string `json:"name"` // Unique in the tenant.

	Denied           bool             `json:"denied,omitempty"`
	RequiresApproval bool             `json:"requires_approval,omitempty"`
	PermissionPolicy PermissionPolicy `json:"permission_policy,omitempty"` // Empty or PermissionAlwaysAsk.
	// EgressClass is what a call is treated as, if the tool's own class is less. It does not widen
	// where the call may go.
	EgressClass Egress `json:"egress_class,omitempty"`
	// RequiredPermission is required in addition to the tool's own.
	RequiredPermission string `json:"required_permission,omitempty"`

	Rate           *Rate `json:"rate,omitempty"`            // Nil for no limit.
	MaxConcurrency int   `json:"max_concurrency,omitempty"` // How many calls run at once; no limit when zero.
}

// Rate limits how many calls begin in a time: those of a token bucket, which is refilled steadily.
type Rate struct {
	Calls int        `json:"calls"`
	Per   RatePeriod `json:"per"`
	Burst int        `json:"burst"` // How many may begin at once, after a rest; Calls when zero.
}

// RatePeriod is the time of a [Rate].
type RatePeriod string

// Periods of rates.
const (
	PerSecond RatePeriod = "second"
	PerMinute RatePeriod = "minute"
	PerHour   RatePeriod = "hour"
	PerDay    RatePeriod = "day"
)

// RatePeriods returns all of them.
func RatePeriods() []RatePeriod { return []RatePeriod{PerSecond, PerMinute, PerHour, PerDay} }

// Duration returns how long a period is; zero for an unknown one.
func (p RatePeriod) Duration() time.Duration {
	switch p {
	case PerSecond:
		return time.Second
	case PerMinute:
		return time.Minute
	case PerHour:
		return time.Hour
	case PerDay:
		return 24 * time.Hour
	default:
		return 0
	}
}

// String returns "10 calls a minute".
func (r Rate) String() string {
	noun := "calls"
	if r.Calls == 1 {
		noun = "call"
	}
	article := "a"
	if r.Per == PerHour {
		article = "an"
	}
	return fmt.Sprintf("%d %s %s %s", r.Calls, noun, article, r.Per)
}

// ProfileUse is a profile that applies to the calls of a tool.
type ProfileUse struct {
	Profile

	AgentID string `json:"agent_id,omitempty"` // The agent whose calls it applies to; empty for every caller.
}

// Slots is a limit of calls that run at once, across the runs and workers of a tenant.
type Slots struct {
	Scope string `json:"scope"` // What is limited.
	Limit int    `json:"limit"`
	By    string `json:"by"` // What limits it, in words.
}

// Slots returns the limit of calls of a tool that run at once under the profile; false where it has none.
func (u *ProfileUse) Slots(toolID string) (Slots, bool) {
	if u.MaxConcurrency <= 0 {
		return Slots{}, false
	}
	return Slots{
		Scope: ProfileScope(u.ID, toolID, u.AgentID), Limit: u.MaxConcurrency,
		By: fmt.Sprintf("max_concurrency of profile %q", u.Name),
	}, true
}

// ProfileScope names what a profile's MaxConcurrency limits: the calls of a tool, by an agent, or by
// every caller where agentID is empty.
func ProfileScope(profileID, toolID, agentID string) string {
	return "profile/" + profileID + "/" + toolID + "/" + agentID
}
