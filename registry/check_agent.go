package registry

import (
	"context"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// CheckTools tells whether what a definition that is to be published is made of
// is there, as [Registry.Apply] will want it: the tools of an agent, and the
// agent or the steps of a tool. What the same batch publishes is left out. It
// passes whatever is made of nothing.
func (r *Registry) CheckTools(ctx context.Context, p tool.Principal, d Definition, batch []Definition) error {
	if d.Tool != nil {
		if err := r.checkPipelineIn(ctx, p.Tenant, &d.Tool.Definition, batch); err != nil {
			return err
		}
	}
	switch {
	case r.opts.Resolver == nil:
		return nil
	case d.Agent != nil && d.Agent.wanted():
		return r.checkAgentTools(ctx, p, d.Agent, newBrought(batch))
	case d.Tool != nil && d.Tool.wanted():
		return r.checkToolParts(ctx, p, d.Tool, newBrought(batch))
	default:
		return nil
	}
}

func (r *Registry) checkAgentTools(ctx context.Context, p tool.Principal, s *AgentSpec, batch brought) error {
	refs := slices.DeleteFunc(slices.Clone(s.Tools), func(ref tool.Ref) bool {
		return batch["tool "+ref.Slug].Tool != nil
	})
	bound, err := r.opts.Resolver.BindNew(ctx, p, refs, tool.Production)
	if err != nil {
		return within("/tools", err)
	}
	if err := fitModel(s.Model, bound); err != nil {
		return err
	}
	return r.walkAgent(ctx, p.Tenant, node{"agent", s.Slug, r.agentID(ctx, p.Tenant, s.Slug)}, s.Tools, batch)
}

func (r *Registry) checkToolParts(ctx context.Context, p tool.Principal, s *ToolSpec, batch brought) error {
	d := s.Definition
	d.Implementation = d.ImplementationType()
	parts, err := r.partsOf(&d)
	if err != nil || parts.IsZero() {
		return err
	}
	return r.walkTool(ctx, &tool.Tool{ID: r.toolID(ctx, p.Tenant, s.Slug), Tenant: p.Tenant, Slug: s.Slug}, &d, batch)
}

// toolID returns the id of a tenant's own tool, or a stand-in for one that the
// batch makes.
func (r *Registry) toolID(ctx context.Context, tenant tool.TenantID, slug string) string {
	if t, err := r.store.FindTool(ctx, tenant, tool.Ref{Slug: slug}); err == nil && t.Tenant == tenant {
		return t.ID
	}
	return "new " + slug
}

// agentID does the same for an agent.
func (r *Registry) agentID(ctx context.Context, tenant tool.TenantID, slug string) string {
	if a, err := r.store.FindAgent(ctx, tenant, slug); err == nil {
		return a.ID
	}
	return "new " + slug
}

// walkAgent looks at all that the tools of an agent are made of.
func (r *Registry) walkAgent(ctx context.Context, tenant tool.TenantID, n node, tools []tool.Ref, batch brought) error {
	if r.opts.Parts == nil || len(tools) == 0 {
		return nil
	}
	w := r.newWalk(tenant, batch)
	if _, err := w.agent(ctx, n, "", tools); err != nil {
		return err
	}
	return w.missing
}
