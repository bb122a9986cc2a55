package registry

import (
	"context"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// checkParts fails with tool.Invalid for malformed dependencies, and fills in the
// input schema that they imply. Publishing checks that they exist.
func (r *Registry) checkParts(s *definition.ToolSpec) error {
	parts, err := r.partsOf(&s.Definition)
	if err != nil {
		return err
	}
	if parts.Agent != nil && parts.Agent.Detached && s.Execution.Pure {
		return refusal.New(
			tool.Invalid, "/execution/is_pure",
			"a task that is not waited for leaves a run behind, so it is not pure: declare it idempotent",
		)
	}
	return nil
}

// checkWhole fails for a tool whose dependencies do not exist, are not published,
// contradict what the tool declares (pure, idempotent), or lead back to the tool.
// For a batch, [Registry.CheckTools] checks this.
func (r *Registry) checkWhole(ctx context.Context, t *tool.Tool, d *tool.Definition) error {
	parts, err := r.partsOf(d)
	if err != nil || parts.IsZero() || r.dry {
		return err
	}
	return r.walkTool(ctx, t, d, nil)
}

// walkTool checks all dependencies of a tool's calls. Definitions of the batch
// take the place of stored ones.
func (r *Registry) walkTool(ctx context.Context, t *tool.Tool, d *tool.Definition, batch definition.Batch) error {
	if t.Global() {
		return refusal.New(tool.Conflict, "/implementation_type",
			"agents and tools belong to tenants, so a global tool cannot be made of them")
	}
	if r.opts.Resolver == nil {
		return refusal.New(tool.Conflict, "/implementation_config",
			"tools cannot be resolved here, so a tool made of others cannot be published")
	}
	w := r.newWalk(t.Tenant, batch)
	w.root = t.Slug
	if _, err := w.tool(ctx, node{kind: "tool", slug: t.Slug, id: t.ID}, d); err != nil {
		return err
	}
	return w.missing
}
