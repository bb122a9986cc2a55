package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/wire"
)

// Reembed builds a new generation of a pipeline's embeddings beside the one in
// use, and then switches searches to the new one at once. Documents that are
// ingested meanwhile are embedded in both. Where it fails or is cancelled, the
// new generation is dropped, and the pipeline is unchanged.
func Reembed(ctx workflow.Context, in wire.ReembedInput) (wire.ReembedOutput, error) {
	out := wire.ReembedOutput{Embedded: in.Embedded}
	var err error
	out.State, err = reembed(ctx, in, &out.Embedded)
	if err != nil {
		detached, cancel := workflow.NewDisconnectedContext(ctx)
		defer cancel()
		dropping := workflow.WithActivityOptions(detached, bookkeepingOptions("drop the new generation"))
		dropped := wire.DropGenerationInput{ReembedInput: in, Reason: reasonOfReembedding(err)}
		if err := workflow.ExecuteActivity(dropping, wire.DropGenerationActivity, dropped).Get(dropping, nil); err != nil {
			// The store keeps a generation that the pipeline is searched by.
			workflow.GetLogger(ctx).Error("dropping a generation of embeddings failed", "error", err)
		}
		return out, failure.Encode(err)
	}
	if out.State == wire.IngestWorking {
		in.Embedded = out.Embedded
		return out, continueAsNew(ctx, wire.ReembedWorkflow, in)
	}
	return out, nil
}

// reembed embeds and promotes. It returns working where the history is long
// enough to continue as new.
func reembed(ctx workflow.Context, in wire.ReembedInput, count *int) (state string, err error) {
	summary := fmt.Sprintf("embed what is searched in generation %d", in.Generation)
	for {
		state, err := embed(ctx, count, summary, wire.EmbedGenerationActivity, in)
		if err != nil || state != wire.IngestReady {
			return state, err
		}
		var promoted wire.StateOutput
		promoting := workflow.WithActivityOptions(ctx, promoteOptions("have the new generation searched"))
		if err := workflow.ExecuteActivity(promoting, wire.PromoteGenerationActivity, in).Get(promoting,
			&promoted); err != nil {
			return "", err //nolint:wrapcheck // Its Encode reads it.
		}
		if promoted.State != wire.IngestWorking || full(ctx) {
			return promoted.State, nil
		}
	}
}

// maxEvents is the approximate number of history events after which an
// embedding workflow continues as new.
const maxEvents = 2000

// full reports whether the history is long enough.
func full(ctx workflow.Context) bool {
	return renewable(ctx) || workflow.GetInfo(ctx).GetCurrentHistoryLength() > maxEvents
}

// promoteOptions are for the activity that switches searches to a generation
// and deletes the previous one, which takes long for a large one.
func promoteOptions(summary string) workflow.ActivityOptions {
	o := bookkeepingOptions(summary)
	o.StartToCloseTimeout = prepareOptions("").StartToCloseTimeout
	o.HeartbeatTimeout = heartbeatTimeout
	return o
}
