package retrieval_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

const acme = tool.TenantID("01890000-0000-7000-8000-000000000001")

// shelf is a store with one pipeline, that answers what it was told to.
type shelf struct {
	pipeline retrieval.Pipeline
	hits     retrieval.IndexHits
	promote  int // How often another generation takes over while a query is embedded.

	asked retrieval.IndexQuery
}

func (s *shelf) FindPipeline(_ context.Context, tenant tool.TenantID, slugOrID string) (retrieval.Pipeline, error) {
	if tenant != acme || slugOrID != s.pipeline.Slug {
		return retrieval.Pipeline{}, &tool.Error{Kind: tool.NotFound, Msg: "pipeline not found"}
	}
	return s.pipeline, nil
}

func (s *shelf) SearchIndex(_ context.Context, _ tool.TenantID, q retrieval.IndexQuery) (retrieval.IndexHits, error) {
	if s.promote > 0 {
		s.promote--
		s.pipeline.Generation++
	}
	if q.Generation != 0 && q.Generation != s.pipeline.Generation {
		return retrieval.IndexHits{}, &tool.Error{
			Kind: tool.Conflict, Msg: "another generation", Err: retrieval.ErrGeneration,
		}
	}
	s.asked = q
	return s.hits, nil
}

// embedder embeds by the length of texts.
type embedder struct{ calls int }

func (e *embedder) Embed(
	_ context.Context, _ tool.TenantID, c retrieval.EmbeddingConfig, kind retrieval.TextKind, texts []string,
) ([][]float32, error) {
	e.calls++
	if kind != retrieval.QueryText {
		return nil, fmt.Errorf("%s is no query", kind)
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, c.Dimensions)
		out[i][0] = float32(len(text))
	}
	return out, nil
}

func newShelf(search retrieval.Mode) *shelf {
	s := &shelf{pipeline: retrieval.Pipeline{ID: "p", Tenant: acme, Slug: "handbook", Search: search}}
	if search != retrieval.FullText {
		s.pipeline.Embedding, s.pipeline.Generation = &model, 1
	}
	return s
}

func found(ids ...string) []retrieval.IndexHit {
	var hits []retrieval.IndexHit
	for i, id := range ids {
		hits = append(hits, retrieval.IndexHit{Chunk: retrieval.Chunk{ID: id}, Score: 1 / float64(i+1)})
	}
	return hits
}

func ids(hits []retrieval.Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func TestSearchByWordsEmbedsNothing(t *testing.T) {
	t.Parallel()

	s := newShelf(retrieval.FullText)
	s.hits.Text = found("a", "b", "c")
	answer, err := retrieval.NewEngine(s, nil).Search(t.Context(), acme, "handbook", retrieval.Query{
		Text: " refunds ", Limit: 2,
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, ids(answer.Hits))
	require.Equal(t, retrieval.FullText, answer.Mode)
	require.Equal(t, retrieval.IndexQuery{Pipeline: "p", Text: "refunds", Limit: 2}, s.asked)
	require.Equal(t, 1, answer.Hits[0].TextRank)
	require.InDelta(t, 0.5, answer.Hits[1].Score, 0)
}

func TestSearchFusesRanks(t *testing.T) {
	t.Parallel()

	s := newShelf(retrieval.Hybrid)
	s.hits = retrieval.IndexHits{Text: found("a", "b", "c"), Vector: found("c", "d", "a")}
	answer, err := retrieval.NewEngine(s, &embedder{}).Search(t.Context(), acme, "handbook", retrieval.Query{
		Text: "refunds",
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c", "b", "d"}, ids(answer.Hits),
		"what both found comes first; equal scores in the order of ids")
	require.InDelta(t, 1.0/61+1.0/63, answer.Hits[0].Score, 1e-12)
	require.Equal(t, 3, answer.Hits[0].VectorRank)
	require.Equal(t, 0, answer.Hits[3].TextRank)
	require.Equal(t, 50, s.asked.Limit, "more than are wanted are fused")
	require.Equal(t, []float32{7, 0}, s.asked.Vector)

	answer, err = retrieval.NewEngine(s, &embedder{}).Search(t.Context(), acme, "handbook", retrieval.Query{
		Text: "refunds", MinScore: 0.02,
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c"}, ids(answer.Hits))

	answer, err = retrieval.NewEngine(s, &embedder{}).Search(t.Context(), acme, "handbook", retrieval.Query{
		Text: "refunds", Mode: retrieval.Vector,
	})
	require.NoError(t, err)
	require.Empty(t, s.asked.Text)
	require.Equal(t, retrieval.Vector, answer.Mode)
}

// However the two ways rank, fusion orders by the sum of reciprocal ranks, keeps
// each hit once, and does not depend on anything else.
func TestFusionIsDeterministic(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 0, 20, rapid.ID[string])
		s := newShelf(retrieval.Hybrid)
		s.hits = retrieval.IndexHits{Text: found(names.Draw(t, "text")...), Vector: found(names.Draw(t, "vector")...)}
		engine := retrieval.NewEngine(s, &embedder{})
		first, err := engine.Search(context.Background(), acme, "handbook", retrieval.Query{
			Text: "x", Limit: retrieval.MaxLimit,
		})
		require.NoError(t, err)
		again, err := engine.Search(context.Background(), acme, "handbook", retrieval.Query{
			Text: "x", Limit: retrieval.MaxLimit,
		})
		require.NoError(t, err)
		require.Equal(t, first, again)
		seen := map[string]bool{}
		for i, h := range first.Hits {
			require.False(t, seen[h.ID])
			seen[h.ID] = true
			if i > 0 {
				before := first.Hits[i-1]
				require.True(t, before.Score > h.Score || before.Score == h.Score && before.ID < h.ID)
			}
		}
	})
}

func TestAQueryIsEmbeddedAnewWhenAModelTakesOver(t *testing.T) {
	t.Parallel()

	s, e := newShelf(retrieval.Vector), &embedder{}
	s.promote, s.hits.Vector = 2, found("a")
	answer, err := retrieval.NewEngine(s, e).Search(t.Context(), acme, "handbook", retrieval.Query{Text: "x"})
	require.NoError(t, err)
	require.Len(t, answer.Hits, 1)
	require.Equal(t, 3, e.calls)

	s.promote = 3
	_, err = retrieval.NewEngine(s, e).Search(t.Context(), acme, "handbook", retrieval.Query{Text: "x"})
	require.ErrorIs(t, err, retrieval.ErrGeneration)
}

func TestSearchIsRefused(t *testing.T) {
	t.Parallel()

	words, both := newShelf(retrieval.FullText), newShelf(retrieval.Hybrid)
	off := newShelf(retrieval.Hybrid)
	off.pipeline.Disabled = true
	for name, tt := range map[string]struct {
		shelf    *shelf
		tenant   tool.TenantID
		query    retrieval.Query
		embedder retrieval.Embedder
		kind     tool.Kind
		text     string
	}{
		"no words":       {words, acme, retrieval.Query{Text: " \n"}, nil, tool.Invalid, "want the query"},
		"too many words": {words, acme, retrieval.Query{Text: string(make([]byte, 3000))}, nil, tool.Invalid, "NUL"},
		"a large limit":  {words, acme, retrieval.Query{Text: "x", Limit: 51}, nil, tool.Invalid, "1 to 50"},
		"an unknown mode": {
			words, acme, retrieval.Query{Text: "x", Mode: "magic"}, nil, tool.Invalid, "full_text, vector or hybrid",
		},
		"a bad filter": {
			words, acme, retrieval.Query{Text: "x", Filter: retrieval.Filter{{Field: "a b"}}}, nil, tool.Invalid, "field",
		},
		"another tenant": {
			words, "01890000-0000-7000-8000-000000000002", retrieval.Query{Text: "x"}, nil, tool.NotFound, "not found",
		},
		"nothing embedded": {
			words, acme, retrieval.Query{Text: "x", Mode: retrieval.Vector}, &embedder{}, tool.Conflict, "no embeddings yet",
		},
		"without a client": {both, acme, retrieval.Query{Text: "x"}, nil, tool.Unavailable, "full_text"},
		"disabled":         {off, acme, retrieval.Query{Text: "x"}, &embedder{}, tool.Conflict, "disabled"},
	} {
		_, err := retrieval.NewEngine(tt.shelf, tt.embedder).Search(t.Context(), tt.tenant, "handbook", tt.query)
		require.Error(t, err, name)
		require.Equal(t, tt.kind, tool.KindOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, tt.text, name)
	}
}

// A query that may not leave is not embedded: it is refused where the mode embeds,
// and answered where words alone are looked for.
func TestLocalQueriesAreNotEmbedded(t *testing.T) {
	t.Parallel()

	for _, mode := range []retrieval.Mode{retrieval.Hybrid, retrieval.Vector} {
		s, e := newShelf(mode), &embedder{}
		engine := retrieval.NewEngine(s, e)
		_, err := engine.Search(t.Context(), acme, "handbook", retrieval.Query{Text: "secret", Limit: 1, Local: true})
		require.Equal(t, tool.Denied, tool.KindOf(err))
		require.ErrorContains(t, err, `the embedding model of pipeline "handbook"`)
		var drift *tool.DriftError
		require.ErrorAs(t, err, &drift)
		require.Zero(t, e.calls)
		_, err = engine.Search(t.Context(), acme, "handbook", retrieval.Query{
			Text: "secret", Limit: 1, Local: true, Mode: retrieval.FullText,
		})
		require.NoError(t, err)
		require.Zero(t, e.calls)
	}
}
