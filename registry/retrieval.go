package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// checkBroughtPipeline is checkPipeline, but for a pipeline that is not there while
// nothing is written: the same batch may bring it.
func (r *Registry) checkBroughtPipeline(ctx context.Context, tenant tool.TenantID, d *tool.Definition) error {
	err := r.checkPipeline(ctx, tenant, d)
	if r.dry && tool.KindOf(err) == tool.NotFound {
		return nil
	}
	return err
}

// checkPipelineIn refuses a tool whose pipeline is neither there nor in a batch.
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

// checkPipeline refuses a tool whose pipeline its tenant has not. Calls look
// again.
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
