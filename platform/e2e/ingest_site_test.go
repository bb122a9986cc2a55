package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/examples/handbook/lexical"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/embed"
	"github.com/toolcrib/toolcrib/retrieval/extract"
	"github.com/toolcrib/toolcrib/retrieval/ingest"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// Points of a worker that ingests, which is hit at the n-th.
const (
	afterExtract point = "after extract" // Nothing is stored.
	afterEmbed   point = "after embed"   // The fifth batch is embedded, and not stored.
)

// embeddings is an endpoint of embeddings that can be set to refuse.
type embeddings struct {
	*httptest.Server

	mu     sync.Mutex
	refuse func(request int, w http.ResponseWriter, r *http.Request) bool // From 1.
	asked  int
}

func newEmbeddings(t *testing.T) *embeddings {
	t.Helper()
	e := &embeddings{}
	answer := lexical.Handler()
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		e.asked++
		request, refuse := e.asked, e.refuse
		e.mu.Unlock()
		if refuse != nil && refuse(request, w, r) {
			return
		}
		answer.ServeHTTP(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

// requests returns how many there were.
func (e *embeddings) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked
}

// model is a small batch of short vectors, so that there is much to do.
func (e *embeddings) model(dimensions int) *retrieval.EmbeddingConfig {
	return &retrieval.EmbeddingConfig{
		URL: e.URL + "/v1", Model: lexical.Model, Dimensions: dimensions, RequestDimensions: true, BatchSize: 4,
	}
}

// ingester is what a worker process of these tests ingests with.
func (c childConfig) ingester(db *store.Store, gate *egress.Gate) (*ingest.Ingester, error) {
	return ingest.New(ingest.Config{
		Store: db, Extractor: mortalExtractor{extract.New(extract.Config{}), c},
		Embedder: &mortalEmbedder{Embedder: embed.New(gate, secret.Env{}), cfg: c},
	})
}

// mortalExtractor is hit when it has extracted a text.
type mortalExtractor struct {
	*extract.Extractor

	cfg childConfig
}

func (m mortalExtractor) Extract(
	ctx context.Context, tenant tool.TenantID, media retrieval.MediaType, content []byte,
) (extract.Text, error) {
	text, err := m.Extractor.Extract(ctx, tenant, media, content)
	m.cfg.hit(afterExtract)
	return text, err
}

// mortalEmbedder is hit when it has embedded some batches.
type mortalEmbedder struct {
	retrieval.Embedder

	cfg  childConfig
	done atomic.Int64
}

func (m *mortalEmbedder) Embed(
	ctx context.Context, tenant tool.TenantID, c retrieval.EmbeddingConfig, kind retrieval.TextKind, texts []string,
) ([][]float32, error) {
	vectors, err := m.Embedder.Embed(ctx, tenant, c, kind, texts)
	if m.done.Add(1) == 5 {
		m.cfg.hit(afterEmbed)
	}
	return vectors, err
}

// reader describes a worker process that ingests, by an endpoint.
func (s *site) reader(e *embeddings, at point) childConfig {
	s.t.Helper()
	u, err := url.Parse(e.URL)
	require.NoError(s.t, err)
	return childConfig{
		Address: server.Address(), Database: s.db.URL, Queue: s.queue, Upstream: u.Host,
		Point: at, Marker: filepath.Join(s.t.TempDir(), "hit"), Signal: syscall.SIGKILL,
	}
}

// engine searches as the site's tools do.
func (s *site) engine(e *embeddings) *retrieval.Engine {
	s.t.Helper()
	u, err := url.Parse(e.URL)
	require.NoError(s.t, err)
	gate, err := egress.New(egress.Config{Policy: func(tool.TenantID) egress.Policy {
		return egress.Policy{AllowHosts: []string{u.Host}}
	}})
	require.NoError(s.t, err)
	s.t.Cleanup(gate.Close)
	return retrieval.NewEngine(s.Store, embed.New(gate, secret.Env{}))
}

// pipeline makes a pipeline of short chunks.
func (s *site) pipeline(model *retrieval.EmbeddingConfig) retrieval.Pipeline {
	s.t.Helper()
	p := retrieval.Pipeline{
		Tenant: s.principal.Tenant, Slug: "handbook", Embedding: model,
		Chunking: retrieval.Chunking{MaxChars: 200, Overlap: -1},
	}
	require.NoError(s.t, p.Check())
	p, err := s.CreatePipeline(s.t.Context(), p)
	require.NoError(s.t, err)
	return p
}

// put puts a document with a chunk for each of its sections.
func (s *site) put(p retrieval.Pipeline, key string, sections int) retrieval.Document {
	s.t.Helper()
	var b strings.Builder
	b.WriteString("# Handbook " + key + "\n\n")
	for i := range sections {
		fmt.Fprintf(&b, "## Section %d\n\nWhat section%d of %s says of parcels.\n\n", i, i, key)
	}
	return s.putAs(p, key, retrieval.Markdown, b.String())
}

func (s *site) putAs(p retrieval.Pipeline, key string, media retrieval.MediaType, content string) retrieval.Document {
	s.t.Helper()
	d := retrieval.Document{
		Tenant: p.Tenant, PipelineID: p.ID, Key: key, MediaType: media, Digest: retrieval.Digest([]byte(content)),
		Bytes: len(content),
	}
	require.NoError(s.t, d.Check([]byte(content)))
	d, changed, err := s.PutDocument(s.t.Context(), d, []byte(content))
	require.NoError(s.t, err)
	require.True(s.t, changed)
	return d
}

// ingest starts the ingestion of a document's newest version.
func (s *site) ingest(d retrieval.Document) client.WorkflowRun {
	s.t.Helper()
	id, in := wire.NewIngest(d.Tenant, d.ID, d.Version)
	w, err := s.temporal.ExecuteWorkflow(s.t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: s.queue},
		wire.IngestWorkflow, in)
	require.NoError(s.t, err)
	return w
}

// ingested waits for the end of an ingestion and returns the document.
func (s *site) ingested(w client.WorkflowRun, d retrieval.Document) (wire.IngestOutput, retrieval.Document, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	var out wire.IngestOutput
	ended := w.Get(ctx, &out)
	found, err := s.FindDocument(s.t.Context(), d.Tenant, d.PipelineID, d.ID)
	require.NoError(s.t, err)
	return out, found, ended
}

// requireKept checks that the history of a workflow replays, and keeps it.
func (s *site) requireKept(w client.WorkflowRun, name string) {
	s.t.Helper()
	requireReplays(s.t, historyOf(s.t.Context(), s.t, s.temporal, w.GetID(), w.GetRunID()), name)
}
