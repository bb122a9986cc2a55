package store_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// vectorType stands for pgvector where it is not installed: a type of its name
// that is written as its own is, and its operator for the negative dot product.
const vectorType = `
	create type vector;
	create function vector_in(cstring) returns vector language internal immutable strict as 'textin';
	create function vector_out(vector) returns cstring language internal immutable strict as 'textout';
	create type vector (input = vector_in, output = vector_out, like = text);
	create function vector_product(a vector, b vector) returns float8 language sql immutable strict as $$
		select -sum(x * y) from unnest(translate(vector_out(a)::text, '[]', '{}')::float8[], translate(vector_out(b)::text, '[]', '{}')::float8[]) as p (x, y)
	$$;
	create operator <#> (leftarg = vector, rightarg = vector, function = vector_product);
`

// Where the extension is, embeddings saved from the next migration on are
// compared by the database. What is found is the same.
func TestVectorsInTheDatabase(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	conn := d.Conn(t)
	_, err := conn.Exec(t.Context(), vectorType)
	require.NoError(t, err)
	tenant := d.Tenant(t)
	before := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: tenant, Embedding: &storetest.Model})
	fill := func(s *storetest.Shelf) {
		document := s.PutDocument(t, retrieval.Document{Key: "a", Metadata: retrieval.Metadata{"team": "a"}},
			"one\ntwo\nthree")
		s.Cut(t, document, "one\ntwo\nthree")
		s.Embed(t, document, 1, []float32{1, 0, 0}, []float32{1, 1, 0}, []float32{0, 0, 1})
		_, err := s.Store.FinishDocument(t.Context(), document.Ref())
		require.NoError(t, err)
	}
	fill(before)
	for range 2 {
		_, err = store.Migrate(t.Context(), d.URL)
		require.NoError(t, err)
	}
	opened, err := store.Open(t.Context(), d.URL, store.Options{SetRole: store.AppRole, MaxConns: 4, NotifyInterval: -1})
	require.NoError(t, err)
	t.Cleanup(opened.Close)
	after := storetest.NewShelf(t, opened, retrieval.Pipeline{Tenant: tenant, Embedding: &storetest.Model})
	fill(after)
	var filled, lacking int
	require.NoError(t, conn.QueryRow(t.Context(), `select count(*) filter (where pipeline_id = $1 and vector is not null),
		count(*) filter (where pipeline_id = $2 and vector is null) from chunk_embeddings`, after.Pipeline.ID,
		before.Pipeline.ID).Scan(&filled, &lacking))
	require.Equal(t, 3, filled)
	require.Equal(t, 3, lacking, "what was there stays as it was")

	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		v := randomVector(r, 3)
		var want []string
		for _, s := range []*storetest.Shelf{
			before, {Store: opened, Pipeline: before.Pipeline}, after, {Store: d.Store, Pipeline: after.Pipeline},
		} {
			got := s.Nearest(t, 1, v...)
			require.Len(t, got, 3)
			if want == nil {
				want = got
			}
			require.Equal(t, want, got)
		}
	}
	hits, err := opened.SearchIndex(t.Context(), tenant, retrieval.IndexQuery{
		Pipeline: after.Pipeline.ID, Vector: []float32{2, 0, 0}, Generation: 1, Limit: 1,
		Filter: retrieval.Filter{{Field: "team", Comparison: retrieval.In, Values: []any{"a"}}},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"one"}, storetest.Texts(hits.Vector))
	require.InDelta(t, 1, hits.Vector[0].Score, 1e-6)
	_, err = opened.SearchIndex(t.Context(), d.Tenant(t), retrieval.IndexQuery{
		Pipeline: after.Pipeline.ID, Vector: []float32{2, 0, 0}, Generation: 1,
	})
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}
