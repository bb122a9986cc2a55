package recall_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/examples/handbook/lexical"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/egress/egresstest"
	"github.com/toolcrib/toolcrib/platform/ingesttest"
	"github.com/toolcrib/toolcrib/platform/readable"
	"github.com/toolcrib/toolcrib/platform/recall"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/embed"
	"github.com/toolcrib/toolcrib/retrieval/extract"
	"github.com/toolcrib/toolcrib/retrieval/ingest"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// The places of the handbook, of the questions about it, and of the page with
// the figures.
const (
	documents = "../../examples/handbook/documents"
	questions = "../../examples/handbook/questions.yaml"
	page      = "../../docs/tools/rag_retrieval.md"
)

var types = map[string]retrieval.MediaType{".md": retrieval.Markdown, ".html": retrieval.HTML, ".txt": retrieval.Plain}

// library is a tenant's pipeline with the handbook in it.
type library struct {
	tenant   tool.TenantID
	pipeline retrieval.Pipeline
	engine   *retrieval.Engine
}

// newLibrary ingests the handbook as a worker does, with the embeddings of the
// lexical endpoint.
func newLibrary(t *testing.T) library {
	t.Helper()
	database := storetest.NewDatabase(t)
	l := library{tenant: database.Tenant(t)}
	endpoint := httptest.NewServer(lexical.Handler())
	t.Cleanup(endpoint.Close)
	at, err := url.Parse(endpoint.URL)
	require.NoError(t, err)
	embedder := embed.New(egresstest.Gate(t, egress.Config{
		Policy: func(tool.TenantID) egress.Policy { return egress.Policy{AllowHosts: []string{at.Host}} },
	}), nil)
	ingester, err := ingest.New(ingest.Config{
		Store: database.Store, Embedder: embedder,
		Extractor: extract.New(extract.Config{HTML: worker.PageReader(readable.New())}),
	})
	require.NoError(t, err)
	wanted := retrieval.Pipeline{
		Tenant: l.tenant, Slug: "handbook", Search: retrieval.Hybrid,
		Embedding: &retrieval.EmbeddingConfig{
			URL: endpoint.URL + "/v1", Model: lexical.Model, Dimensions: lexical.DefaultDimensions,
		},
	}
	require.NoError(t, wanted.Check())
	l.pipeline, err = database.Store.CreatePipeline(t.Context(), wanted)
	require.NoError(t, err)
	entries, err := os.ReadDir(documents)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(entries), 25)
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(documents, entry.Name()))
		require.NoError(t, err)
		stored, _, err := database.Store.PutDocument(t.Context(), retrieval.Document{
			Tenant: l.tenant, PipelineID: l.pipeline.ID, Key: entry.Name(), MediaType: types[filepath.Ext(entry.Name())],
		}, content)
		require.NoError(t, err)
		require.NoError(t, ingesttest.Bring(t.Context(), ingester, stored.Ref()))
	}
	l.engine = retrieval.NewEngine(database.Store, embedder)
	return l
}

func (l library) measure(t *testing.T, all []recall.Question, mode retrieval.Mode) recall.Figures {
	t.Helper()
	figures, err := recall.Measure(t.Context(), all, func(ctx context.Context, ask string) ([]recall.Found, error) {
		answer, err := l.engine.Search(ctx, l.tenant, l.pipeline.ID, retrieval.Query{
			Text: ask, Limit: recall.Depth, Mode: mode,
		})
		found := make([]recall.Found, len(answer.Hits))
		for i, h := range answer.Hits {
			found[i] = recall.Found{Document: h.DocumentKey, Headings: h.Headings}
		}
		return found, err
	})
	require.NoError(t, err)
	return figures
}

// The three ways of searching find what they are said to find.
func TestHandbook(t *testing.T) {
	t.Parallel()

	raw, err := os.ReadFile(questions)
	require.NoError(t, err)
	all, err := recall.Read(raw)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 40)
	l := newLibrary(t)
	told, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, mode := range retrieval.Modes() {
		f := l.measure(t, all, mode)
		columns := []string{fmt.Sprintf("| `%s` | %.2f | %.2f |", mode, f.Recall, f.MRR)}
		for _, kind := range kinds {
			columns = append(columns, fmt.Sprintf("%.2f |", f.ByKind[kind]))
		}
		row := strings.Join(columns, " ")
		t.Logf("%s missed: %q", row, f.Missed)
		least := bounds[mode]
		require.GreaterOrEqual(t, f.Recall, least.Recall, mode)
		require.GreaterOrEqual(t, f.MRR, least.MRR, mode)
		requireTold(t, string(told), mode, f)
	}
}

// kinds are those of the page's table.
var kinds = []string{"words", "rare", "heading", "typo", "paraphrase"}

// requireTold requires that the page has these figures. Passages of equal rank
// are ordered by their ids, which differ each time, so that the result of a few
// questions may vary.
func requireTold(t *testing.T, page string, mode retrieval.Mode, f recall.Figures) {
	t.Helper()
	row := regexp.MustCompile(regexp.QuoteMeta("| `"+string(mode)+"` | ") +
		`([0-9.]+) \| ([0-9.]+) \|`).FindStringSubmatch(page)
	require.NotNil(t, row, "the page tells no figures of %s", mode)
	for i, want := range []float64{f.Recall, f.MRR} {
		got, err := strconv.ParseFloat(row[i+1], 64)
		require.NoError(t, err)
		require.InDelta(t, want, got, 0.06, "the page tells other figures of %s", mode)
	}
}

// bounds are what each way has to reach.
var bounds = map[retrieval.Mode]recall.Figures{
	retrieval.FullText: {Recall: 0.7, MRR: 0.65},
	retrieval.Vector:   {Recall: 0.7, MRR: 0.6},
	retrieval.Hybrid:   {Recall: 0.7, MRR: 0.65},
}
