package registry

import (
	"context"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// Order returns the indexes of a batch in the order in which its definitions can be
// applied, see [definition.Order].
func (r *Registry) Order(batch []definition.Definition) (order []int, cycles map[int]error) {
	return definition.Order(batch, r.partsOf)
}

// CheckTools checks that the dependencies of a definition to be published
// exist, as [Registry.Apply] will require it: the tools of an agent, and the
// agent or the steps of a tool. What the same batch publishes counts as
// existing. It returns nil for definitions without dependencies.
func (r *Registry) CheckTools(
	ctx context.Context, p tool.Principal, d definition.Definition, batch []definition.Definition,
) error {
	if d.Tool != nil {
		if err := r.checkPipelineIn(ctx, p.Tenant, &d.Tool.Definition, batch); err != nil {
			return err
		}
	}
	if err := definition.CheckNames(d, batch); err != nil {
		return err
	}
	switch {
	case r.opts.Resolver == nil:
		return nil
	case d.Agent != nil && d.Agent.AsksToPublish():
		return r.checkAgentTools(ctx, p, d.Agent, batch)
	case d.Tool != nil && d.Tool.AsksToPublish():
		return r.checkToolParts(ctx, p, d.Tool, definition.NewBatch(batch))
	default:
		return nil
	}
}

func (r *Registry) checkAgentTools(
	ctx context.Context, p tool.Principal, s *definition.AgentSpec, definitions []definition.Definition,
) error {
	batch := definition.NewBatch(definitions)
	refs := slices.DeleteFunc(slices.Clone(s.Tools), func(ref tool.Ref) bool {
		return batch.Tool(ref.Slug) != nil
	})
	for _, ref := range refs {
		if !drafted(definitions, ref.Slug) {
			continue
		}
		if _, err := r.opts.Resolver.BindNew(ctx, p, []tool.Ref{ref}, tool.Production); tool.KindOf(err) == tool.NotFound {
			return refusal.New(tool.Conflict, "/tools", "tool %q would be a draft: add publish: true to its definition, which "+
				"is applied beside this one", ref.Slug)
		}
	}
	for _, ref := range s.Tools {
		brings := batch.Tool(ref.Slug)
		if brings == nil || fits(ref, brings.Version) {
			continue
		}
		if _, err := r.opts.Resolver.BindNew(ctx, p, []tool.Ref{ref}, tool.Production); err != nil {
			return refusal.New(tool.Conflict, "/tools", "no version of tool %q fits %q: the definitions bring version %s",
				ref.Slug,
				ref.Constraint, brings.Version)
		}
	}
	bound, err := r.opts.Resolver.BindNew(ctx, p, refs, tool.Production)
	if err != nil {
		return refusal.Within("/tools", err)
	}
	if err := fitModel(s.Model, bound); err != nil {
		return err
	}
	return r.walkAgent(ctx, p.Tenant, node{"agent", s.Slug, r.agentID(ctx, p.Tenant, s.Slug)}, s.Tools, batch)
}

// drafted reports whether definitions have a tool of this slug without asking to publish it.
func drafted(definitions []definition.Definition, slug string) bool {
	return slices.ContainsFunc(definitions, func(d definition.Definition) bool {
		return d.Tool != nil && d.Tool.Slug == slug && !d.Tool.AsksToPublish()
	})
}

// fits reports whether a version number satisfies the constraint of a reference. An
// unknown number does.
func fits(ref tool.Ref, number string) bool {
	if ref.Constraint == "" || number == "" {
		return true
	}
	constraint, err := semver.NewConstraint(ref.Constraint)
	if err != nil {
		return true // The resolver reports a malformed constraint.
	}
	v, err := semver.StrictNewVersion(number)
	return err != nil || constraint.Check(v)
}

func (r *Registry) checkToolParts(
	ctx context.Context, p tool.Principal, s *definition.ToolSpec, batch definition.Batch,
) error {
	d := s.Definition
	d.Implementation = d.ImplementationType()
	parts, err := r.partsOf(&d)
	if err != nil || parts.IsZero() {
		return err
	}
	return r.walkTool(ctx, &tool.Tool{ID: r.toolID(ctx, p.Tenant, s.Slug), Tenant: p.Tenant, Slug: s.Slug}, &d, batch)
}

// toolID returns the id of a tenant's own tool, or a placeholder for one that the
// batch creates.
func (r *Registry) toolID(ctx context.Context, tenant tool.TenantID, slug string) string {
	if t, err := r.store.FindTool(ctx, tenant, tool.Ref{Slug: slug}); err == nil && t.Tenant == tenant {
		return t.ID
	}
	return "new " + slug
}

// agentID returns the id of an agent, or a placeholder as toolID does.
func (r *Registry) agentID(ctx context.Context, tenant tool.TenantID, slug string) string {
	if a, err := r.store.FindAgent(ctx, tenant, slug); err == nil {
		return a.ID
	}
	return "new " + slug
}

// walkAgent checks the dependencies of an agent's tools.
func (r *Registry) walkAgent(
	ctx context.Context, tenant tool.TenantID, n node, tools []tool.Ref, batch definition.Batch,
) error {
	if len(tools) == 0 {
		return nil
	}
	w := r.newWalk(tenant, batch)
	if _, err := w.agent(ctx, n, "", tools); err != nil {
		return err
	}
	return w.missing
}
