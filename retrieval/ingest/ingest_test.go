package ingest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/retrieval/extract"
	"github.com/toolcrib/toolcrib/retrieval/ingest"
	"github.com/toolcrib/toolcrib/tool"
)

var small = &retrieval.EmbeddingConfig{Model: "small", Dimensions: 4, BatchSize: 2}

// handbook has a chunk for each of its ten sections.
var handbook = "# Handbook\n\n" + strings.Repeat("## Section\n\nWhat the section says.\n\n", 10)

func newIngester(t *testing.T, s *shelf, m *model, change ...func(*ingest.Config)) *ingest.Ingester {
	t.Helper()
	cfg := ingest.Config{Store: s, Extractor: extract.New(extract.Config{}), Embedder: m, Parallel: 1}
	for _, fn := range change {
		fn(&cfg)
	}
	i, err := ingest.New(cfg)
	require.NoError(t, err)
	return i
}

func TestADocumentBecomesSearched(t *testing.T) {
	t.Parallel()

	s, m := newShelf(handbook, small), &model{}
	i := newIngester(t, s, m)
	prepared, err := i.Prepare(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, ingest.Prepared{State: ingest.Working, Chunks: 10, Generations: []int{1}}, prepared)
	require.Equal(t, "Handbook", s.document.Title)
	for n, c := range s.chunks {
		require.Equal(t, n, c.Position)
		require.Equal(t, handbook[c.Start:c.End], c.Text)
		require.Equal(t, []string{"Handbook", "Section"}, c.Headings)
	}

	state, err := i.Finish(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, ingest.Working, state, "there are no embeddings yet")

	var reported []int
	out, err := i.Embed(t.Context(), ref, 1, func(n int) { reported = append(reported, n) })
	require.NoError(t, err)
	require.Equal(t, ingest.Slice{State: ingest.Ready, Embedded: 10}, out)
	require.Equal(t, []int{2, 4, 6, 8, 10}, reported)
	require.Len(t, m.asked, 5)
	require.Equal(t, "Handbook › Section\n\n# Handbook\n\n## Section\n\nWhat the section says.", m.asked[0][0])

	state, err = i.Finish(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, ingest.Ready, state)
	again, err := i.Prepare(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, ingest.Prepared{State: ingest.Ready, Chunks: 10}, again, "there is nothing left to do")
	require.Equal(t, 1, s.replaced)
}

// What was embedded before a step failed is not embedded again.
func TestAStepGoesOnWhereTheLastOneStopped(t *testing.T) {
	t.Parallel()

	s, m := newShelf(handbook, small), &model{}
	i := newIngester(t, s, m)
	_, err := i.Prepare(t.Context(), ref)
	require.NoError(t, err)

	m.fail = func(request int) error {
		if request == 3 {
			return &tool.Error{Kind: tool.RateLimited, Msg: "slow down", RetryAfter: time.Minute}
		}
		return nil
	}
	out, err := i.Embed(t.Context(), ref, 1, nil)
	require.NoError(t, err)
	require.Equal(t, ingest.Slice{State: ingest.Working, Embedded: 4, Wait: time.Minute}, out)
	out, err = i.Embed(t.Context(), ref, 1, nil)
	require.NoError(t, err)
	require.Equal(t, ingest.Slice{State: ingest.Ready, Embedded: 6}, out)
	require.Len(t, m.asked, 6)
}

func TestAStepThatGetsNowhereFails(t *testing.T) {
	t.Parallel()

	s, m := newShelf(handbook, small), &model{}
	i := newIngester(t, s, m)
	_, err := i.Prepare(t.Context(), ref)
	require.NoError(t, err)
	for _, kind := range []tool.Kind{tool.RateLimited, tool.Denied} {
		m.fail = func(int) error { return &tool.Error{Kind: kind, Msg: "no", RetryAfter: time.Minute} }
		_, err = i.Embed(t.Context(), ref, 1, nil)
		require.Equal(t, kind, tool.KindOf(err))
	}
	// What can't succeed later fails also where something was embedded.
	m.asked, m.fail = nil, func(request int) error {
		if request == 2 {
			return &tool.Error{Kind: tool.Denied, Msg: "no"}
		}
		return nil
	}
	_, err = i.Embed(t.Context(), ref, 1, nil)
	require.Equal(t, tool.Denied, tool.KindOf(err))
}

func TestAStepEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()

	s, m := newShelf(handbook, small), &model{}
	i := newIngester(t, s, m, func(c *ingest.Config) { c.Slice = time.Nanosecond; c.Parallel = 2 })
	_, err := i.Prepare(t.Context(), ref)
	require.NoError(t, err)
	out, err := i.Embed(t.Context(), ref, 1, nil)
	require.NoError(t, err)
	require.Equal(t, ingest.Slice{State: ingest.Working, Embedded: 4}, out)
}

func TestAnOlderVersionIsLeft(t *testing.T) {
	t.Parallel()

	s := newShelf(handbook, small)
	i := newIngester(t, s, &model{})
	old := retrieval.DocumentRef{Tenant: tenant, Document: document, Version: 7}
	for range 2 {
		want := ingest.Superseded
		if s.gone {
			want = ingest.Gone
		}
		prepared, err := i.Prepare(t.Context(), old)
		require.NoError(t, err)
		require.Equal(t, want, prepared.State)
		out, err := i.Embed(t.Context(), old, 1, nil)
		require.NoError(t, err)
		require.Equal(t, want, out.State)
		state, err := i.Finish(t.Context(), old)
		require.NoError(t, err)
		require.Equal(t, want, state)
		require.NoError(t, i.Fail(t.Context(), old, "no"))
		s.gone = true
	}
}

// A document that is replaced while it is embedded is left to who comes next.
func TestAReplacementEndsAStep(t *testing.T) {
	t.Parallel()

	s, m := newShelf(handbook, small), &model{}
	i := newIngester(t, s, m)
	_, err := i.Prepare(t.Context(), ref)
	require.NoError(t, err)
	m.fail = func(request int) error {
		if request == 2 {
			s.mu.Lock()
			s.document.Version++
			s.mu.Unlock()
		}
		return nil
	}
	out, err := i.Embed(t.Context(), ref, 1, nil)
	require.NoError(t, err)
	require.Equal(t, ingest.Slice{State: ingest.Superseded, Embedded: 2}, out)
}

// A document whose embeddings nobody needs any more is not one that was
// replaced: it is finished with those of the generation that took their place.
func TestAPromotionWhileADocumentIsEmbedded(t *testing.T) {
	t.Parallel()

	s, m := newShelf(handbook, small), &model{}
	i := newIngester(t, s, m)
	_, err := i.Prepare(t.Context(), ref)
	require.NoError(t, err)
	m.fail = func(request int) error {
		if request == 2 {
			s.mu.Lock()
			s.pipeline.Generation = 2
			s.mu.Unlock()
		}
		return nil
	}
	out, err := i.Embed(t.Context(), ref, 1, nil)
	require.NoError(t, err)
	require.Equal(t, ingest.Ready, out.State)
	state, err := i.Finish(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, ingest.Working, state, "it lacks those of the other")
	prepared, err := i.Prepare(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, []int{2}, prepared.Generations)
	_, err = i.Embed(t.Context(), ref, 2, nil)
	require.NoError(t, err)
	state, err = i.Finish(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, ingest.Ready, state)
}

func TestDocumentsThatCannotBeReadSayWhy(t *testing.T) {
	t.Parallel()

	i := newIngester(t, newShelf(" \n", nil), &model{})
	_, err := i.Prepare(t.Context(), ref)
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "has no text")

	s := newShelf("x", nil)
	i = newIngester(t, s, &model{})
	require.NoError(t, i.Fail(t.Context(), ref, strings.Repeat("ü", retrieval.MaxDocumentError)+"\x00"))
	require.LessOrEqual(t, len(s.document.Error), retrieval.MaxDocumentError)
	require.True(t, strings.HasSuffix(s.document.Error, "ü…"), s.document.Error)
}

func TestAGenerationIsBuiltAndPromoted(t *testing.T) {
	t.Parallel()

	s, m := newShelf(handbook, small), &model{}
	i := newIngester(t, s, m)
	_, err := i.Prepare(t.Context(), ref)
	require.NoError(t, err)
	_, err = i.Embed(t.Context(), ref, 1, nil)
	require.NoError(t, err)
	_, err = i.Finish(t.Context(), ref)
	require.NoError(t, err)

	next := retrieval.GenerationRef{Tenant: tenant, Pipeline: pipeline, Generation: 2}
	out, err := i.EmbedGeneration(t.Context(), next, nil)
	require.NoError(t, err)
	require.Equal(t, ingest.Superseded, out.State, "nobody began it")
	_, err = s.BeginGeneration(t.Context(), s.pipeline, retrieval.EmbeddingConfig{Model: "large", Dimensions: 8})
	require.NoError(t, err)
	state, err := i.Promote(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, ingest.Working, state, "it lacks embeddings")
	out, err = i.EmbedGeneration(t.Context(), next, nil)
	require.NoError(t, err)
	require.Equal(t, ingest.Slice{State: ingest.Ready, Embedded: 10}, out)
	state, err = i.Promote(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, ingest.Ready, state)
	require.Equal(t, "large", s.pipeline.Embedding.Model)
	out, err = i.EmbedGeneration(t.Context(), next, nil)
	require.NoError(t, err)
	require.Equal(t, ingest.Ready, out.State, "it is searched already")

	require.NoError(t, i.Drop(t.Context(), next, "no"), "there is nothing to drop")
	require.Equal(t, 2, s.pipeline.Generation)
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()

	_, err := ingest.New(ingest.Config{Store: newShelf("", nil), Embedder: &model{}})
	require.ErrorContains(t, err, "Config.Extractor is required")
}
