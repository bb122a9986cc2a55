package workflows_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/workflows"
)

// library stands for the activities of retrieval.
type library struct {
	env *testsuite.TestWorkflowEnvironment

	prepare []wire.PrepareDocumentOutput // One after the other; the last again and again.
	embed   func(generation, attempt int) (wire.EmbedOutput, error)
	finish  []wire.StateOutput // As prepare.

	mu      sync.Mutex
	log     []string
	reason  string
	dropped bool
	calls   map[string]int
}

func newLibrary() *library {
	var suite testsuite.WorkflowTestSuite
	l := &library{
		env: suite.NewTestWorkflowEnvironment(), calls: make(map[string]int),
		prepare: []wire.PrepareDocumentOutput{{State: wire.IngestWorking, Chunks: 10, Generations: []int{1}}},
		finish:  []wire.StateOutput{{State: wire.IngestReady}},
		embed: func(int, int) (wire.EmbedOutput, error) {
			return wire.EmbedOutput{State: wire.IngestReady, Embedded: 10}, nil
		},
	}
	l.env.SetTestTimeout(time.Minute)
	workflows.Register(l.env)
	register := func(name string, fn any) {
		l.env.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
	}
	register(wire.PrepareDocumentActivity, func(context.Context, wire.IngestInput) (wire.PrepareDocumentOutput, error) {
		return next(l.prepare, l.note("prepare")), nil
	})
	register(wire.EmbedDocumentActivity, func(_ context.Context, in wire.EmbedDocumentInput) (wire.EmbedOutput, error) {
		return l.embed(in.Generation, l.note("embed"))
	})
	register(wire.FinishDocumentActivity, func(context.Context, wire.IngestInput) (wire.StateOutput, error) {
		return next(l.finish, l.note("finish")), nil
	})
	register(wire.FailDocumentActivity, func(_ context.Context, in wire.FailDocumentInput) error {
		l.note("fail")
		l.reason = in.Reason
		return nil
	})
	register(wire.EmbedGenerationActivity, func(_ context.Context, in wire.ReembedInput) (wire.EmbedOutput, error) {
		return l.embed(in.Generation, l.note("embed"))
	})
	register(wire.PromoteGenerationActivity, func(context.Context, wire.ReembedInput) (wire.StateOutput, error) {
		return next(l.finish, l.note("promote")), nil
	})
	register(wire.DropGenerationActivity, func(_ context.Context, in wire.DropGenerationInput) error {
		l.note("drop")
		l.dropped, l.reason = true, in.Reason
		return nil
	})
	return l
}

// note writes down a step, and returns how often it came before.
func (l *library) note(step string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log = append(l.log, step)
	l.calls[step]++
	return l.calls[step] - 1
}

func next[T any](all []T, n int) T { return all[min(n, len(all)-1)] }

var document = wire.IngestInput{Tenant: tenant, DocumentID: "01890000-0000-7000-8000-00000000000d", Version: 3}

func (l *library) ingest(t *testing.T) (wire.IngestOutput, error) {
	t.Helper()
	l.env.ExecuteWorkflow(wire.IngestWorkflow, document)
	requireDone(t, l.env)
	var out wire.IngestOutput
	if err := l.env.GetWorkflowError(); err != nil {
		return out, err
	}
	return out, l.env.GetWorkflowResult(&out)
}

func TestIngestDoesItsStepsInOrder(t *testing.T) {
	t.Parallel()

	l := newLibrary()
	l.embed = func(_, n int) (wire.EmbedOutput, error) {
		if n == 0 {
			return wire.EmbedOutput{State: wire.IngestWorking, Embedded: 6}, nil
		}
		return wire.EmbedOutput{State: wire.IngestReady, Embedded: 4}, nil
	}
	out, err := l.ingest(t)
	require.NoError(t, err)
	require.Equal(t, wire.IngestOutput{State: wire.IngestReady, Chunks: 10, Embedded: 10}, out)
	require.Equal(t, []string{"prepare", "embed", "embed", "finish"}, l.log)
}

func TestIngestWithoutAModelEmbedsNothing(t *testing.T) {
	t.Parallel()

	l := newLibrary()
	l.prepare[0].Generations = nil
	out, err := l.ingest(t)
	require.NoError(t, err)
	require.Equal(t, wire.IngestOutput{State: wire.IngestReady, Chunks: 10}, out)
	require.Equal(t, []string{"prepare", "finish"}, l.log)
}

// A generation that is begun while a document is ingested is embedded too.
func TestIngestLooksAgainWhereEmbeddingsAreMissing(t *testing.T) {
	t.Parallel()

	l := newLibrary()
	l.prepare = append(l.prepare, wire.PrepareDocumentOutput{
		State: wire.IngestWorking, Chunks: 10, Generations: []int{1, 2},
	})
	l.finish = []wire.StateOutput{{State: wire.IngestWorking}, {State: wire.IngestReady}}
	var generations []int
	l.embed = func(generation, _ int) (wire.EmbedOutput, error) {
		generations = append(generations, generation)
		return wire.EmbedOutput{State: wire.IngestReady}, nil
	}
	out, err := l.ingest(t)
	require.NoError(t, err)
	require.Equal(t, wire.IngestReady, out.State)
	require.Equal(t, []int{1, 1, 2}, generations)
}

func TestIngestEndsWhereTheDocumentIsAnother(t *testing.T) {
	t.Parallel()

	for _, state := range []string{wire.IngestSuperseded, wire.IngestGone, wire.IngestReady} {
		l := newLibrary()
		l.prepare[0] = wire.PrepareDocumentOutput{State: state}
		out, err := l.ingest(t)
		require.NoError(t, err)
		require.Equal(t, state, out.State)
		require.Equal(t, []string{"prepare"}, l.log)
	}
	l := newLibrary()
	l.embed = func(int, int) (wire.EmbedOutput, error) { return wire.EmbedOutput{State: wire.IngestGone}, nil }
	out, err := l.ingest(t)
	require.NoError(t, err)
	require.Equal(t, wire.IngestGone, out.State)
	require.Equal(t, []string{"prepare", "embed"}, l.log)
}

func TestIngestRecordsWhyItFails(t *testing.T) {
	t.Parallel()

	for kind, says := range map[tool.Kind]string{
		tool.Denied:        "the credential is not accepted",
		tool.InternalError: "fault of the platform",
		tool.Unavailable:   "tried for a long time",
	} {
		l := newLibrary()
		attempts := 0
		l.embed = func(int, int) (wire.EmbedOutput, error) {
			attempts++
			return wire.EmbedOutput{}, failure.EncodeFinal(&tool.Error{Kind: kind, Msg: "the credential is not accepted"})
		}
		_, err := l.ingest(t)
		require.Equal(t, kind, tool.KindOf(failure.Decode(err)))
		require.Contains(t, l.reason, says)
		require.Equal(t, 1, attempts)
	}
}

// A model that is away is asked again, and one that wants to be left alone is,
// for as long as it says.
func TestIngestLeavesABusyModelAlone(t *testing.T) {
	t.Parallel()

	l := newLibrary()
	began := l.env.Now()
	l.embed = func(_, n int) (wire.EmbedOutput, error) {
		switch n {
		case 0:
			return wire.EmbedOutput{}, failure.Encode(&tool.Error{
				Kind: tool.RateLimited, Msg: "slow down", RetryAfter: 90 * time.Second,
			})
		case 1:
			return wire.EmbedOutput{State: wire.IngestWorking, Embedded: 5, Wait: 2 * time.Minute}, nil
		default:
			return wire.EmbedOutput{State: wire.IngestReady, Embedded: 5}, nil
		}
	}
	out, err := l.ingest(t)
	require.NoError(t, err)
	require.Equal(t, wire.IngestOutput{State: wire.IngestReady, Chunks: 10, Embedded: 10}, out)
	require.GreaterOrEqual(t, l.env.Now().Sub(began), 210*time.Second)
}

func TestIngestThatIsCancelledSaysSo(t *testing.T) {
	t.Parallel()

	l := newLibrary()
	l.embed = func(int, int) (wire.EmbedOutput, error) {
		return wire.EmbedOutput{State: wire.IngestWorking, Embedded: 1, Wait: time.Hour}, nil
	}
	l.env.RegisterDelayedCallback(l.env.CancelWorkflow, time.Minute)
	_, err := l.ingest(t)
	require.True(t, temporal.IsCanceledError(err), err)
	require.Contains(t, l.reason, "cancelled: put the document again")
}

func TestIngestContinuesAsNewWithALongHistory(t *testing.T) {
	t.Parallel()

	l := newLibrary()
	l.env.SetContinueAsNewSuggested(true)
	l.embed = func(int, int) (wire.EmbedOutput, error) {
		return wire.EmbedOutput{State: wire.IngestWorking, Embedded: 7}, nil
	}
	_, err := l.ingest(t)
	require.Equal(t, wire.IngestInput{Tenant: tenant, DocumentID: document.DocumentID, Version: 3, Embedded: 7},
		carried[wire.IngestInput](t, err))
}

// carried returns what an execution that continues as new carries on.
func carried[T any](t *testing.T, err error) (in T) {
	t.Helper()
	var again *workflow.ContinueAsNewError
	require.ErrorAs(t, err, &again)
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &in))
	return in
}

var generation = wire.ReembedInput{Tenant: tenant, PipelineID: "01890000-0000-7000-8000-00000000000e", Generation: 2}

func (l *library) reembed(t *testing.T) (wire.ReembedOutput, error) {
	t.Helper()
	l.env.ExecuteWorkflow(wire.ReembedWorkflow, generation)
	requireDone(t, l.env)
	var out wire.ReembedOutput
	if err := l.env.GetWorkflowError(); err != nil {
		return out, err
	}
	return out, l.env.GetWorkflowResult(&out)
}

// What is finished while a generation is built is embedded before it is
// promoted.
func TestReembedPromotesWhenNothingIsLeft(t *testing.T) {
	t.Parallel()

	l := newLibrary()
	l.finish = []wire.StateOutput{{State: wire.IngestWorking}, {State: wire.IngestReady}}
	out, err := l.reembed(t)
	require.NoError(t, err)
	require.Equal(t, wire.ReembedOutput{State: wire.IngestReady, Embedded: 20}, out)
	require.Equal(t, []string{"embed", "promote", "embed", "promote"}, l.log)
}

func TestReembedThatFailsLeavesThePipeline(t *testing.T) {
	t.Parallel()

	l := newLibrary()
	l.embed = func(int, int) (wire.EmbedOutput, error) {
		return wire.EmbedOutput{}, failure.Encode(&tool.Error{Kind: tool.Denied, Msg: "no"})
	}
	_, err := l.reembed(t)
	require.Equal(t, tool.Denied, tool.KindOf(failure.Decode(err)))
	require.True(t, l.dropped)
	require.Equal(t, "no", l.reason)

	l = newLibrary()
	l.embed = func(int, int) (wire.EmbedOutput, error) {
		return wire.EmbedOutput{State: wire.IngestSuperseded}, nil
	}
	out, err := l.reembed(t)
	require.NoError(t, err)
	require.Equal(t, wire.IngestSuperseded, out.State)
	require.False(t, l.dropped, "the one that took its place stays")
}

func TestReembedThatIsCancelledDropsTheGeneration(t *testing.T) {
	t.Parallel()

	l := newLibrary()
	l.embed = func(int, int) (wire.EmbedOutput, error) {
		return wire.EmbedOutput{State: wire.IngestWorking, Wait: time.Hour}, nil
	}
	l.env.RegisterDelayedCallback(l.env.CancelWorkflow, time.Minute)
	_, err := l.reembed(t)
	require.True(t, temporal.IsCanceledError(err), err)
	require.True(t, l.dropped)
	require.Contains(t, l.reason, "cancelled")
}

func TestReembedContinuesAsNewWithALongHistory(t *testing.T) {
	t.Parallel()

	l := newLibrary()
	l.env.SetCurrentHistoryLength(5000)
	l.embed = func(int, int) (wire.EmbedOutput, error) {
		return wire.EmbedOutput{State: wire.IngestWorking, Embedded: 100}, nil
	}
	_, err := l.reembed(t)
	in := carried[wire.ReembedInput](t, err)
	require.Equal(t, wire.ReembedInput{Tenant: tenant, PipelineID: generation.PipelineID, Generation: 2, Embedded: 100},
		in)
	require.False(t, l.dropped)
}
