package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// maxDocuments is how many documents, and how many generations, a pass looks at.
const maxDocuments = 1000

// documents closes what is ingested or embedded by no workflow any more: a
// document fails, for a reason that its owner may read, and a generation of
// embeddings is dropped. What was searched before still is.
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
			f := Finding{Subject: DocumentSubject, Tenant: ref.Tenant, ID: ref.Document, WorkflowID: id, Was: "ingesting", Status: string(retrieval.Failed)}
			return r.closePart(ctx, f, open, dry, found, func(reason string) error {
				_, err := r.cfg.Store.FailDocument(ctx, ref, reason+": put the document again")
				return err //nolint:wrapcheck // Its caller does.
			})
		}),
		r.each(ctx, len(generations), func(ctx context.Context, i int) error {
			ref := generations[i]
			id, _ := wire.NewReembed(ref.Tenant, ref.Pipeline, ref.Generation)
			f := Finding{Subject: GenerationSubject, Tenant: ref.Tenant, ID: ref.Pipeline, WorkflowID: id, Was: "building", Status: "dropped"}
			return r.closePart(ctx, f, open, dry, found, func(reason string) error {
				_, err := r.cfg.Store.DropGeneration(ctx, ref, reason+": ask for it again")
				return err //nolint:wrapcheck // Its caller does.
			})
		}),
	)
}

// closePart closes a part of a pipeline whose workflow is over.
func (r *Reconciler) closePart(
	ctx context.Context, f Finding, open map[string]workflowRef, dry bool, found *findings, closing func(reason string) error,
) error {
	if _, listed := open[f.WorkflowID]; listed {
		return nil
	}
	x, err := r.describe(ctx, f.WorkflowID, "")
	if err != nil || !x.over(r.cfg.Grace) {
		return err
	}
	e, err := r.endOf(ctx, f.WorkflowID, agent.HostRun, true, x)
	if err != nil {
		return err
	}
	f.Reason, f.Message = e.reason, "its workflow is over and did not say so"
	switch {
	case x.missing:
		f.Message = "its workflow is not in Temporal"
	case e.reason == WorkflowTerminated:
		f.Message = "its workflow was terminated"
	case e.reason == WorkflowTimedOut:
		f.Message = "its workflow reached its time limit in Temporal"
	}
	if !dry {
		switch err := closing(f.Message); {
		case err == nil:
			f.Closed = true
		case tool.KindOf(err) == tool.Conflict || tool.KindOf(err) == tool.NotFound: // It changed, or can't do without.
			f.Message += "; it was left as it is: " + tool.AsError(err).Msg
		default:
			return fmt.Errorf("closing %s %s: %w", f.Subject, f.ID, err)
		}
	}
	found.add(f)
	return nil
}
