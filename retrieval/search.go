package retrieval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// FusionK is the constant of reciprocal rank fusion: a hit at rank r of one mode adds
// 1/(FusionK+r) to its score. A greater constant gives less weight to the first ranks.
const FusionK = 60

const (
	// fusedDepth is how many hits of each mode are fused per requested hit, and
	// minFusedDepth at least: a hit with lower ranks in both may be the best.
	fusedDepth    = 4
	minFusedDepth = 50
	// maxGenerations bounds how often a query is embedded again because the live
	// generation has changed.
	maxGenerations = 3
)

// Engine implements [Searcher].
type Engine struct {
	store    SearchStore
	embedder Embedder
}

// SearchStore is the part of a [Store] for searching.
type SearchStore interface {
	FindPipeline(ctx context.Context, tenant tool.TenantID, slugOrID string) (Pipeline, error)
	Index
}

var _ Searcher = (*Engine)(nil)

// NewEngine returns a searcher over store. With a nil embedder, it searches by words only, and
// refuses other modes with [tool.Unavailable].
func NewEngine(store SearchStore, embedder Embedder) *Engine {
	return &Engine{store: store, embedder: embedder}
}

// UsesCredential reports whether searches in a pipeline of a tenant may send a credential: that of its
// embedding model, or of the one that replaces it.
func (e *Engine) UsesCredential(ctx context.Context, tenant tool.TenantID, pipeline string) (bool, error) {
	p, err := e.store.FindPipeline(ctx, tenant, pipeline)
	if err != nil {
		return false, err
	}
	for _, model := range []*EmbeddingConfig{p.Embedding, p.NextEmbedding} {
		if model != nil && model.CredentialsRef != "" {
			return true, nil
		}
	}
	return false, nil
}

// Search implements [Searcher].
func (e *Engine) Search(ctx context.Context, tenant tool.TenantID, pipeline string, q Query) (Answer, error) {
	if err := q.Check(); err != nil {
		return Answer{}, err
	}
	var err error
	for range maxGenerations {
		var answer Answer
		if answer, err = e.search(ctx, tenant, pipeline, q); !errors.Is(err, ErrGeneration) {
			return answer, err
		}
	}
	return Answer{}, err
}

func (e *Engine) search(ctx context.Context, tenant tool.TenantID, pipeline string, q Query) (Answer, error) {
	p, err := e.store.FindPipeline(ctx, tenant, pipeline)
	if err != nil {
		return Answer{}, err
	}
	mode := cmp.Or(q.Mode, p.Search)
	index := IndexQuery{Pipeline: p.ID, Exclude: q.Exclude, Filter: q.Filter, Limit: q.Limit}
	if mode != Vector {
		index.Text = q.Text
	}
	if mode.Embeds() && q.Local {
		return Answer{}, mayNotLeave(&p)
	}
	if mode.Embeds() {
		if index.Vector, err = e.embed(ctx, &p, mode, q.Text); err != nil {
			return Answer{}, err
		}
		index.Generation = p.Generation
	}
	if mode == Hybrid {
		index.Limit = max(minFusedDepth, fusedDepth*q.Limit)
	}
	found, err := e.store.SearchIndex(ctx, tenant, index)
	if err != nil {
		return Answer{}, err
	}
	hits := fuse(mode, found)
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.Score < q.MinScore })
	return Answer{Pipeline: p, Mode: mode, Hits: hits[:min(len(hits), q.Limit)]}, nil
}

// embed returns a query's vector by the model of the live generation.
func (e *Engine) embed(ctx context.Context, p *Pipeline, mode Mode, text string) ([]float32, error) {
	const op = "retrieval.Search"
	switch {
	case p.Disabled:
		return nil, &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf("pipeline %q is disabled", p.Slug)}
	case p.Embedding == nil || p.Generation == 0:
		return nil, &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
			"pipeline %q has no embeddings yet, so it can't be searched by %s: search by full_text, or give it an "+
				"embedding model", p.Slug, mode)}
	case e.embedder == nil:
		return nil, &tool.Error{
			Kind: tool.Unavailable, Op: op, Msg: "this worker has no client for embedding models: search by full_text",
		}
	}
	vectors, err := e.embedder.Embed(ctx, p.Tenant, *p.Embedding, QueryText, []string{text})
	if err != nil {
		return nil, fmt.Errorf("embedding the query: %w", err)
	}
	if len(vectors) != 1 || len(vectors[0]) != p.Embedding.Dimensions {
		return nil, &tool.Error{Kind: tool.InternalError, Op: op, Msg: "internal error", Err: errEmbedder}
	}
	return vectors[0], nil
}

var errEmbedder = errors.New("the embedder did not return one vector of the model's dimensions")

// fuse merges the hits of two modes. The hits of one mode keep their order and scores.
func fuse(mode Mode, found IndexHits) []Hit {
	byID := make(map[string]*Hit, len(found.Text)+len(found.Vector))
	order := make([]*Hit, 0, len(found.Text)+len(found.Vector))
	add := func(found IndexHit) *Hit {
		h := byID[found.ID]
		if h == nil {
			h = &Hit{
				Chunk: found.Chunk, DocumentKey: found.Key, Title: found.Title, Source: found.Source, Metadata: found.Metadata,
			}
			byID[found.ID] = h
			order = append(order, h)
		}
		if mode != Hybrid {
			h.Score = found.Score
		}
		return h
	}
	for i, hit := range found.Text {
		add(hit).TextRank = i + 1
	}
	for i, hit := range found.Vector {
		add(hit).VectorRank = i + 1
	}
	hits := make([]Hit, len(order))
	for i, h := range order {
		if mode == Hybrid {
			h.Score = reciprocal(h.TextRank) + reciprocal(h.VectorRank)
		}
		hits[i] = *h
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits
}

func reciprocal(rank int) float64 {
	if rank == 0 {
		return 0
	}
	return 1 / float64(FusionK+rank)
}

// mayNotLeave refuses to embed a query that must not leave the process.
func mayNotLeave(p *Pipeline) error {
	return &tool.Error{
		Kind: tool.Denied, Op: "retrieval.Search",
		Err: &tool.DriftError{
			Declared: tool.EgressNone, Attempted: "an embedding model", Err: errors.New("refused for its class"),
		},
		Msg: fmt.Sprintf("the tool's egress class is none, and its query would go to the embedding model of pipeline %q; "+
			"set its egress_class to read_only, or search by words with mode full_text", p.Slug),
	}
}
