package ingest_test

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/ingest"
	"github.com/toolcrib/toolcrib/tool"
)

// shelf is a store of one pipeline with one document, in memory.
type shelf struct {
	mu       sync.Mutex
	pipeline retrieval.Pipeline
	document retrieval.Document
	content  []byte
	text     string // That chunks were cut of.
	chunks   []retrieval.Chunk
	vectors  map[int]map[string][]float32 // By generation and chunk.
	replaced int                          // How often chunks were stored.
	gone     bool
}

var _ ingest.Store = (*shelf)(nil)

const (
	tenant   = tool.TenantID("01890000-0000-7000-8000-000000000001")
	document = "01890000-0000-7000-8000-00000000000d"
	pipeline = "01890000-0000-7000-8000-00000000000e"
)

var ref = retrieval.DocumentRef{Tenant: tenant, Document: document, Version: 1}

func newShelf(content string, model *retrieval.EmbeddingConfig) *shelf {
	s := &shelf{
		pipeline: retrieval.Pipeline{ID: pipeline, Tenant: tenant, Chunking: retrieval.Chunking{MaxChars: 200, Overlap: -1}},
		document: retrieval.Document{
			ID: document, Tenant: tenant, MediaType: retrieval.Markdown, Version: 1, Status: retrieval.Pending,
		},
		content: []byte(content), vectors: make(map[int]map[string][]float32),
	}
	if model != nil {
		s.pipeline.Embedding, s.pipeline.Generation = model, 1
	}
	return s
}

func conflict(cause error) error { return &tool.Error{Kind: tool.Conflict, Msg: "no", Err: cause} }

// open locks the shelf, unless the version is not the document's.
func (s *shelf) open(r retrieval.DocumentRef) error {
	s.mu.Lock()
	switch {
	case s.gone:
		s.mu.Unlock()
		return &tool.Error{Kind: tool.NotFound, Msg: "no such document"}
	case r.Version != s.document.Version:
		s.mu.Unlock()
		return conflict(retrieval.ErrVersion)
	}
	return nil
}

func (s *shelf) BeginDocument(_ context.Context, r retrieval.DocumentRef) (retrieval.Work, error) {
	if err := s.open(r); err != nil {
		return retrieval.Work{}, err
	}
	defer s.mu.Unlock()
	if s.document.Status != retrieval.Ready {
		s.document.Status = retrieval.Ingesting
	}
	return retrieval.Work{Document: s.document, Pipeline: s.pipeline, Content: s.content}, nil
}

func (s *shelf) ReplaceChunks(
	_ context.Context, r retrieval.DocumentRef, text retrieval.Extracted, chunks []retrieval.Chunk,
) error {
	if err := s.open(r); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.chunks, s.content, s.document.Title, s.document.Chunks = slices.Clone(chunks), nil, text.Title, len(chunks)
	s.text = text.Text
	for i := range s.chunks {
		s.chunks[i].ID = fmt.Sprintf("chunk-%d", i)
	}
	s.replaced++
	return nil
}

func (s *shelf) pending(generation, limit int) []retrieval.EmbeddingTask {
	var out []retrieval.EmbeddingTask
	for _, c := range s.chunks {
		if _, ok := s.vectors[generation][c.ID]; !ok && len(out) < limit {
			out = append(out, retrieval.EmbeddingTask{
				ChunkID: c.ID, Title: s.document.Title, Headings: c.Headings, Text: c.Text,
			})
		}
	}
	return out
}

func (s *shelf) save(generation int, all []retrieval.Embedding) {
	if s.vectors[generation] == nil {
		s.vectors[generation] = make(map[string][]float32)
	}
	for _, e := range all {
		s.vectors[generation][e.ChunkID] = e.Vector
	}
}

func (s *shelf) PendingEmbeddings(
	_ context.Context, r retrieval.DocumentRef, generation, limit int,
) ([]retrieval.EmbeddingTask, error) {
	if err := s.open(r); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return s.pending(generation, limit), nil
}

func (s *shelf) SaveEmbeddings(
	_ context.Context, r retrieval.DocumentRef, generation int, all []retrieval.Embedding,
) (retrieval.Document, error) {
	if err := s.open(r); err != nil {
		return retrieval.Document{}, err
	}
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.pipeline.Generations(), func(e retrieval.Embeddings) bool {
		return e.Generation == generation
	}) {
		return retrieval.Document{}, conflict(retrieval.ErrGeneration)
	}
	s.save(generation, all)
	return s.document, nil
}

func (s *shelf) FinishDocument(_ context.Context, r retrieval.DocumentRef) (retrieval.Document, error) {
	if err := s.open(r); err != nil {
		return retrieval.Document{}, err
	}
	defer s.mu.Unlock()
	for _, g := range s.pipeline.Generations() {
		if len(s.vectors[g.Generation]) < len(s.chunks) {
			return s.document, conflict(retrieval.ErrIncomplete)
		}
	}
	s.document.Status = retrieval.Ready
	return s.document, nil
}

func (s *shelf) FailDocument(_ context.Context, r retrieval.DocumentRef, reason string) (retrieval.Document, error) {
	if err := s.open(r); err != nil {
		return retrieval.Document{}, err
	}
	defer s.mu.Unlock()
	s.document.Status, s.document.Error = retrieval.Failed, reason
	return s.document, nil
}

func (s *shelf) FindPipeline(context.Context, tool.TenantID, string) (retrieval.Pipeline, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pipeline, nil
}

func (s *shelf) BeginGeneration(
	_ context.Context, p retrieval.Pipeline, c retrieval.EmbeddingConfig,
) (retrieval.Pipeline, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pipeline.NextEmbedding, s.pipeline.NextGeneration = &c, p.Generation+1
	return s.pipeline, nil
}

func (s *shelf) building(r retrieval.GenerationRef) error {
	s.mu.Lock()
	if r.Generation != s.pipeline.NextGeneration {
		s.mu.Unlock()
		return conflict(retrieval.ErrGeneration)
	}
	return nil
}

func (s *shelf) PendingGeneration(
	_ context.Context, r retrieval.GenerationRef, limit int,
) ([]retrieval.EmbeddingTask, int, error) {
	if err := s.building(r); err != nil {
		return nil, 0, err
	}
	defer s.mu.Unlock()
	tasks := s.pending(r.Generation, limit)
	return tasks, len(tasks), nil
}

func (s *shelf) SaveGeneration(_ context.Context, r retrieval.GenerationRef, all []retrieval.Embedding) error {
	if err := s.building(r); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.save(r.Generation, all)
	return nil
}

func (s *shelf) PromoteGeneration(_ context.Context, r retrieval.GenerationRef) (retrieval.Pipeline, error) {
	if err := s.building(r); err != nil {
		return retrieval.Pipeline{}, err
	}
	defer s.mu.Unlock()
	if len(s.vectors[r.Generation]) < len(s.chunks) {
		return s.pipeline, conflict(retrieval.ErrIncomplete)
	}
	p := &s.pipeline
	p.Embedding, p.Generation, p.NextEmbedding, p.NextGeneration = p.NextEmbedding, p.NextGeneration, nil, 0
	return *p, nil
}

func (s *shelf) DropGeneration(
	_ context.Context, r retrieval.GenerationRef, reason string,
) (retrieval.Pipeline, error) {
	if err := s.building(r); err != nil {
		return retrieval.Pipeline{}, err
	}
	defer s.mu.Unlock()
	s.pipeline.EmbeddingError = reason
	s.pipeline.NextEmbedding, s.pipeline.NextGeneration = nil, 0
	return s.pipeline, nil
}

// model answers as an embedding model does, after asking the test.
type model struct {
	mu    sync.Mutex
	asked [][]string
	fail  func(request int) error // From 1. Nil never fails.
}

func (m *model) Embed(
	_ context.Context, _ tool.TenantID, c retrieval.EmbeddingConfig, kind retrieval.TextKind, texts []string,
) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, texts)
	if kind != retrieval.DocumentText {
		return nil, fmt.Errorf("asked for %s", kind)
	}
	if m.fail != nil {
		if err := m.fail(len(m.asked)); err != nil {
			return nil, err
		}
	}
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = make([]float32, c.Dimensions)
		out[i][0] = 1
	}
	return out, nil
}
