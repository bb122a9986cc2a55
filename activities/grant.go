package activities

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/standing"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// grantPage is how many standing grants are read at once, and grantPages how many times.
const (
	grantPage  = 100
	grantPages = 10
)

// granted approves a pending request by standing grants, as far as those cover its call: each
// counts as one approval of its creator. It returns the request as it is then. Edited arguments
// are for people.
func (a *Activities) granted(
	ctx context.Context, by tool.Principal, request wait.Approval,
) (wait.Approval, error) {
	if a.Grants == nil {
		return request, nil
	}
	q := wait.GrantQuery{Tenant: by.Tenant, Tool: request.Tool, Active: true, Limit: grantPage}
	for range grantPages {
		found, err := a.Grants.ListGrants(ctx, q)
		if err != nil {
			return request, fmt.Errorf("reading standing grants: %w", err)
		}
		for i := range found {
			if request.Status.Final() || len(request.Edited) > 0 {
				return request, nil
			}
			if !standing.Names(&found[i], &request) || !a.holds(ctx, &found[i], by, &request) {
				continue
			}
			if request, err = a.Grants.UseGrant(ctx, by.Tenant, found[i].ID, request); err != nil {
				return request, fmt.Errorf("using standing grant %s: %w", found[i].ID, err)
			}
		}
		if len(found) < q.Limit {
			break
		}
		q.Before = found[len(found)-1].ID
	}
	return request, nil
}

// holds reports whether a grant's condition holds for a call. One that does not compile, which
// was checked when the grant was made, holds for none.
func (a *Activities) holds(ctx context.Context, g *wait.Grant, by tool.Principal, request *wait.Approval) bool {
	program, err := a.confirmations.Compile(tool.Confirmation{When: g.Condition})
	return err == nil && program.Holds(ctx, request.Arguments, by)
}
