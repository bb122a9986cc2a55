package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// checkPipelineOrBatch is checkPipeline, except that the pipeline may be missing
// where nothing is stored: the same batch may create it.
func (r *Registry) checkPipelineOrBatch(ctx context.Context, tenant tool.TenantID, d *tool.Definition) error {
	err := r.checkPipeline(ctx, tenant, d)
	if r.dry && tool.KindOf(err) == tool.NotFound {
		return nil
	}
	return err
}

// checkPipelineIn fails with tool.NotFound for a tool whose pipeline neither exists
// nor is in the batch.
func (r *Registry) checkPipelineIn(
	ctx context.Context, tenant tool.TenantID, d *tool.Definition, batch []definition.Definition,
) error {
	name, _ := definition.PipelineOf(d)
	if slices.ContainsFunc(batch,
		func(b definition.Definition) bool { return b.Pipeline != nil && b.Pipeline.Slug == name }) {
		return nil
	}
	return r.checkPipeline(ctx, tenant, d)
}

// checkPipeline fails with tool.NotFound for a tool whose tenant does not have the
// pipeline. Calls check it again.
func (r *Registry) checkPipeline(ctx context.Context, tenant tool.TenantID, d *tool.Definition) error {
	name, path := definition.PipelineOf(d)
	if name == "" || r.opts.Pipelines == nil {
		return nil
	}
	if tenant == "" {
		return refusal.New(tool.Invalid, path, "pipelines belong to tenants: a tool of the platform can't name one")
	}
	err := r.opts.Pipelines(ctx, tenant, name)
	if err != nil && tool.KindOf(err) == tool.NotFound {
		return refusal.New(tool.NotFound, path, "pipeline %.80q not found: create it first", name)
	}
	if err != nil {
		return fmt.Errorf("finding pipeline %q: %w", name, err)
	}
	return nil
}
