package wait

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of standing grants.
const (
	MaxGrantUses = 10_000
	MinGrantTime = time.Minute
	MaxGrantTime = 90 * 24 * time.Hour
)

// Grant is a standing grant: the approval of calls that are to come, within limits. It counts
// as one approval of its creator, as long as their key may decide such calls; like the creator,
// it never counts for runs that they started.
type Grant struct {
	ID     string
	Tenant tool.TenantID

	Tool      string // Slug.
	Version   string // Constraint, such as "^1.2"; empty for every version.
	Agent     string // Slug of the agent that calls; empty for every caller.
	Requester string // Whom the run acts for; empty for every subject.
	Condition string // CEL over input and principal, as that of a confirmation; empty for all arguments.

	Uses int // 1 to MaxGrantUses.
	Used int

	Reason    string
	CreatedBy string // Subject.
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt *time.Time
	RevokedBy string
	Overdue   bool // Its time was over when it was read.
}

// GrantStatus is the state of a standing grant.
type GrantStatus string

// States of standing grants.
const (
	GrantActive  GrantStatus = "active"
	GrantUsedUp  GrantStatus = "used_up"
	GrantExpired GrantStatus = "expired"
	GrantRevoked GrantStatus = "revoked"
)

// Status returns the state of the grant as it was read.
func (g *Grant) Status() GrantStatus {
	switch {
	case g.RevokedAt != nil:
		return GrantRevoked
	case g.Overdue:
		return GrantExpired
	case g.Used >= g.Uses:
		return GrantUsedUp
	default:
		return GrantActive
	}
}

// Covers says in one sentence what the grant is for.
func (g *Grant) Covers() string {
	var out strings.Builder
	out.WriteString("calls of " + g.Tool)
	if g.Version != "" {
		out.WriteString("@" + g.Version)
	}
	if g.Agent != "" {
		out.WriteString(" by agent " + g.Agent)
	}
	if g.Requester != "" {
		out.WriteString(" for " + g.Requester)
	}
	if g.Condition != "" {
		out.WriteString(" where " + g.Condition)
	}
	fmt.Fprintf(&out, ", %d times, until %s", g.Uses, g.ExpiresAt.UTC().Format(time.RFC3339))
	return out.String()
}

// GrantQuery selects standing grants, newest first.
type GrantQuery struct {
	Tenant tool.TenantID
	Tool   string // Slug; empty for all.
	Active bool   // Only those that may be used.
	Before string // ID to continue after; empty for the first page.
	Limit  int    // 1 to 500.
}

// Grants records standing grants. Implementations are safe for concurrent use; each method is
// one transaction.
type Grants interface {
	// AddGrant records a grant that lasts for the given time, and returns it with id and times.
	AddGrant(ctx context.Context, g Grant, lasts time.Duration) (Grant, error)

	// FindGrant fails with NotFound.
	FindGrant(ctx context.Context, tenant tool.TenantID, id string) (Grant, error)
	ListGrants(ctx context.Context, q GrantQuery) ([]Grant, error)

	// RevokeGrant revokes a grant, and returns it. One that is revoked stays as it is. It does
	// not take back what the grant approved.
	RevokeGrant(ctx context.Context, tenant tool.TenantID, id, by string) (Grant, error)

	// UseGrant approves a pending request by a grant, and takes one use of it: once, however
	// often it is called for a request and round. It checks everything but the condition. It
	// returns the request as it is then: unchanged where the grant does not count for it, or
	// where its binding is another than the one given. A request that the grant ends needs no
	// delivery.
	UseGrant(ctx context.Context, tenant tool.TenantID, grant string, a Approval) (Approval, error)
}
