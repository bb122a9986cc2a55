package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// shelf creates a pipeline of the fixture's tenant with one ready document, and starts
// another generation of its embeddings. It returns the document with the foreign tenant.
func (f foreign) shelf(t *testing.T) (*Shelf, retrieval.Document) {
	t.Helper()
	s := NewShelf(t, f.Store, retrieval.Pipeline{Tenant: f.Tenant, Slug: "handbook", Embedding: &Model})
	document := s.Put(t, "secret", "lighthouse")
	s.Cut(t, document, "lighthouse")
	s.Embed(t, document, 1, []float32{1, 0, 0})
	document, err := f.Store.FinishDocument(t.Context(), document.Ref())
	require.NoError(t, err)
	s.Pipeline, err = f.Store.BeginGeneration(t.Context(), s.Pipeline, Model)
	require.NoError(t, err)
	document.Tenant = f.stranger
	return s, document
}

// generation is the new generation, with the foreign tenant.
func (f foreign) generation(s *Shelf) retrieval.GenerationRef {
	return retrieval.GenerationRef{Tenant: f.stranger, Pipeline: s.Pipeline.ID, Generation: s.Pipeline.NextGeneration}
}

// chunk returns the id of the document's chunk.
func (f foreign) chunk(t *testing.T, s *Shelf) string {
	t.Helper()
	tasks, _, err := f.Store.PendingGeneration(t.Context(), retrieval.GenerationRef{
		Tenant: f.Tenant, Pipeline: s.Pipeline.ID, Generation: s.Pipeline.NextGeneration,
	}, 1)
	require.NoError(t, err)
	require.Len(t, tasks, 1)
	return tasks[0].ChunkID
}

// retrievalCases are the foreign-tenant cases of pipelines.
var retrievalCases = map[string]func(t *testing.T, f foreign){
	"CreatePipeline": func(t *testing.T, f foreign) { // The same slug is free: no tenant learns that another uses it.
		t.Helper()
		f.shelf(t)
		NewShelf(t, f.Store, retrieval.Pipeline{Tenant: f.stranger, Slug: "handbook"})
	},
	"FindPipeline": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.shelf(t)
		for _, name := range []string{s.Pipeline.ID, s.Pipeline.Slug} {
			_, err := f.Store.FindPipeline(t.Context(), f.stranger, name)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"ListPipelines": func(t *testing.T, f foreign) {
		t.Helper()
		f.shelf(t)
		all, err := f.Store.ListPipelines(t.Context(), f.stranger, "", 0)
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"UpdatePipeline": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.shelf(t)
		s.Pipeline.Tenant = f.stranger
		_, err := f.Store.UpdatePipeline(t.Context(), s.Pipeline)
		RequireKind(t, tool.NotFound, err)
	},
	"DeletePipeline": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.shelf(t)
		s.Pipeline.Tenant = f.stranger
		RequireKind(t, tool.NotFound, f.Store.DeletePipeline(t.Context(), s.Pipeline))
	},
	"PutDocument": func(t *testing.T, f foreign) {
		t.Helper()
		_, document := f.shelf(t)
		_, _, err := f.Store.PutDocument(t.Context(), document, []byte("mine"))
		RequireKind(t, tool.NotFound, err)
	},
	"FindDocument": func(t *testing.T, f foreign) {
		t.Helper()
		s, document := f.shelf(t)
		for _, name := range []string{document.ID, document.Key} {
			_, err := f.Store.FindDocument(t.Context(), f.stranger, s.Pipeline.ID, name)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"ListDocuments": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.shelf(t)
		all, err := f.Store.ListDocuments(t.Context(), f.stranger, s.Pipeline.ID, retrieval.DocumentFilter{})
		require.NoError(t, err)
		require.Empty(t, all)
	},
	"ReadText": func(t *testing.T, f foreign) {
		t.Helper()
		s, document := f.shelf(t)
		_, _, err := f.Store.ReadText(t.Context(), f.stranger, s.Pipeline.ID, document.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"DeleteDocument": func(t *testing.T, f foreign) {
		t.Helper()
		s, document := f.shelf(t)
		RequireKind(t, tool.NotFound, f.Store.DeleteDocument(t.Context(), f.stranger, s.Pipeline.ID, document.ID))
		require.Len(t, s.Ask(t, "lighthouse"), 1)
	},
	"BeginDocument": func(t *testing.T, f foreign) {
		t.Helper()
		_, document := f.shelf(t)
		_, err := f.Store.BeginDocument(t.Context(), document.Ref())
		RequireKind(t, tool.NotFound, err)
	},
	"ReplaceChunks": func(t *testing.T, f foreign) {
		t.Helper()
		_, document := f.shelf(t)
		RequireKind(
			t, tool.NotFound, f.Store.ReplaceChunks(t.Context(), document.Ref(), retrieval.Extracted{}, Lines("mine")),
		)
	},
	"PendingEmbeddings": func(t *testing.T, f foreign) {
		t.Helper()
		_, document := f.shelf(t)
		_, err := f.Store.PendingEmbeddings(t.Context(), document.Ref(), 2, 1)
		RequireKind(t, tool.NotFound, err)
	},
	"SaveEmbeddings": func(t *testing.T, f foreign) {
		t.Helper()
		s, document := f.shelf(t)
		all := []retrieval.Embedding{{ChunkID: f.chunk(t, s), Vector: []float32{0, 1, 0}}}
		_, err := f.Store.SaveEmbeddings(t.Context(), document.Ref(), 2, all)
		RequireKind(t, tool.NotFound, err)
		// Nor does a document of the stranger's own take a chunk of another's in.
		own := NewShelf(t, f.Store, retrieval.Pipeline{Tenant: f.stranger, Embedding: &Model})
		mine := own.Put(t, "mine", "one")
		own.Cut(t, mine, "one")
		mine, err = f.Store.SaveEmbeddings(t.Context(), mine.Ref(), 1, all)
		require.NoError(t, err)
		require.Zero(t, mine.Embedded)
	},
	"FinishDocument": func(t *testing.T, f foreign) {
		t.Helper()
		_, document := f.shelf(t)
		_, err := f.Store.FinishDocument(t.Context(), document.Ref())
		RequireKind(t, tool.NotFound, err)
	},
	"FailDocument": func(t *testing.T, f foreign) {
		t.Helper()
		_, document := f.shelf(t)
		_, err := f.Store.FailDocument(t.Context(), document.Ref(), "no")
		RequireKind(t, tool.NotFound, err)
	},
	"BeginGeneration": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.shelf(t)
		s.Pipeline.Tenant = f.stranger
		_, err := f.Store.BeginGeneration(t.Context(), s.Pipeline, Model)
		RequireKind(t, tool.NotFound, err)
	},
	"PendingGeneration": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.shelf(t)
		_, _, err := f.Store.PendingGeneration(t.Context(), f.generation(s), 1)
		RequireKind(t, tool.NotFound, err)
	},
	"SaveGeneration": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.shelf(t)
		err := f.Store.SaveGeneration(t.Context(), f.generation(s), []retrieval.Embedding{
			{ChunkID: f.chunk(t, s), Vector: []float32{0, 1, 0}},
		})
		RequireKind(t, tool.NotFound, err)
	},
	"PromoteGeneration": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.shelf(t)
		_, err := f.Store.PromoteGeneration(t.Context(), f.generation(s))
		RequireKind(t, tool.NotFound, err)
	},
	"DropGeneration": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.shelf(t)
		_, err := f.Store.DropGeneration(t.Context(), f.generation(s), "x")
		RequireKind(t, tool.NotFound, err)
	},
	"SearchIndex": func(t *testing.T, f foreign) {
		t.Helper()
		s, _ := f.shelf(t)
		_, err := f.Store.SearchIndex(t.Context(), f.stranger, retrieval.IndexQuery{
			Pipeline: s.Pipeline.ID, Text: "lighthouse", Vector: []float32{1, 0, 0}, Generation: 1,
		})
		RequireKind(t, tool.NotFound, err)
	},
}
