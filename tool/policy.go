package tool

import (
	"slices"
	"time"
)

// Egress is the class of effects that a call may have outside the platform.
type Egress string

// Egress classes, from the least to the most a tool may do.
const (
	EgressNone     Egress = "none"      // Contacts nothing outside.
	EgressReadOnly Egress = "read_only" // Reads from outside.
	EgressWrite    Egress = "write"     // Changes something outside; always needs an approval.
)

// Valid reports whether e is one of the classes.
func (e Egress) Valid() bool { return e == EgressNone || e == EgressReadOnly || e == EgressWrite }

// Within reports whether class allows class e.
func (e Egress) Within(class Egress) bool { return e.rank() <= class.rank() }

// rank orders classes by what they allow; an unknown one allows nothing.
func (e Egress) rank() int {
	switch e {
	case EgressWrite:
		return 2
	case EgressReadOnly:
		return 1
	case EgressNone:
		return 0
	default:
		return 0
	}
}

// Declaration records that a principal declared the POST of a tool's configuration read-only.
// It applies to that configuration alone.
type Declaration struct {
	By string    `json:"by"` // Subject of the principal, such as "key:0198…".
	At time.Time `json:"at"`
}

// PermissionPolicy says whether an agent may call a tool on its own.
type PermissionPolicy string

// Permission policies.
const (
	PermissionAuto      PermissionPolicy = "auto"       // The default.
	PermissionAlwaysAsk PermissionPolicy = "always_ask" // A person is asked at every call.
)

// Valid reports whether p is one of the policies.
func (p PermissionPolicy) Valid() bool { return p == PermissionAuto || p == PermissionAlwaysAsk }

// Policy is the authority over a tool. Unlike a [Definition] it is never
// pinned: it is read when a call is decided and again when it is admitted.
type Policy struct {
	EgressClass Egress `json:"egress_class"` // EgressNone by default.
	// RequiresApproval is forced to true for EgressWrite by the database.
	RequiresApproval bool             `json:"requires_approval"`
	PermissionPolicy PermissionPolicy `json:"permission_policy"` // Auto by default.
	// RequiredPermission is the permission that a principal needs to see and
	// call the tool.
	RequiredPermission string      `json:"required_permission,omitempty"`
	TenantSlugs        []string    `json:"tenant_slugs,omitempty"` // The tenants a global tool is for; empty for all.
	EgressRules        EgressRules `json:"egress_rules,omitzero"`  // Where calls may go within the class.

	// Profiles are those that apply to a use of the tool. Only what is read for a decision on a call
	// has them: see ledger.Ticket and resolver.Source.
	Profiles []ProfileUse `json:"-"`
}

// Serves reports whether the policy includes a tenant with the given slug.
func (p Policy) Serves(tenantSlug string) bool {
	return len(p.TenantSlugs) == 0 || slices.Contains(p.TenantSlugs, tenantSlug)
}
