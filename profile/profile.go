// Package profile is the contract of profiles and assignments: named sets of restrictions of a
// tenant, and to which uses of tools they apply.
//
// An assignment of a tool to an agent gives the agent the tool, if its definition does not, and
// adds a profile, if it names one. One to no agent adds a profile to every call of the tool. What
// applies to a call is read by the statement that admits it, and the strictest wins; see package
// policy. Package store implements the contract; checklist S2-3, S2-4, Z7.
package profile

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of profiles.
const (
	MaxDescription = 1000  // Characters.
	MaxCalls       = 1e6   // Of a rate.
	MaxPerSecond   = 10000 // Calls of a rate, whatever its period.
	MaxConcurrency = 1000
	maxPermission  = 200
)

// ErrChanged is in the chain of errors when a profile's revision has changed.
var ErrChanged = errors.New("the profile was changed meanwhile")

// Profile is a profile as it is stored.
type Profile struct {
	tool.Profile

	Tenant      tool.TenantID
	Description string // For people.
	Assignments int    // How many use it; stores fill it.

	Revision  int64 // Counted from 1, by changes.
	ChangedBy string
	CreatedAt time.Time
	UpdatedAt time.Time
}

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// Check fills in defaults. It fails with tool.Invalid, and the JSON Pointer of the field, for a
// profile that means nothing, or that asks for less than tools do: a profile only raises.
func (p *Profile) Check() error {
	switch {
	case !validName.MatchString(p.Name):
		return invalid("/name", "a name has 1 to 63 characters: small letters, digits, - and _, the first of them no - or _")
	case len([]rune(p.Description)) > MaxDescription:
		return invalid("/description", "a description has at most %d characters", MaxDescription)
	case p.PermissionPolicy != "" && p.PermissionPolicy != tool.PermissionAlwaysAsk:
		return invalid("/permission_policy",
			"a profile only raises what a tool requires: its permission policy is %q, or absent", tool.PermissionAlwaysAsk)
	case p.EgressClass != "" && p.EgressClass != tool.EgressReadOnly && p.EgressClass != tool.EgressWrite:
		return invalid("/egress_class",
			"a profile only raises the class of a tool: its egress class is %q or %q, or absent", tool.EgressReadOnly,
			tool.EgressWrite)
	case len(p.RequiredPermission) > maxPermission:
		return invalid("/required_permission", "a permission has at most %d bytes", maxPermission)
	case p.MaxConcurrency < 0 || p.MaxConcurrency > MaxConcurrency:
		return invalid("/max_concurrency", "max_concurrency is out of range: 1 to %d, or absent for no limit", MaxConcurrency)
	case p.Rate != nil:
		return checkRate(p.Rate)
	}
	return nil
}

func checkRate(r *tool.Rate) error {
	if r.Burst == 0 {
		r.Burst = r.Calls
	}
	switch per := r.Per.Duration(); {
	case per == 0:
		return invalid("/rate/per", `the period of a rate is "second", "minute", "hour" or "day"`)
	case r.Calls < 1 || r.Calls > MaxCalls || time.Duration(r.Calls)*time.Second > MaxPerSecond*per:
		return invalid("/rate/calls", "the calls of a rate are out of range: 1 to %d, and at most %d a second", int(MaxCalls),
			MaxPerSecond)
	case r.Burst < 1 || r.Burst > MaxCalls:
		return invalid("/rate/burst", "the burst of a rate is out of range: 1 to %d", int(MaxCalls))
	}
	return nil
}

func invalid(path, format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "profile.Check", Path: path, Msg: fmt.Sprintf(format, args...)}
}

// Changed returns the error of a change whose revision is not the profile's.
func Changed() error {
	return &tool.Error{Kind: tool.Conflict, Op: "profile", Msg: ErrChanged.Error(), Err: ErrChanged}
}

// Assignment binds a tool to an agent, or a profile to every call of a tool.
type Assignment struct {
	ID     string
	Tenant tool.TenantID

	ToolID, Tool       string // Tool is the slug; stores fill it.
	AgentID, Agent     string // Empty for every agent and caller; Agent is the slug.
	ProfileID, Profile string // Empty for no restriction; Profile is the name.

	ChangedBy string
	ChangedAt time.Time
}

// Check fails with tool.Invalid for an assignment that changes nothing.
func (a *Assignment) Check() error {
	if a.AgentID == "" && a.ProfileID == "" {
		return invalid("/agent", "an assignment names an agent, a profile or both: with neither, it changes nothing")
	}
	return nil
}

// Filter selects assignments. Zero fields do not filter.
type Filter struct{ ToolID, AgentID, ProfileID string }

// Limited is the rate that refuses a call.
type Limited struct {
	Profile string          `json:"profile"`
	Calls   int             `json:"calls"`
	Per     tool.RatePeriod `json:"per"`
	WaitMS  int64           `json:"wait_ms"` // Until the next token.
}

// Error returns the refusal as a [tool.Error] of kind RateLimited. Nothing was sent.
func (l *Limited) Error(op string) error {
	wait := time.Duration(l.WaitMS) * time.Millisecond
	return &tool.Error{
		Kind: tool.RateLimited, Op: op, RetryAfter: wait, Msg: fmt.Sprintf(
			"profile %q allows %s; the next may begin in %s", l.Profile, tool.Rate{Calls: l.Calls, Per: l.Per},
			max(wait.Round(10*time.Millisecond), 10*time.Millisecond)),
	}
}

// Profiles is the record of profiles and assignments. Package store implements it.
type Profiles interface {
	// CreateProfile stores a new profile. It fails with tool.Conflict where the tenant has one with
	// the name.
	CreateProfile(ctx context.Context, p Profile) (Profile, error)
	// ChangeProfile replaces the profile with p.Name. Its revision must be p.Revision, unless that is
	// zero: else it fails with [ErrChanged].
	ChangeProfile(ctx context.Context, p Profile) (Profile, error)
	// FindProfile fails with tool.NotFound.
	FindProfile(ctx context.Context, tenant tool.TenantID, name string) (Profile, error)
	// ListProfiles returns profiles by name; with an agent's id, those that apply to some of its
	// calls. After is the last name of the page before.
	ListProfiles(ctx context.Context, tenant tool.TenantID, agentID, after string, limit int) ([]Profile, error)
	// DeleteProfile deletes a profile and its budgets, and returns it. It fails with tool.Conflict
	// while an assignment uses it; revision is as for ChangeProfile.
	DeleteProfile(ctx context.Context, tenant tool.TenantID, name string, revision int64) (Profile, error)

	// SetAssignment stores a checked assignment, in the place of the one for the same tool and agent.
	// It fails with tool.NotFound for a tool, an agent or a profile that the tenant does not have.
	SetAssignment(ctx context.Context, a Assignment) (Assignment, error)
	// FindAssignment fails with tool.NotFound.
	FindAssignment(ctx context.Context, tenant tool.TenantID, id string) (Assignment, error)
	// ListAssignments returns assignments by tool and agent; after is the last of the page before.
	ListAssignments(
		ctx context.Context, tenant tool.TenantID, f Filter, after Assignment, limit int,
	) ([]Assignment, error)
	// DeleteAssignment takes an assignment back and returns it. Calls that begin later are as
	// without it.
	DeleteAssignment(ctx context.Context, tenant tool.TenantID, id string) (Assignment, error)

	// ProfileUses returns the profiles that apply to calls of a tool by an agent, or by other callers
	// where agentID is empty, as admission reads them.
	ProfileUses(ctx context.Context, tenant tool.TenantID, toolID, agentID string) ([]tool.ProfileUse, error)
}
