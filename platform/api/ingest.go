package api

import (
	"context"
	"fmt"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// ingest starts the ingestion of a document's version, unless somebody has.
func (s *server) ingest(ctx context.Context, d retrieval.Document) error {
	id, input := wire.NewIngest(d.Tenant, d.ID, d.Version)
	return s.begin(ctx, d.Tenant, start{id: id, workflow: wire.IngestWorkflow, summary: "ingest " + d.Key, input: input})
}

// begin starts a workflow that is started once, whoever asks for it.
func (s *server) begin(ctx context.Context, tenant tool.TenantID, w start) error {
	if _, err := s.startWorkflow(ctx, tenant, w); err != nil && !isStarted(err) {
		return err
	}
	return nil
}

// reembedPipeline makes the model that of a new generation, and starts the
// embedding of what is searched.
func (s *server) reembedPipeline(ctx context.Context, p tool.Principal, in *reembedInput) (*pipelineOutput, error) {
	found, err := s.changingPipeline(ctx, p, in.Pipeline, in.Changing)
	if err != nil {
		return nil, err
	}
	config := in.Body.Embedding.Config()
	if err := config.Check("/embedding"); err != nil {
		return nil, fmt.Errorf("checking the embedding model: %w", err)
	}
	begun, err := s.cfg.Retrieval.BeginGeneration(ctx, found, config)
	if err != nil {
		return nil, in.outrun(err)
	}
	id, input := wire.NewReembed(p.Tenant, begun.ID, begun.NextGeneration)
	if err := s.begin(ctx, p.Tenant, start{id: id, workflow: wire.ReembedWorkflow, summary: "re-embed " + begun.Slug, input: input}); err != nil {
		return nil, err
	}
	begun.Documents = found.Documents
	return showPipeline(begun), nil
}
