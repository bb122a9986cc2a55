package tool

import (
	"slices"
	"strings"
)

// TenantID names a tenant, the isolation boundary: a UUID in its canonical
// text form. The empty TenantID stands for "global" on a [Tool], and is
// refused everywhere else.
type TenantID string

// Principal is the identity that a call is made for. It is passed explicitly,
// in run inputs, calls and ledger rows, never in a context.
type Principal struct {
	Tenant      TenantID `json:"tenant_id"`
	Subject     string   `json:"subject"`               // Such as "key:0198…" or "user:ada".
	Permissions []string `json:"permissions,omitempty"` // What the subject may do, such as "orders.read".
	Scopes      []string `json:"scopes,omitempty"`      // What the credential was issued for, such as "runs:write".
}

// May reports whether p has permission. Everyone has the empty one. The permission "*" is all.
func (p Principal) May(permission string) bool {
	return permission == "" || slices.Contains(p.Permissions, permission) || slices.Contains(p.Permissions, "*")
}

// Narrow returns p with no more permissions than its scopes name, if it has scopes. All later
// checks of permissions are so bounded by both.
func (p Principal) Narrow() Principal {
	if len(p.Scopes) == 0 || slices.Contains(p.Scopes, "*") {
		return p
	}
	held := []string{}
	for _, scope := range p.Scopes {
		if p.May(scope) {
			held = append(held, scope)
		}
	}
	p.Permissions = held
	return p
}

// PermissionError is the cause of a [Denied] error: the principal lacks a
// permission that callers may know of.
type PermissionError struct {
	Permissions []string // Any one of them would do.
}

// Error implements error.
func (e *PermissionError) Error() string {
	return "missing permission " + strings.Join(e.Permissions, " or ")
}

// Mode is the set of versions of a tool that a call may reach.
type Mode string

// Modes of resolution.
const (
	Production Mode = "production" // Published versions only.
	Debug      Mode = "debug"      // Drafts too.
)

// Valid reports whether m is one of the modes.
func (m Mode) Valid() bool { return m == Production || m == Debug }
