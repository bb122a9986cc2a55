package api

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// ingest starts the ingestion of a document's version, unless it was started
// before.
func (s *server) ingest(ctx context.Context, d retrieval.Document) error {
	id, input := wire.NewIngest(d.Tenant, d.ID, d.Version)
	return s.begin(
		ctx, agent.Start{Tenant: d.Tenant, WorkflowID: id, Workflow: wire.IngestWorkflow, Summary: "ingest " + d.Key}, input,
	)
}

// begin starts a workflow without a run, once for each workflow id.
func (s *server) begin(ctx context.Context, start agent.Start, input any) (err error) {
	if start.Input, err = json.Marshal(input); err != nil {
		return fmt.Errorf("encoding the workflow's input: %w", err)
	}
	return s.runs.Begin(ctx, requestOf(ctx), start)
}

// reembedPipeline begins a new generation of the pipeline with the given
// embedding model, and starts embedding the searchable documents in it.
func (s *server) reembedPipeline(ctx context.Context, p tool.Principal, in *reembedInput) (*pipelineOutput, error) {
	found, err := s.changingPipeline(ctx, p, in.Pipeline, in.Changing)
	if err != nil {
		return nil, err
	}
	config := in.Body.Embedding.Config()
	if err := config.Check("/embedding"); err != nil {
		return nil, fmt.Errorf("checking the embedding model: %w", err)
	}
	begun, err := s.beginGeneration(ctx, found, config)
	if err != nil {
		return nil, in.outrun(err)
	}
	if err := s.buildGeneration(ctx, begun); err != nil {
		return nil, err
	}
	begun.Documents = found.Documents
	return showPipeline(begun), nil
}
