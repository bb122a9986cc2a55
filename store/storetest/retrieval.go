package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Model is an embedding model of three dimensions, for tests with fixed vectors.
var Model = retrieval.EmbeddingConfig{URL: "https://models.example/v1", Model: "three", Dimensions: 3}

// Shelf is a pipeline of a tenant, for tests that fill it.
type Shelf struct {
	Store    *store.Store
	Pipeline retrieval.Pipeline
}

// NewShelf makes a pipeline, with a slug of its own where p has none.
func NewShelf(tb testing.TB, s *store.Store, p retrieval.Pipeline) *Shelf {
	tb.Helper()
	if p.Slug == "" {
		p.Slug = "p" + strings.ReplaceAll(NewID(tb), "-", "")
	}
	require.NoError(tb, p.Check())
	p, err := s.CreatePipeline(tb.Context(), p)
	require.NoError(tb, err)
	return &Shelf{Store: s, Pipeline: p}
}

// Put stores a document that is not ingested yet.
func (s *Shelf) Put(tb testing.TB, key, content string) retrieval.Document {
	tb.Helper()
	return s.PutDocument(tb, retrieval.Document{Key: key}, content)
}

// PutDocument is [Shelf.Put] with all fields.
func (s *Shelf) PutDocument(tb testing.TB, d retrieval.Document, content string) retrieval.Document {
	tb.Helper()
	d.Tenant, d.PipelineID, d.MediaType = s.Pipeline.Tenant, s.Pipeline.ID, retrieval.Plain
	d, changed, err := s.Store.PutDocument(tb.Context(), d, []byte(content))
	require.NoError(tb, err)
	require.True(tb, changed)
	return d
}

// Add stores a document with each line as a chunk, and finishes its ingestion.
func (s *Shelf) Add(tb testing.TB, d retrieval.Document, content string) retrieval.Document {
	tb.Helper()
	d = s.PutDocument(tb, d, content)
	s.Cut(tb, d, content)
	d, err := s.Store.FinishDocument(tb.Context(), d.Ref())
	require.NoError(tb, err)
	return d
}

// Cut stores each line of a content as a chunk. The text before a "|" is its heading.
func (s *Shelf) Cut(tb testing.TB, d retrieval.Document, content string) {
	tb.Helper()
	_, err := s.Store.BeginDocument(tb.Context(), d.Ref())
	require.NoError(tb, err)
	require.NoError(tb, s.Store.ReplaceChunks(tb.Context(), d.Ref(), retrieval.Extracted{Text: content}, Lines(content)))
}

// Lines cuts a content into lines; see [Shelf.Cut].
func Lines(content string) []retrieval.Chunk {
	var chunks []retrieval.Chunk
	start := 0
	for i, line := range strings.Split(content, "\n") {
		c := retrieval.Chunk{Position: i, Text: line, Start: start, End: start + len(line)}
		if heading, body, ok := strings.Cut(line, "|"); ok {
			c.Headings, c.Text = []string{heading}, body
		}
		chunks = append(chunks, c)
		start += len(line) + 1
	}
	return chunks
}

// Embed saves vectors for the first chunks of a document, in order.
func (s *Shelf) Embed(tb testing.TB, d retrieval.Document, generation int, vectors ...[]float32) retrieval.Document {
	tb.Helper()
	tasks, err := s.Store.PendingEmbeddings(tb.Context(), d.Ref(), generation, len(vectors))
	require.NoError(tb, err)
	require.Len(tb, tasks, len(vectors))
	d, err = s.Store.SaveEmbeddings(tb.Context(), d.Ref(), generation, embeddings(tasks, vectors))
	require.NoError(tb, err)
	return d
}

func embeddings(tasks []retrieval.EmbeddingTask, vectors [][]float32) []retrieval.Embedding {
	all := make([]retrieval.Embedding, len(vectors))
	for i, v := range vectors {
		all[i] = retrieval.Embedding{ChunkID: tasks[i].ChunkID, Vector: v}
	}
	return all
}

// Ask searches by words and returns what was found.
func (s *Shelf) Ask(tb testing.TB, text string, filter ...retrieval.Condition) []retrieval.IndexHit {
	tb.Helper()
	hits, err := s.Store.SearchIndex(tb.Context(), s.Pipeline.Tenant, retrieval.IndexQuery{
		Pipeline: s.Pipeline.ID, Text: text, Filter: filter, Limit: 10,
	})
	require.NoError(tb, err)
	return hits.Text
}

// AskWithout is [Shelf.Ask] of chunks that do not hold phrases.
func (s *Shelf) AskWithout(tb testing.TB, text string, exclude ...string) []retrieval.IndexHit {
	tb.Helper()
	hits, err := s.Store.SearchIndex(tb.Context(), s.Pipeline.Tenant, retrieval.IndexQuery{
		Pipeline: s.Pipeline.ID, Text: text, Exclude: exclude, Limit: 10,
	})
	require.NoError(tb, err)
	return hits.Text
}

// Nearest searches a generation by vector and returns the texts of the hits.
func (s *Shelf) Nearest(tb testing.TB, generation int, v ...float32) []string {
	tb.Helper()
	hits, err := s.Store.SearchIndex(tb.Context(), s.Pipeline.Tenant, retrieval.IndexQuery{
		Pipeline: s.Pipeline.ID, Vector: v, Generation: generation, Limit: 10,
	})
	require.NoError(tb, err)
	return Texts(hits.Vector)
}

// Texts returns the texts of hits.
func Texts(hits []retrieval.IndexHit) []string {
	texts := make([]string, len(hits))
	for i, h := range hits {
		texts[i] = h.Text
	}
	return texts
}

func testPipelines(t *testing.T, d *Database) {
	t.Helper()

	t.Run("Kept", func(t *testing.T) {
		t.Parallel()
		tenant := d.Tenant(t)
		p := retrieval.Pipeline{
			Tenant: tenant, Slug: "handbook", Description: "Ours.", Search: retrieval.Hybrid, Language: "german",
			Chunking: retrieval.Chunking{MaxChars: 900, Overlap: -1}, Embedding: &Model, CreatedBy: "ada",
		}
		made := NewShelf(t, d.Store, p).Pipeline
		require.True(t, tool.ValidID(made.ID))
		require.Equal(t, 1, made.Generation)
		require.EqualValues(t, 1, made.Revision)
		for _, name := range []string{"handbook", made.ID} {
			found, err := d.Store.FindPipeline(t.Context(), tenant, name)
			require.NoError(t, err)
			require.Equal(t, made, found)
		}
		require.NoError(t, p.Check())
		p.ID, p.Generation, p.Revision, p.CreatedAt, p.UpdatedAt = made.ID, 1, 1, made.CreatedAt, made.UpdatedAt
		require.Equal(t, p, made)
		_, err := d.Store.CreatePipeline(t.Context(), p)
		RequireKind(t, tool.Conflict, err)
	})

	t.Run("ListedBySlug", func(t *testing.T) {
		t.Parallel()
		tenant := d.Tenant(t)
		for _, slug := range []string{"c", "a", "b"} {
			NewShelf(t, d.Store, retrieval.Pipeline{Tenant: tenant, Slug: slug})
		}
		page, err := d.Store.ListPipelines(t.Context(), tenant, "a", 1)
		require.NoError(t, err)
		require.Len(t, page, 1)
		require.Equal(t, "b", page[0].Slug)
	})

	t.Run("EditedAtTheirRevision", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
		p := s.Pipeline
		p.Name, p.Language, p.Disabled = "Another", "simple", true
		edited, err := d.Store.UpdatePipeline(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, "Another", edited.Name)
		require.True(t, edited.Disabled)
		require.EqualValues(t, 2, edited.Revision)
		_, err = d.Store.UpdatePipeline(t.Context(), p)
		require.ErrorIs(t, err, retrieval.ErrChanged)
		require.ErrorIs(t, d.Store.DeletePipeline(t.Context(), p), retrieval.ErrChanged)
		edited.Search = retrieval.Vector
		_, err = d.Store.UpdatePipeline(t.Context(), edited)
		RequireKind(t, tool.Conflict, err)
		require.ErrorContains(t, err, "no embeddings")
	})

	t.Run("KeepTheirLanguageOnceFed", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
		s.Put(t, "a", "words")
		p := s.Pipeline
		p.Language = "simple"
		_, err := d.Store.UpdatePipeline(t.Context(), p)
		RequireKind(t, tool.Conflict, err)
		require.ErrorContains(t, err, "create another pipeline")
		found, err := d.Store.FindPipeline(t.Context(), p.Tenant, p.ID)
		require.NoError(t, err)
		require.Equal(t, 1, found.Documents)
	})

	t.Run("DeletedWithAllTheyHold", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t), Slug: "gone", Embedding: &Model})
		document := s.Put(t, "a", "one")
		s.Cut(t, document, "one")
		s.Embed(t, document, 1, []float32{1, 0, 0})
		s.Put(t, "b", "two")
		require.NoError(t, d.Store.DeletePipeline(t.Context(), s.Pipeline))
		_, err := d.Store.FindPipeline(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID)
		RequireKind(t, tool.NotFound, err)
		_, err = d.Store.SearchIndex(t.Context(), s.Pipeline.Tenant, retrieval.IndexQuery{
			Pipeline: s.Pipeline.ID, Text: "one",
		})
		RequireKind(t, tool.NotFound, err)
		_, err = d.Store.FinishDocument(t.Context(), document.Ref())
		RequireKind(t, tool.NotFound, err)
		_, _, err = d.Store.PutDocument(t.Context(), document, []byte("again"))
		RequireKind(t, tool.NotFound, err)
		conn := d.Conn(t)
		for _, table := range []string{
			"documents", "document_contents", "document_texts", "chunks", "chunk_terms", "chunk_embeddings", "word_blocks",
			"word_documents", "word_postings",
		} {
			var left int
			err := conn.QueryRow(t.Context(), fmt.Sprintf("select count(*) from %s where tenant_id = $1", table),
				s.Pipeline.Tenant).Scan(&left)
			require.NoError(t, err)
			require.Zero(t, left, table)
		}
		NewShelf(t, d.Store, retrieval.Pipeline{Tenant: s.Pipeline.Tenant, Slug: "gone"})
	})
}

func testDocuments(t *testing.T, d *Database) {
	t.Helper()

	t.Run("SayWhatTheirPassagesAreCutOf", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
		document := s.Put(t, "a", "one\ntwo")
		_, _, err := d.Store.ReadText(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, document.ID)
		RequireKind(t, tool.Conflict, err)
		s.Cut(t, document, "one\ntwo")
		_, err = d.Store.FinishDocument(t.Context(), document.Ref())
		require.NoError(t, err)
		replaced := s.Put(t, "a", "three")
		s.Cut(t, replaced, "three")
		version, text, err := d.Store.ReadText(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, "a")
		require.NoError(t, err)
		require.EqualValues(t, 1, version, "it is what is searched")
		require.Equal(t, "one\ntwo", text)
		_, err = d.Store.FinishDocument(t.Context(), replaced.Ref())
		require.NoError(t, err)
		version, text, err = d.Store.ReadText(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, document.ID)
		require.NoError(t, err)
		require.EqualValues(t, 2, version)
		require.Equal(t, "three", text)
		_, _, err = d.Store.ReadText(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, "b")
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("ReplacedUnderTheirKey", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
		given := retrieval.Document{
			Tenant: s.Pipeline.Tenant, PipelineID: s.Pipeline.ID, Key: "faq", Title: "Questions", MediaType: retrieval.Markdown,
			Source:   "https://docs.example/faq",
			Metadata: retrieval.Metadata{"team": "sales", "year": 2026.0, "tags": []any{"a", "b"}}, CreatedBy: "ada",
		}
		first, changed, err := d.Store.PutDocument(t.Context(), given, []byte("one"))
		require.NoError(t, err)
		require.True(t, changed)
		require.Equal(t, retrieval.Pending, first.Status)
		require.Equal(t, retrieval.Digest([]byte("one")), first.Digest)
		require.Equal(t, 3, first.Bytes)
		require.Equal(t, given.Source, first.Source)
		again, changed, err := d.Store.PutDocument(t.Context(), given, []byte("one"))
		require.NoError(t, err)
		require.False(t, changed, "it is that already")
		require.Equal(t, first, again)
		second, changed, err := d.Store.PutDocument(t.Context(), given, []byte("two"))
		require.NoError(t, err)
		require.True(t, changed)
		require.Equal(t, first.ID, second.ID)
		require.EqualValues(t, 2, second.Version)
		given.Metadata = retrieval.Metadata{"team": "support"}
		third, changed, err := d.Store.PutDocument(t.Context(), given, []byte("two"))
		require.NoError(t, err)
		require.True(t, changed, "other metadata is another document")
		for _, name := range []string{"faq", third.ID} {
			found, err := d.Store.FindDocument(t.Context(), given.Tenant, s.Pipeline.ID, name)
			require.NoError(t, err)
			require.Equal(t, third, found)
		}
	})

	t.Run("ListedByKey", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
		for _, key := range []string{"c", "a", "b"} {
			s.Add(t, retrieval.Document{Key: key}, "words")
		}
		s.Put(t, "d", "words")
		page, err := d.Store.ListDocuments(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, retrieval.DocumentFilter{
			AfterKey: "a", Status: retrieval.Ready,
		})
		require.NoError(t, err)
		require.Len(t, page, 2)
		require.Equal(t, "b", page[0].Key)
		page, err = d.Store.ListDocuments(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, retrieval.DocumentFilter{
			Status: retrieval.Pending, Limit: 1,
		})
		require.NoError(t, err)
		require.Len(t, page, 1)
	})

	t.Run("DeletedWithTheirChunks", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
		document := s.Add(t, retrieval.Document{Key: "a"}, "lighthouse")
		require.Len(t, s.Ask(t, "lighthouse"), 1)
		require.NoError(t, d.Store.DeleteDocument(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, document.ID))
		require.Empty(t, s.Ask(t, "lighthouse"))
		RequireKind(t, tool.NotFound, d.Store.DeleteDocument(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, document.ID))
		_, err := d.Store.BeginDocument(t.Context(), document.Ref())
		RequireKind(t, tool.NotFound, err)
	})
}
