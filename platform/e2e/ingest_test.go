package e2e_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// A worker is killed while it ingests. The next one goes on where it was: what
// was stored is neither cut nor embedded again.
func TestKilledIngestionGoesOn(t *testing.T) {
	t.Parallel()

	const sections = 60
	for at, again := range map[point]int{afterExtract: 0, afterEmbed: 4 * 4} { // At most what was under way.
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()

			e := newEmbeddings(t)
			s := newSite(t)
			d := s.put(s.pipeline(e.model(16)), "rules", sections)
			first := startChild(t, s.reader(e, at))
			w := s.ingest(d)
			requireKilled(t, first)
			interrupted, err := s.FindDocument(t.Context(), d.Tenant, d.PipelineID, d.ID)
			require.NoError(t, err)
			require.Equal(t, retrieval.Ingesting, interrupted.Status)
			if at == afterEmbed {
				require.Equal(t, sections, interrupted.Chunks, "progress is on record")
			}

			startChild(t, s.reader(e, ""))
			out, d, err := s.ingested(w, d)
			require.NoError(t, err)
			require.Equal(t, wire.IngestReady, out.State)
			require.Equal(t, retrieval.Ready, d.Status)
			require.Equal(t, []int{sections, sections}, []int{d.Chunks, d.Embedded})
			require.Equal(t, d.Version, d.LiveVersion)
			require.LessOrEqual(t, e.requests(), (sections+again)/4)
			answer, err := s.engine(e).Search(t.Context(), d.Tenant, "handbook", retrieval.Query{
				Text: "section41", Mode: retrieval.FullText,
			})
			require.NoError(t, err)
			require.NotEmpty(t, answer.Hits)
			require.Equal(t, []string{"Handbook rules", "Section 41"}, answer.Hits[0].Headings)
			s.requireKept(w, "")
		})
	}
}

func TestIngestionIsOne(t *testing.T) {
	t.Parallel()

	e := newEmbeddings(t)
	s := newSite(t)
	d := s.put(s.pipeline(e.model(16)), "rules", 10)
	w := s.ingest(d)
	again := s.ingest(d)
	require.Equal(t, w.GetRunID(), again.GetRunID(), "started twice, it is one")
	startChild(t, s.reader(e, ""))
	out, d, err := s.ingested(w, d)
	require.NoError(t, err)
	require.Equal(t, wire.IngestOutput{State: wire.IngestReady, Chunks: 10, Embedded: 10}, out)
	s.requireKept(w, "ingest_embedded")
	asked := e.requests()

	out, _, err = s.ingested(s.ingest(d), d) // The first has ended: it runs again, and finds nothing to do.
	require.NoError(t, err)
	require.Equal(t, wire.IngestOutput{State: wire.IngestReady, Chunks: 10}, out)
	require.Equal(t, asked, e.requests())
}

func TestIngestionWithoutAModel(t *testing.T) {
	t.Parallel()

	e := newEmbeddings(t)
	s := newSite(t)
	p := s.pipeline(nil)
	d := s.put(p, "rules", 10)
	startChild(t, s.reader(e, ""))
	w := s.ingest(d)
	_, d, err := s.ingested(w, d)
	require.NoError(t, err)
	require.Equal(t, retrieval.Ready, d.Status)
	require.Zero(t, e.requests())
	s.requireKept(w, "ingest_full_text")

	// What is searched stays so until its replacement is ready, and only that is
	// then.
	replaced := s.putAs(p, "rules", retrieval.Markdown, "# New\n\nNothing of parcels any longer, but of letters.")
	require.Equal(t, d.ID, replaced.ID)
	hits := func(word string) int {
		answer, err := s.engine(e).Search(t.Context(), d.Tenant, "handbook", retrieval.Query{Text: word, Limit: 50})
		require.NoError(t, err)
		return len(answer.Hits)
	}
	require.Equal(t, []int{10, 0}, []int{hits("parcels"), hits("letters")})
	stale, in := wire.NewIngest(d.Tenant, d.ID, d.Version)
	late, err := s.temporal.ExecuteWorkflow(t.Context(),
		client.StartWorkflowOptions{ID: stale + "-again", TaskQueue: s.queue}, wire.IngestWorkflow, in)
	require.NoError(t, err)
	out, _, err := s.ingested(late, d)
	require.NoError(t, err)
	require.Equal(t, wire.IngestSuperseded, out.State)
	s.requireKept(late, "ingest_superseded")
	_, d, err = s.ingested(s.ingest(replaced), replaced)
	require.NoError(t, err)
	require.Equal(t, "New", d.Title)
	require.Equal(t, []int{1, 1}, []int{hits("parcels"), hits("letters")})
}

// A model that asks to be left alone is, and the document gets there.
func TestIngestionWaitsForABusyModel(t *testing.T) {
	t.Parallel()

	e := newEmbeddings(t)
	e.refuse = func(request int, w http.ResponseWriter, _ *http.Request) bool {
		if request == 1 || request == 4 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		return false
	}
	s := newSite(t)
	d := s.put(s.pipeline(e.model(16)), "rules", 40)
	startChild(t, s.reader(e, ""))
	w := s.ingest(d)
	_, d, err := s.ingested(w, d)
	require.NoError(t, err)
	require.Equal(t, []int{40, 40}, []int{d.Chunks, d.Embedded})
	require.Equal(t, 12, e.requests(), "what was refused is asked for again, and nothing else")
	s.requireKept(w, "ingest_busy_model")
}

// What can't be ingested says why on the document, and is not tried for ever.
func TestIngestionThatFailsSaysWhy(t *testing.T) {
	t.Parallel()

	e := newEmbeddings(t)
	e.refuse = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	s := newSite(t)
	p := s.pipeline(e.model(16))
	startChild(t, s.reader(e, ""))
	for key, tt := range map[string]struct {
		media retrieval.MediaType
		kind  tool.Kind
		says  string
	}{
		"no-sandbox": {retrieval.PDF, tool.Conflict, "reads no PDF"},
		"blank":      {retrieval.Plain, tool.Invalid, "has no text"},
		"refused":    {retrieval.Markdown, tool.Denied, "401"},
	} {
		content := map[string]string{"blank": " \n ", "no-sandbox": "%PDF-1.7\n"}[key]
		if content == "" {
			content = "# Text\n\nof " + key
		}
		d := s.putAs(p, key, tt.media, content)
		w := s.ingest(d)
		_, d, err := s.ingested(w, d)
		require.Equal(t, tt.kind, tool.KindOf(failure.Decode(err)), key)
		require.Equal(t, retrieval.Failed, d.Status, key)
		require.Contains(t, d.Error, tt.says, key)
		if key == "refused" {
			s.requireKept(w, "ingest_failed")
		}
	}
}

func TestIngestionIsCancelled(t *testing.T) {
	t.Parallel()

	e := newEmbeddings(t)
	reached, over := make(chan struct{}, 100), make(chan struct{})
	t.Cleanup(func() { close(over) }) // Before the endpoint closes, which waits for its requests.
	e.refuse = func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body) // Only then is it seen that the caller left.
		reached <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-over:
		}
		return true
	}
	s := newSite(t)
	d := s.put(s.pipeline(e.model(16)), "rules", 10)
	startChild(t, s.reader(e, ""))
	w := s.ingest(d)
	select {
	case <-reached:
	case <-time.After(time.Minute):
		t.Fatal("the endpoint is not asked")
	}
	require.NoError(t, s.temporal.CancelWorkflow(t.Context(), w.GetID(), ""))
	_, d, err := s.ingested(w, d)
	require.True(t, temporal.IsCanceledError(err), err)
	require.Equal(t, retrieval.Failed, d.Status)
	require.Contains(t, d.Error, "cancelled")
	s.requireKept(w, "ingest_cancelled")
}

func TestIngestionOfADeletedDocumentEnds(t *testing.T) {
	t.Parallel()

	e := newEmbeddings(t)
	s := newSite(t)
	p := s.pipeline(nil)
	d := s.put(p, "rules", 10)
	w := s.ingest(d)
	require.NoError(t, s.DeleteDocument(t.Context(), d.Tenant, p.ID, d.ID))
	startChild(t, s.reader(e, ""))
	var out wire.IngestOutput
	require.NoError(t, w.Get(t.Context(), &out))
	require.Equal(t, wire.IngestGone, out.State)
}

// Workflows under a tenant's ids touch nothing of another's.
func TestIngestionKeepsToItsTenant(t *testing.T) {
	t.Parallel()

	e := newEmbeddings(t)
	s := newSite(t)
	d := s.put(s.pipeline(nil), "rules", 3)
	startChild(t, s.reader(e, ""))
	other := s.newTenant()
	id, in := wire.NewIngest(other, d.ID, d.Version)
	_, mine := wire.NewIngest(d.Tenant, d.ID, d.Version)
	for name, start := range map[string]struct {
		in    wire.IngestInput
		check func(out wire.IngestOutput, err error)
	}{
		"claimed": {mine, func(_ wire.IngestOutput, err error) {
			require.Equal(t, tool.Denied, tool.KindOf(failure.Decode(err)))
		}},
		"guessed": {in, func(out wire.IngestOutput, err error) {
			require.NoError(t, err)
			require.Equal(t, wire.IngestGone, out.State)
		}},
	} {
		w, err := s.temporal.ExecuteWorkflow(
			t.Context(), client.StartWorkflowOptions{ID: id + "-" + name, TaskQueue: s.queue}, wire.IngestWorkflow, start.in,
		)
		require.NoError(t, err)
		out, found, err := s.ingested(w, d)
		start.check(out, err)
		require.Equal(t, retrieval.Pending, found.Status, "nobody touched it")
	}
}
