package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// assigned resolves the tools that an agent has by assignments: those that its definition does not
// name, whether that resolves or not. One that cannot be used, or has the name of another tool of
// the agent, is missing; the run goes on without it.
func (a *Activities) assigned(
	ctx context.Context, p tool.Principal, run string, ids []string, own []tool.Ref, bound []*resolver.Resolved,
	mode tool.Mode,
) (given []*resolver.Resolved, missing []resolver.Unavailable, err error) {
	var refs []tool.Ref
	for _, id := range ids {
		named := slices.ContainsFunc(own, func(ref tool.Ref) bool { return ref.ID == id }) ||
			slices.ContainsFunc(bound, func(r *resolver.Resolved) bool { return r.Tool.ID == id })
		if !named {
			refs = append(refs, tool.Ref{ID: id})
		}
	}
	if len(refs) == 0 {
		return nil, nil, nil
	}
	found, missing, err := a.Resolver.For(run).BindEach(ctx, p, refs, mode)
	if err != nil {
		return nil, nil, fmt.Errorf("binding the tools that are assigned to the agent: %w", err)
	}
	slices.SortStableFunc(found, func(a, b *resolver.Resolved) int { // A tool of the tenant comes before a global one.
		return -strings.Compare(string(a.Tool.Tenant), string(b.Tool.Tenant))
	})
	for _, r := range found {
		slug := r.Tool.Slug
		called := func(other *resolver.Resolved) bool { return other.Tool.Slug == slug }
		switch {
		case slices.ContainsFunc(own, func(ref tool.Ref) bool { return ref.Slug == slug }):
			// Its own reference decides which version it gets, or why none.
		case slices.ContainsFunc(bound, called) || slices.ContainsFunc(given, called):
			missing = append(missing, resolver.Unavailable{Ref: tool.Ref{ID: r.Tool.ID}, Err: &tool.Error{
				Kind: tool.Conflict, Op: "activities.LoadPlan",
				Msg: fmt.Sprintf("it is assigned, and the agent has another tool named %q", slug),
			}})
		default:
			given = append(given, r)
		}
	}
	return given, missing, nil
}
