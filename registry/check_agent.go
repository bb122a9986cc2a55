package registry

import (
	"context"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/tool"
)

// CheckTools checks that the dependencies of a definition to be published
// exist, as [Registry.Apply] will require it: the tools of an agent, and the
// agent or the steps of a tool. What the same batch publishes counts as
// existing. It returns nil for definitions without dependencies.
func (r *Registry) CheckTools(ctx context.Context, p tool.Principal, d Definition, batch []Definition) error {
	if d.Tool != nil {
		if err := r.checkPipelineIn(ctx, p.Tenant, &d.Tool.Definition, batch); err != nil {
			return err
		}
	}
	if err := checkNamesIn(d, batch); err != nil {
		return err
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
	for _, ref := range s.Tools {
		brings := batch["tool "+ref.Slug].Tool
		if brings == nil || fits(ref, brings.Version) {
			continue
		}
		if _, err := r.opts.Resolver.BindNew(ctx, p, []tool.Ref{ref}, tool.Production); err != nil {
			return refuse(tool.Conflict, "/tools", "no version of tool %q fits %q: the definitions bring version %s", ref.Slug,
				ref.Constraint, brings.Version)
		}
	}
	bound, err := r.opts.Resolver.BindNew(ctx, p, refs, tool.Production)
	if err != nil {
		return within("/tools", err)
	}
	if err := fitModel(s.Model, bound); err != nil {
		return err
	}
	return r.walkAgent(ctx, p.Tenant, node{"agent", s.Slug, r.agentID(ctx, p.Tenant, s.Slug)}, s.Tools, batch)
}

// fits reports whether a reference may mean a version, judged by version
// numbers alone. An unknown number may fit.
func fits(ref tool.Ref, number string) bool {
	if ref.Constraint == "" || number == "" {
		return true
	}
	constraint, err := semver.NewConstraint(ref.Constraint)
	if err != nil {
		return true // The resolver says what is wrong.
	}
	v, err := semver.StrictNewVersion(number)
	return err != nil || constraint.Check(v)
}

// checkNamesIn refuses a tool that is to be published with a further name which
// another definition of the batch has, as its slug or beside it.
func checkNamesIn(d Definition, batch []Definition) error {
	if d.Tool == nil || !d.Tool.wanted() {
		return nil
	}
	for _, name := range furtherNames(d.Tool.Interaction) {
		for _, other := range batch {
			switch o := other.Tool; {
			case o == nil || o.Slug == d.Tool.Slug:
			case o.Slug == name:
				return refuse(tool.Conflict, namesPath, "%q is the slug of another definition, which calls by that name reach",
					name)
			case o.wanted() && slices.Contains(furtherNames(o.Interaction), name):
				return refuse(tool.Conflict, namesPath, "the name %q stands in the definition of tool %q too", name, o.Slug)
			}
		}
	}
	return nil
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
