package registry

import (
	"context"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// CheckTools tells whether the tools of an agent that is to be published can be
// bound, as [Registry.Apply] will want it. Those in brought, by slug, are left
// out: the same batch brings them. It passes whatever is no such agent.
func (r *Registry) CheckTools(ctx context.Context, p tool.Principal, d Definition, brought []string) error {
	if d.Agent == nil || !d.Agent.wanted() || r.opts.Resolver == nil {
		return nil
	}
	refs := slices.DeleteFunc(slices.Clone(d.Agent.Tools), func(ref tool.Ref) bool { return slices.Contains(brought, ref.Slug) })
	if len(refs) == 0 {
		return nil
	}
	bound, err := r.opts.Resolver.BindNew(ctx, p, refs, tool.Production)
	if err != nil {
		return within("/tools", err)
	}
	return fitModel(d.Agent.Model, bound)
}
