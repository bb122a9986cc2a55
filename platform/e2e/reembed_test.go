package e2e_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// reembed begins a generation and starts the building of it.
func (s *site) reembed(
	p retrieval.Pipeline, model *retrieval.EmbeddingConfig,
) (retrieval.Pipeline, client.WorkflowRun) {
	s.t.Helper()
	p, err := s.BeginGeneration(s.t.Context(), p, *model)
	require.NoError(s.t, err)
	id, in := wire.NewReembed(p.Tenant, p.ID, p.NextGeneration)
	w, err := s.temporal.ExecuteWorkflow(s.t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: s.queue},
		wire.ReembedWorkflow, in)
	require.NoError(s.t, err)
	return p, w
}

// A pipeline is re-embedded with another model while it is searched and fed,
// and the worker that does it is killed on the way. A search by meaning always
// finds documents; in the end everything is embedded anew.
func TestReembeddingWhileSearched(t *testing.T) {
	t.Parallel()

	e := newEmbeddings(t)
	s := newSite(t)
	p := s.pipeline(e.model(16))
	d := s.put(p, "rules", 60)
	settled := startChild(t, s.reader(e, ""))
	_, _, err := s.ingested(s.ingest(d), d)
	require.NoError(t, err)
	require.NoError(t, settled.Process.Kill())
	_ = settled.Wait()

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	engine := s.engine(e)
	var searches sync.WaitGroup
	failed := make(chan error, 2)
	for range 2 {
		searches.Go(func() {
			for ctx.Err() == nil {
				answer, err := engine.Search(ctx, d.Tenant, p.ID, retrieval.Query{
					Text: "section7 of rules", Mode: retrieval.Vector,
				})
				if ctx.Err() == nil && (err != nil || len(answer.Hits) != retrieval.DefaultLimit) {
					failed <- err
					return
				}
			}
		})
	}

	first := startChild(t, s.reader(e, afterEmbed))
	p, w := s.reembed(p, e.model(32))
	requireKilled(t, first)
	during := s.put(p, "joined", 8) // While the new generation is half built.
	startChild(t, s.reader(e, ""))
	_, during, err = s.ingested(s.ingest(during), during)
	require.NoError(t, err)
	require.Equal(t, retrieval.Ready, during.Status)

	var out wire.ReembedOutput
	waiting, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	require.NoError(t, w.Get(waiting, &out))
	require.Equal(t, wire.IngestReady, out.State)
	p, err = s.FindPipeline(t.Context(), p.Tenant, p.ID)
	require.NoError(t, err)
	require.Equal(t, []int{2, 0, 32}, []int{p.Generation, p.NextGeneration, p.Embedding.Dimensions})
	answer, err := engine.Search(t.Context(), d.Tenant, p.ID, retrieval.Query{
		Text: "section3 of joined", Mode: retrieval.Vector, Limit: 50,
	})
	require.NoError(t, err)
	require.Len(t, answer.Hits, 50)
	stop()
	searches.Wait()
	select {
	case err := <-failed:
		t.Fatal("a search found too little, or failed: ", err)
	default:
	}
	s.requireKept(w, "reembed")
}

// A model that refuses ends the building of its generation, and the pipeline
// stays with the one it has.
func TestReembeddingThatFailsChangesNothing(t *testing.T) {
	t.Parallel()

	e := newEmbeddings(t)
	s := newSite(t)
	p := s.pipeline(e.model(16))
	d := s.put(p, "rules", 4)
	startChild(t, s.reader(e, ""))
	_, _, err := s.ingested(s.ingest(d), d)
	require.NoError(t, err)
	e.mu.Lock()
	e.refuse = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	e.mu.Unlock()
	p, w := s.reembed(p, e.model(32))
	waiting, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	require.Equal(t, tool.Denied, tool.KindOf(failure.Decode(w.Get(waiting, nil))))
	p, err = s.FindPipeline(t.Context(), p.Tenant, p.ID)
	require.NoError(t, err)
	require.Equal(t, []int{1, 0, 16}, []int{p.Generation, p.NextGeneration, p.Embedding.Dimensions})
	s.requireKept(w, "reembed_failed")
}
