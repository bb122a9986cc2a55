package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// retrievalBuiltin is the built-in that searches pipelines.
const retrievalBuiltin = "retrieval_pipeline"

// pipelineNamed returns the pipeline that a definition searches, by its id or
// slug, and where it says so; empty where it searches none of its own.
func pipelineNamed(d *tool.Definition) (name, path string) {
	var c struct {
		Builtin    string `json:"builtin"`
		PipelineID string `json:"pipeline_id"`
		Pipeline   string `json:"pipeline"`
	}
	impl := d.ImplementationType()
	if impl != tool.RAGRetrieval && impl != tool.Internal || json.Unmarshal(d.Config, &c) != nil ||
		impl == tool.Internal && c.Builtin != retrievalBuiltin {
		return "", ""
	}
	if c.PipelineID == "" && c.Pipeline != "" {
		return c.Pipeline, "/implementation_config/pipeline"
	}
	return c.PipelineID, "/implementation_config/pipeline_id"
}

// checkRetrieval refuses a rag_retrieval tool without a pipeline, and makes
// query an argument and an answer of it (reference numbers S3-18 and S3-19).
func checkRetrieval(s *ToolSpec) (err error) {
	if s.Implementation != tool.RAGRetrieval {
		return nil
	}
	if name, _ := pipelineNamed(&s.Definition); name == "" {
		return refuse(tool.Invalid, "/implementation_config/pipeline_id",
			"rag_retrieval requires a pipeline_id: the id or the slug of a pipeline")
	}
	if s.InputSchema, err = withQuery(s.InputSchema); err != nil {
		return within("/input_schema", err)
	}
	if s.OutputSchema, err = withQuery(s.OutputSchema); err != nil {
		return within("/output_schema", err)
	}
	return nil
}

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
	ctx context.Context, tenant tool.TenantID, d *tool.Definition, batch []Definition,
) error {
	name, _ := pipelineNamed(d)
	if slices.ContainsFunc(batch, func(b Definition) bool { return b.Pipeline != nil && b.Pipeline.Slug == name }) {
		return nil
	}
	return r.checkPipeline(ctx, tenant, d)
}

// checkPipeline refuses a tool whose pipeline its tenant has not. Calls look
// again.
func (r *Registry) checkPipeline(ctx context.Context, tenant tool.TenantID, d *tool.Definition) error {
	name, path := pipelineNamed(d)
	if name == "" || r.opts.Pipelines == nil {
		return nil
	}
	if tenant == "" {
		return refuse(tool.Invalid, path, "pipelines belong to tenants: a tool of the platform can't name one")
	}
	err := r.opts.Pipelines(ctx, tenant, name)
	if err != nil && tool.KindOf(err) == tool.NotFound {
		return refuse(tool.NotFound, path, "pipeline %.80q not found: create it first", name)
	}
	if err != nil {
		return fmt.Errorf("finding pipeline %q: %w", name, err)
	}
	return nil
}
