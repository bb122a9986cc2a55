package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// maxRounds bounds how often a document is checked again for embeddings that
// became necessary meanwhile: a new generation was begun.
const maxRounds = 20

// maxWait bounds the wait before a model is asked again.
const maxWait = time.Hour

// Ingest ingests a version of a document into its pipeline: its text is
// extracted, cut into chunks, stored, embedded where the pipeline has a model,
// and then made searchable at once. Work of an earlier worker is not repeated.
// Where it fails or is cancelled, the document records why, and its previous
// content stays searchable.
func Ingest(ctx workflow.Context, in wire.IngestInput) (wire.IngestOutput, error) {
	out := wire.IngestOutput{Embedded: in.Embedded}
	err := ingest(ctx, in, &out)
	if err != nil {
		detached, cancel := workflow.NewDisconnectedContext(ctx)
		defer cancel()
		failing := workflow.WithActivityOptions(detached, bookkeepingOptions("record why the document is not ingested"))
		failed := wire.FailDocumentInput{IngestInput: in, Reason: reasonOf(err)}
		if err := workflow.ExecuteActivity(failing, wire.FailDocumentActivity, failed).Get(failing, nil); err != nil {
			workflow.GetLogger(ctx).Error("recording why a document is not ingested failed", "error", err)
		}
		return out, failure.Encode(err)
	}
	if out.State == wire.IngestWorking {
		in.Embedded = out.Embedded
		return out, continueAsNew(ctx, wire.IngestWorkflow, in)
	}
	return out, nil
}

// ingest does the remaining work, until the document is done or the history is
// long enough to continue as new.
func ingest(ctx workflow.Context, in wire.IngestInput, out *wire.IngestOutput) error {
	for range maxRounds {
		var prepared wire.PrepareDocumentOutput
		preparing := workflow.WithActivityOptions(ctx, prepareOptions("extract and cut"))
		if err := workflow.ExecuteActivity(preparing, wire.PrepareDocumentActivity, in).Get(preparing,
			&prepared); err != nil {
			return err //nolint:wrapcheck // Its Encode reads it.
		}
		if out.State, out.Chunks = prepared.State, prepared.Chunks; out.State != wire.IngestWorking {
			return nil
		}
		for _, generation := range prepared.Generations {
			summary := fmt.Sprintf("embed %d chunks in generation %d", out.Chunks, generation)
			state, err := embed(ctx, &out.Embedded, summary, wire.EmbedDocumentActivity, wire.EmbedDocumentInput{
				IngestInput: in, Generation: generation,
			})
			if err != nil {
				return err
			}
			if state != wire.IngestReady {
				out.State = state
				return nil
			}
		}
		var finished wire.StateOutput
		finishing := workflow.WithActivityOptions(ctx, bookkeepingOptions("have the document searched"))
		if err := workflow.ExecuteActivity(finishing, wire.FinishDocumentActivity, in).Get(finishing, &finished); err != nil {
			return err //nolint:wrapcheck // Its Encode reads it.
		}
		if out.State = finished.State; out.State != wire.IngestWorking {
			return nil
		}
	}
	return &tool.Error{
		Kind: tool.Conflict, Op: "workflows.Ingest",
		Msg: "the pipeline changed its embedding model again and again while the document was ingested: put it again",
	}
}

// embed runs embedding activities until nothing is left, and waits between them
// for as long as the model asks. It returns working where the history is long
// enough to continue as new.
func embed(ctx workflow.Context, count *int, summary, activity string, in any) (state string, err error) {
	embedding := workflow.WithActivityOptions(ctx, embedOptions(summary))
	for {
		var out wire.EmbedOutput
		if err := workflow.ExecuteActivity(embedding, activity, in).Get(embedding, &out); err != nil {
			return "", err //nolint:wrapcheck // Its Encode reads it.
		}
		*count += out.Embedded
		if out.State != wire.IngestWorking {
			return out.State, nil
		}
		if out.Wait > 0 {
			wait := workflow.TimerOptions{Summary: "leave the embedding model alone"}
			if err := workflow.NewTimerWithOptions(ctx, min(out.Wait, maxWait), wait).Get(ctx, nil); err != nil {
				return "", err //nolint:wrapcheck // It was cancelled.
			}
		}
		if full(ctx) {
			return wire.IngestWorking, nil
		}
	}
}

// reasonOf says why a document is not ingested, for the user who put it.
func reasonOf(err error) string {
	e := tool.AsError(failure.Decode(err))
	switch {
	case e.Kind == tool.Cancelled:
		return "its ingestion was cancelled: put the document again"
	case e.Kind == tool.InternalError || e.Msg == "":
		return "it could not be ingested because of a fault of the platform: put it again, or ask the operator, who finds " +
			"the cause in the worker's log"
	case e.Kind.Retryable():
		return e.Msg + ": it was tried for a long time; put the document again later"
	default:
		return e.Msg
	}
}

// reasonOfReembedding says why a re-embedding was abandoned, for the user who
// asked for it.
func reasonOfReembedding(err error) string {
	e := tool.AsError(failure.Decode(err))
	switch {
	case e.Kind == tool.Cancelled:
		return "the embedding was cancelled: ask for it again"
	case e.Kind == tool.InternalError || e.Msg == "":
		return "a fault of the platform: ask for it again, or ask the operator, who finds the cause in the worker's log"
	case e.Kind.Retryable():
		return e.Msg + ": it was tried for a long time; ask for it again later"
	default:
		return e.Msg
	}
}

// prepareOptions are for the activity that reads and cuts a document.
func prepareOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: 5 * time.Minute,
		HeartbeatTimeout:    heartbeatTimeout,
		WaitForCancellation: true,
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: wire.CallRetryInterval, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second,
			MaximumAttempts: 30,
		},
	}
}

// embedOptions are for activities that ask an embedding model. They are retried
// for about an hour, for a model that is unavailable.
func embedOptions(summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: 10 * time.Minute,
		HeartbeatTimeout:    heartbeatTimeout,
		WaitForCancellation: true,
		Summary:             summary,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 60,
		},
	}
}
