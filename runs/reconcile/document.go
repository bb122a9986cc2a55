package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// maxDocuments bounds the documents, and the generations, of one pass.
const maxDocuments = 1000

// documents closes ingestions and generations without a running workflow: a document fails, with a reason
// for its owner, and a generation of embeddings is dropped. Live content stays searchable.
func (r *Reconciler) documents(ctx context.Context, open map[string]workflowRef, dry bool, found *findings) error {
	documents, err := r.cfg.Maintenance.OpenDocuments(ctx, retrieval.DocumentRef{}, r.cfg.Grace, maxDocuments)
	if err != nil {
		return fmt.Errorf("listing documents that are being ingested: %w", err)
	}
	generations, err := r.cfg.Maintenance.OpenGenerations(ctx, retrieval.GenerationRef{}, r.cfg.Grace, maxDocuments)
	if err != nil {
		return fmt.Errorf("listing generations that are being built: %w", err)
	}
	return errors.Join(
		r.each(ctx, len(documents), func(ctx context.Context, i int) error {
			ref := documents[i].DocumentRef
			id, _ := wire.NewIngest(ref.Tenant, ref.Document, ref.Version)
			f := Finding{
				Subject: DocumentSubject, Tenant: ref.Tenant, ID: ref.Document, WorkflowID: id, Was: "ingesting",
				Status: string(retrieval.Failed),
			}
			return r.closePart(ctx, f, open, dry, found, r.failDocument(ctx, ref))
		}),
		r.each(ctx, len(generations), func(ctx context.Context, i int) error {
			ref := generations[i]
			id, _ := wire.NewReembed(ref.Tenant, ref.Pipeline, ref.Generation)
			f := Finding{
				Subject: GenerationSubject, Tenant: ref.Tenant, ID: ref.Pipeline, WorkflowID: id, Was: "building",
				Status: "dropped",
			}
			return r.closePart(ctx, f, open, dry, found, r.dropGeneration(ctx, ref))
		}),
	)
}

// Document checks one document on request, and fails it if its ingestion has ended without recording it. It
// returns the document's current state; one that is being ingested, or will be, is unchanged. It fails with
// tool.Unavailable if Temporal does not answer.
func (r *Reconciler) Document(ctx context.Context, d retrieval.Document) (retrieval.Document, error) {
	if d.Status != retrieval.Pending && d.Status != retrieval.Ingesting {
		return d, nil
	}
	ref := d.Ref()
	id, _ := wire.NewIngest(ref.Tenant, ref.Document, ref.Version)
	f := Finding{
		Subject: DocumentSubject, Tenant: ref.Tenant, ID: ref.Document, WorkflowID: id, Was: string(d.Status),
		Status: string(retrieval.Failed),
	}
	closed, err := r.lookAtPart(ctx, f, d.UpdatedAt, r.failDocument(ctx, ref))
	if err != nil || !closed {
		return d, err
	}
	return r.cfg.Store.FindDocument(ctx, d.Tenant, d.PipelineID, d.ID)
}

// Pipeline is [Reconciler.Document] for the generation of embeddings that a pipeline is building.
func (r *Reconciler) Pipeline(ctx context.Context, p retrieval.Pipeline) (retrieval.Pipeline, error) {
	if p.NextGeneration == 0 || p.EmbeddingError != "" {
		return p, nil
	}
	ref := retrieval.GenerationRef{Tenant: p.Tenant, Pipeline: p.ID, Generation: p.NextGeneration}
	id, _ := wire.NewReembed(ref.Tenant, ref.Pipeline, ref.Generation)
	f := Finding{
		Subject: GenerationSubject, Tenant: ref.Tenant, ID: ref.Pipeline, WorkflowID: id, Was: "building", Status: "dropped",
	}
	closed, err := r.lookAtPart(ctx, f, p.UpdatedAt, r.dropGeneration(ctx, ref))
	if err != nil || !closed {
		return p, err
	}
	return r.cfg.Store.FindPipeline(ctx, p.Tenant, p.ID)
}

func (r *Reconciler) failDocument(ctx context.Context, ref retrieval.DocumentRef) func(reason string) error {
	return func(reason string) error {
		_, err := r.cfg.Store.FailDocument(ctx, ref, reason+": put the document again")
		return err
	}
}

func (r *Reconciler) dropGeneration(ctx context.Context, ref retrieval.GenerationRef) func(reason string) error {
	return func(reason string) error {
		_, err := r.cfg.Store.DropGeneration(ctx, ref, reason+": ask for it again")
		return err
	}
}

// lookAtPart closes a part of a pipeline if its workflow has ended. changed is its last change. It reports
// whether the part may have changed since.
func (r *Reconciler) lookAtPart(
	ctx context.Context, f Finding, changed time.Time, closing func(reason string) error,
) (bool, error) {
	x, err := r.describe(ctx, f.WorkflowID, "")
	if err != nil || x.open {
		return false, err
	}
	if x.missing {
		if age := time.Since(changed); age < r.cfg.Grace && age > -store.MaxLease { // It may be starting.
			return false, nil
		}
		_, err := r.cfg.Store.FindStart(ctx, agent.StartKey{Tenant: f.Tenant, WorkflowID: f.WorkflowID})
		if tool.KindOf(err) != tool.NotFound { // Its start is pending.
			return false, err
		}
	}
	if f, err = r.closeEnded(ctx, f, x, false, closing); err != nil {
		return false, err
	}
	r.record(ctx, []Finding{f})
	return true, nil
}

// closePart closes a part of a pipeline whose workflow has ended.
func (r *Reconciler) closePart(
	ctx context.Context, f Finding, open map[string]workflowRef, dry bool, found *findings,
	closing func(reason string) error,
) error {
	if _, listed := open[f.WorkflowID]; listed {
		return nil
	}
	x, err := r.describe(ctx, f.WorkflowID, "")
	if err != nil || !x.over(r.cfg.Grace) {
		return err
	}
	if f, err = r.closeEnded(ctx, f, x, dry, closing); err == nil {
		found.add(f)
	}
	return err
}

// closeEnded closes a part of a pipeline whose workflow's last execution is x.
func (r *Reconciler) closeEnded(
	ctx context.Context, f Finding, x execution, dry bool, closing func(reason string) error,
) (Finding, error) {
	e, err := r.endOf(ctx, f.WorkflowID, agent.RunKindHost, true, x)
	if err != nil {
		return f, err
	}
	f.Reason, f.Message = e.reason, "its workflow ended without recording it"
	switch {
	case x.missing:
		f.Message = "its workflow is not in Temporal"
	case e.reason == WorkflowTerminated:
		f.Message = "its workflow was terminated" + strings.TrimPrefix(e.msg, "the run's workflow was terminated")
	case e.reason == WorkflowTimedOut:
		f.Message = "its workflow reached its time limit in Temporal"
	}
	if !dry {
		switch err := closing(f.Message); {
		case err == nil:
			f.Closed = true
		case tool.KindOf(err) == tool.Conflict || tool.KindOf(err) == tool.NotFound: // It changed, or is required.
			f.Message += "; it was left unchanged: " + tool.AsError(err).Msg
		default:
			return f, fmt.Errorf("closing %s %s: %w", f.Subject, f.ID, err)
		}
	}
	return f, nil
}
