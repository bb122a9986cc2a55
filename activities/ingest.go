package activities

import (
	"context"
	"log/slog"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/ingest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// registerIngestion registers the activities of retrieval.
func (a *Activities) registerIngestion(register func(name string, fn any)) {
	register(wire.PrepareDocumentActivity, a.PrepareDocument)
	register(wire.EmbedDocumentActivity, a.EmbedDocument)
	register(wire.FinishDocumentActivity, a.FinishDocument)
	register(wire.FailDocumentActivity, a.FailDocument)
	register(wire.EmbedGenerationActivity, a.EmbedGeneration)
	register(wire.PromoteGenerationActivity, a.PromoteGeneration)
	register(wire.DropGenerationActivity, a.DropGeneration)
}

// PrepareDocument extracts, chunks and stores the text of a document. It is idempotent.
func (a *Activities) PrepareDocument(ctx context.Context, in wire.IngestInput) (wire.PrepareDocumentOutput, error) {
	defer heartbeat(ctx)()
	return step(ctx, a, in.Tenant, documentAttrs(in), func(i *ingest.Ingester) (wire.PrepareDocumentOutput, error) {
		p, err := i.Prepare(ctx, documentRef(in))
		return wire.PrepareDocumentOutput{State: string(p.State), Chunks: p.Chunks, Generations: p.Generations}, err
	})
}

// EmbedDocument embeds chunks of a document for a limited time. Each batch is stored at once, so
// that the next attempt resumes after it.
func (a *Activities) EmbedDocument(ctx context.Context, in wire.EmbedDocumentInput) (wire.EmbedOutput, error) {
	var report progressReport
	defer heartbeat(ctx, report.get)()
	return step(ctx, a, in.Tenant, documentAttrs(in.IngestInput), func(i *ingest.Ingester) (wire.EmbedOutput, error) {
		return embedOutput(i.Embed(ctx, documentRef(in.IngestInput), in.Generation, report.embedded))
	})
}

// FinishDocument makes a document searchable.
func (a *Activities) FinishDocument(ctx context.Context, in wire.IngestInput) (wire.StateOutput, error) {
	return step(ctx, a, in.Tenant, documentAttrs(in), func(i *ingest.Ingester) (wire.StateOutput, error) {
		state, err := i.Finish(ctx, documentRef(in))
		return wire.StateOutput{State: string(state)}, err
	})
}

// FailDocument records why the ingestion of a document failed.
func (a *Activities) FailDocument(ctx context.Context, in wire.FailDocumentInput) error {
	_, err := step(ctx, a, in.Tenant, documentAttrs(in.IngestInput), func(i *ingest.Ingester) (struct{}, error) {
		return struct{}{}, i.Fail(ctx, documentRef(in.IngestInput), in.Reason)
	})
	return err
}

// EmbedGeneration embeds searchable chunks in a new generation, for a limited time.
func (a *Activities) EmbedGeneration(ctx context.Context, in wire.ReembedInput) (wire.EmbedOutput, error) {
	var report progressReport
	defer heartbeat(ctx, report.get)()
	return step(ctx, a, in.Tenant, generationAttrs(in), func(i *ingest.Ingester) (wire.EmbedOutput, error) {
		return embedOutput(i.EmbedGeneration(ctx, generationRef(in), report.embedded))
	})
}

// PromoteGeneration switches searches to a generation.
func (a *Activities) PromoteGeneration(ctx context.Context, in wire.ReembedInput) (wire.StateOutput, error) {
	defer heartbeat(ctx)()
	return step(ctx, a, in.Tenant, generationAttrs(in), func(i *ingest.Ingester) (wire.StateOutput, error) {
		state, err := i.Promote(ctx, generationRef(in))
		return wire.StateOutput{State: string(state)}, err
	})
}

// DropGeneration stops building a generation, and records why.
func (a *Activities) DropGeneration(ctx context.Context, in wire.DropGenerationInput) error {
	_, err := step(ctx, a, in.Tenant, generationAttrs(in.ReembedInput), func(i *ingest.Ingester) (struct{}, error) {
		return struct{}{}, i.Drop(ctx, generationRef(in.ReembedInput), in.Reason)
	})
	return err
}

// step runs one step of ingestion for a tenant, and encodes its error.
func step[T any](
	ctx context.Context, a *Activities, tenant tool.TenantID, attrs []any, do func(*ingest.Ingester) (T, error),
) (T, error) {
	var none T
	if err := checkTenant(ctx, tenant); err != nil {
		return none, failure.Encode(err)
	}
	if a.Ingester == nil {
		return none, failure.Encode(&tool.Error{
			Kind: tool.Conflict, Op: "activities", Msg: "this worker does not ingest documents",
		})
	}
	out, err := do(a.Ingester)
	if err != nil {
		logFailure(ctx, "a step of ingestion failed", err, attrs...)
		return none, encode(ctx, err)
	}
	return out, nil
}

// embedded reports how many chunks a step has embedded.
func (r *progressReport) embedded(n int) {
	r.set(tool.Progress{Message: "embedding", Done: float64(n)})
}

func embedOutput(s ingest.Slice, err error) (wire.EmbedOutput, error) {
	return wire.EmbedOutput{State: string(s.State), Embedded: s.Embedded, Wait: s.Wait}, err
}

func documentRef(in wire.IngestInput) retrieval.DocumentRef {
	return retrieval.DocumentRef{Tenant: in.Tenant, Document: in.DocumentID, Version: in.Version}
}

func generationRef(in wire.ReembedInput) retrieval.GenerationRef {
	return retrieval.GenerationRef{Tenant: in.Tenant, Pipeline: in.PipelineID, Generation: in.Generation}
}

func documentAttrs(in wire.IngestInput) []any {
	return []any{
		slog.String("tenant_id", string(in.Tenant)), slog.String("document_id", in.DocumentID),
		slog.Int64("version", in.Version),
	}
}

func generationAttrs(in wire.ReembedInput) []any {
	return []any{
		slog.String("tenant_id", string(in.Tenant)), slog.String("pipeline_id", in.PipelineID),
		slog.Int("generation", in.Generation),
	}
}
