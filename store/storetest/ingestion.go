package storetest

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

func testIngestion(t *testing.T, d *Database) {
	t.Helper()

	t.Run("StepsMayBeRepeated", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t), Embedding: &Model})
		document := s.Put(t, "a", "one\ntwo")
		for range 2 {
			work, err := d.Store.BeginDocument(t.Context(), document.Ref())
			require.NoError(t, err)
			require.Equal(t, "one\ntwo", string(work.Content))
			require.Equal(t, retrieval.Ingesting, work.Document.Status)
			require.Equal(t, s.Pipeline.ID, work.Pipeline.ID)
		}
		chunks := Lines("one\ntwo")
		for range 2 {
			require.NoError(
				t,
				d.Store.ReplaceChunks(t.Context(), document.Ref(), retrieval.Extracted{Title: "Said inside", Text: "one\ntwo"},
					chunks),
			)
		}
		work, err := d.Store.BeginDocument(t.Context(), document.Ref())
		require.NoError(t, err)
		require.Empty(t, work.Content, "it is cut already")
		require.Equal(t, 2, work.Document.Chunks)
		require.Equal(t, "Said inside", work.Document.Title)

		tasks, err := d.Store.PendingEmbeddings(t.Context(), document.Ref(), 1, 10)
		require.NoError(t, err)
		require.Len(t, tasks, 2)
		require.Equal(t, "Said inside", tasks[0].Title)
		require.Equal(t, "one", tasks[0].Text)
		for range 2 {
			document, err = d.Store.SaveEmbeddings(t.Context(), document.Ref(), 1, embeddings(tasks, [][]float32{{1, 0, 0}}))
			require.NoError(t, err)
			require.Equal(t, 1, document.Embedded)
		}
		_, err = d.Store.FinishDocument(t.Context(), document.Ref())
		require.ErrorIs(t, err, retrieval.ErrIncomplete)
		RequireKind(t, tool.Conflict, err)
		document = s.Embed(t, document, 1, []float32{0, 2, 0})
		require.Equal(t, 2, document.Embedded)
		for range 2 {
			document, err = d.Store.FinishDocument(t.Context(), document.Ref())
			require.NoError(t, err)
			require.Equal(t, retrieval.Ready, document.Status)
			require.Equal(t, document.Version, document.LiveVersion)
			require.NotNil(t, document.ReadyAt)
		}
		work, err = d.Store.BeginDocument(t.Context(), document.Ref())
		require.NoError(t, err)
		require.Equal(t, retrieval.Ready, work.Document.Status)
		require.Equal(t, []string{"two", "one"}, s.Nearest(t, 1, 0.1, 1, 0))
	})

	t.Run("WhatIsSearchedStaysUntilTheNewIsReady", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
		s.Add(t, retrieval.Document{Key: "a", Title: "Old", Metadata: retrieval.Metadata{"v": "1"}}, "lighthouse\nkeeper")
		replaced := s.PutDocument(t, retrieval.Document{Key: "a", Title: "New", Metadata: retrieval.Metadata{"v": "2"}},
			"lighthouse")
		for range 2 { // Before its chunks are stored, and after.
			hits := s.Ask(t, "lighthouse", retrieval.Condition{Field: "v", Comparison: retrieval.In, Values: []any{"1"}})
			require.Len(t, hits, 1)
			require.Equal(t, "Old", hits[0].Title)
			require.Len(t, s.Ask(t, "keeper"), 1)
			s.Cut(t, replaced, "lighthouse")
		}
		_, err := d.Store.FinishDocument(t.Context(), replaced.Ref())
		require.NoError(t, err)
		hits := s.Ask(t, "lighthouse")
		require.Len(t, hits, 1)
		require.Equal(t, "New", hits[0].Title)
		require.Equal(t, retrieval.Metadata{"v": "2"}, hits[0].Metadata)
		require.Empty(t, s.Ask(t, "keeper"))
	})

	t.Run("WorkForAnOlderVersionIsRefused", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t), Embedding: &Model})
		old := s.Put(t, "a", "one")
		s.Cut(t, old, "one")
		tasks, err := d.Store.PendingEmbeddings(t.Context(), old.Ref(), 1, 1)
		require.NoError(t, err)
		s.Put(t, "a", "two")
		ref := old.Ref()
		for name, try := range map[string]func() error{
			"begin":   func() error { _, err := d.Store.BeginDocument(t.Context(), ref); return err },
			"chunks":  func() error { return d.Store.ReplaceChunks(t.Context(), ref, retrieval.Extracted{}, Lines("one")) },
			"pending": func() error { _, err := d.Store.PendingEmbeddings(t.Context(), ref, 1, 1); return err },
			"save": func() error {
				_, err := d.Store.SaveEmbeddings(t.Context(), ref, 1, embeddings(tasks, [][]float32{{1, 0, 0}}))
				return err
			},
			"finish": func() error { _, err := d.Store.FinishDocument(t.Context(), ref); return err },
			"fail":   func() error { _, err := d.Store.FailDocument(t.Context(), ref, "late"); return err },
		} {
			err := try()
			require.ErrorIs(t, err, retrieval.ErrVersion, name)
			RequireKind(t, tool.Conflict, err)
		}
	})

	t.Run("WhatFailsMayBeginAgain", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
		s.Add(t, retrieval.Document{Key: "a"}, "lighthouse")
		document := s.Put(t, "a", "keeper")
		failed, err := d.Store.FailDocument(t.Context(), document.Ref(), "not a word\x00 of it"+strings.Repeat("…", 1000))
		require.NoError(t, err)
		require.Equal(t, retrieval.Failed, failed.Status)
		require.LessOrEqual(t, len(failed.Error), retrieval.MaxDocumentError)
		require.Len(t, s.Ask(t, "lighthouse"), 1, "what was searched still is")
		_, changed, err := d.Store.PutDocument(t.Context(), document, []byte("keeper"))
		require.NoError(t, err)
		require.True(t, changed, "what failed is tried again")
		document, err = d.Store.FindDocument(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, "a")
		require.NoError(t, err)
		s.Cut(t, document, "keeper")
		document, err = d.Store.FinishDocument(t.Context(), document.Ref())
		require.NoError(t, err)
		require.Empty(t, document.Error)
		_, err = d.Store.FailDocument(t.Context(), document.Ref(), "too late")
		RequireKind(t, tool.Conflict, err)
	})

	t.Run("BoundsHold", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t), Embedding: &Model})
		document := s.Put(t, "a", "one")
		RequireKind(t, tool.Invalid, d.Store.ReplaceChunks(t.Context(), document.Ref(), retrieval.Extracted{}, nil))
		RequireKind(
			t, tool.Invalid,
			d.Store.ReplaceChunks(t.Context(), document.Ref(), retrieval.Extracted{},
				make([]retrieval.Chunk, retrieval.MaxDocumentChunks+1)),
		)
		long := []retrieval.Chunk{{Text: strings.Repeat("x", retrieval.MaxChunkBytes+1)}}
		RequireKind(t, tool.Invalid, d.Store.ReplaceChunks(t.Context(), document.Ref(), retrieval.Extracted{}, long))
		_, err := d.Store.FinishDocument(t.Context(), document.Ref())
		require.ErrorIs(t, err, retrieval.ErrIncomplete, "nothing was cut")
		s.Cut(t, document, "one")
		tasks, err := d.Store.PendingEmbeddings(t.Context(), document.Ref(), 1, 1)
		require.NoError(t, err)
		nan := float32(math.NaN())
		for _, v := range [][]float32{{}, {1, 2}, {1, 2, 3, 4}, {0, 0, 0}, {nan, 0, 0}, {float32(math.Inf(1)), 0, 0}} {
			_, err := d.Store.SaveEmbeddings(t.Context(), document.Ref(), 1, embeddings(tasks, [][]float32{v}))
			RequireKind(t, tool.Invalid, err)
		}
		_, err = d.Store.SaveEmbeddings(t.Context(), document.Ref(), 2, embeddings(tasks, [][]float32{{1, 0, 0}}))
		require.ErrorIs(t, err, retrieval.ErrGeneration)
	})

	t.Run("WordsOfAnySizeAndSpelling", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t), Language: "simple"})
		odd := []string{
			"it's", `back\slash`, `''quoted''`, "NUL\x00inside", "\xff\xfebytes", strings.Repeat("long", 600), "a:b|c&d!e(f)",
			"日本語 текст", "x@y.example",
		}
		s.Add(t, retrieval.Document{Key: "a"}, strings.Join(odd, " "))
		for _, word := range []string{"it's", `back\slash`, "''quoted''", "日本語", "текст", "x@y.example"} {
			require.Len(t, s.Ask(t, word), 1, word)
		}
	})
}

func testGenerations(t *testing.T, d *Database) {
	t.Helper()

	t.Run("ANewModelTakesOverAtOnce", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t), Embedding: &Model, Search: retrieval.Vector})
		document := s.Put(t, "a", "one\ntwo")
		s.Cut(t, document, "one\ntwo")
		s.Embed(t, document, 1, []float32{1, 0, 0}, []float32{0, 1, 0})
		_, err := d.Store.FinishDocument(t.Context(), document.Ref())
		require.NoError(t, err)

		other := retrieval.EmbeddingConfig{URL: "https://models.example/v1", Model: "two", Dimensions: 2}
		p, err := d.Store.BeginGeneration(t.Context(), s.Pipeline, other)
		require.NoError(t, err)
		require.Equal(t, 2, p.NextGeneration)
		require.Equal(t, &other, p.NextEmbedding)
		ref := retrieval.GenerationRef{Tenant: p.Tenant, Pipeline: p.ID, Generation: 2}

		// Ingested meanwhile: embedded in both.
		late := s.Put(t, "b", "three")
		s.Cut(t, late, "three")
		s.Embed(t, late, 1, []float32{0, 0, 1})
		_, err = d.Store.FinishDocument(t.Context(), late.Ref())
		require.ErrorIs(t, err, retrieval.ErrIncomplete)
		s.Embed(t, late, 2, []float32{1, 1})
		_, err = d.Store.FinishDocument(t.Context(), late.Ref())
		require.NoError(t, err)

		_, err = d.Store.PromoteGeneration(t.Context(), ref)
		require.ErrorIs(t, err, retrieval.ErrIncomplete)
		tasks, left, err := d.Store.PendingGeneration(t.Context(), ref, 1)
		require.NoError(t, err)
		require.Len(t, tasks, 1)
		require.Equal(t, 2, left)
		tasks, _, err = d.Store.PendingGeneration(t.Context(), ref, 10)
		require.NoError(t, err)
		for _, task := range tasks {
			v := []float32{0, 1}
			if task.Text == "one" {
				v = []float32{1, 0}
			}
			require.NoError(
				t, d.Store.SaveGeneration(t.Context(), ref, embeddings([]retrieval.EmbeddingTask{task}, [][]float32{v})),
			)
		}
		require.Equal(t, "one", s.Nearest(t, 1, 1, 0, 0)[0], "the old is searched until the new takes over")
		for range 2 {
			p, err = d.Store.PromoteGeneration(t.Context(), ref)
			require.NoError(t, err)
			require.Equal(t, 2, p.Generation)
			require.Equal(t, &other, p.Embedding)
			require.Zero(t, p.NextGeneration)
		}
		require.Equal(t, []string{"two", "three", "one"}, s.Nearest(t, 2, 0, 1))
		_, err = d.Store.SearchIndex(t.Context(), p.Tenant, retrieval.IndexQuery{
			Pipeline: p.ID, Vector: []float32{1, 0, 0}, Generation: 1,
		})
		require.ErrorIs(t, err, retrieval.ErrGeneration)
		_, err = d.Store.SearchIndex(t.Context(), p.Tenant, retrieval.IndexQuery{
			Pipeline: p.ID, Vector: []float32{1, 0, 0}, Generation: 2,
		})
		RequireKind(t, tool.Invalid, err)
		require.ErrorIs(t, d.Store.SaveGeneration(t.Context(), ref, nil), retrieval.ErrGeneration)
	})

	t.Run("ADroppedOneLeavesNothing", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
		s.Add(t, retrieval.Document{Key: "a"}, "one")
		p, err := d.Store.BeginGeneration(t.Context(), s.Pipeline, Model)
		require.NoError(t, err)
		ref := retrieval.GenerationRef{Tenant: p.Tenant, Pipeline: p.ID, Generation: p.NextGeneration}
		tasks, _, err := d.Store.PendingGeneration(t.Context(), ref, 10)
		require.NoError(t, err)
		require.NoError(t, d.Store.SaveGeneration(t.Context(), ref, embeddings(tasks, [][]float32{{1, 0, 0}})))
		p, err = d.Store.DropGeneration(t.Context(), ref, "the model is away")
		require.NoError(t, err)
		require.Nil(t, p.NextEmbedding)
		require.Equal(t, "the model is away", p.EmbeddingError)
		_, err = d.Store.PromoteGeneration(t.Context(), ref)
		require.ErrorIs(t, err, retrieval.ErrGeneration)
		p, err = d.Store.BeginGeneration(t.Context(), p, Model)
		require.NoError(t, err)
		require.Equal(t, 2, p.NextGeneration, "no number is given twice")
		require.Empty(t, p.EmbeddingError, "another is being built")
		ref.Generation = 2
		_, left, err := d.Store.PendingGeneration(t.Context(), ref, 10)
		require.NoError(t, err)
		require.Equal(t, 1, left)
	})

	t.Run("TheFirstOneStaysAndSaysWhyItIsNotBuilt", func(t *testing.T) {
		t.Parallel()
		s := NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
		s.Add(t, retrieval.Document{Key: "a"}, "one")
		p, err := d.Store.BeginGeneration(t.Context(), s.Pipeline, Model)
		require.NoError(t, err)
		p.Search = retrieval.Vector
		p, err = d.Store.UpdatePipeline(t.Context(), p)
		require.NoError(t, err)
		_, err = d.Store.DropGeneration(
			t.Context(), retrieval.GenerationRef{Tenant: p.Tenant, Pipeline: p.ID, Generation: p.NextGeneration},
			"the model is away",
		)
		RequireKind(t, tool.Conflict, err)
		p, err = d.Store.FindPipeline(t.Context(), p.Tenant, p.ID)
		require.NoError(t, err)
		require.NotNil(t, p.NextEmbedding)
		require.Equal(t, "the model is away", p.EmbeddingError)
	})
}
