package store_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// The shelf that searches are measured on.
const (
	benchChunks   = 100_000
	benchNearby   = 20_000 // Of a neighbour in the same tables.
	benchPerDoc   = 100
	benchWords    = 220 // In a chunk.
	benchLexicon  = 40_000
	benchQuestion = 8 // Words of a question.
)

// prose writes texts whose words are as frequent as words are: the n-th about
// 1/n as often as the first.
type prose struct {
	rand *rand.Rand
	zipf *rand.Zipf
}

func newProse(seed uint64) *prose {
	r := rand.New(rand.NewPCG(seed, 1))
	return &prose{r, rand.NewZipf(r, 1.05, 8, benchLexicon-1)}
}

// word returns the n-th word: letters that no stemmer shortens.
func word(n uint64) string {
	const consonants, vowels = "bcdfgklmnprtvz", "aeiou"
	var b strings.Builder
	for n += 1000; n > 0; n /= 70 {
		b.WriteByte(consonants[n%70/5])
		b.WriteByte(vowels[n%5])
	}
	return b.String() + "k"
}

func (p *prose) text(words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(word(p.zipf.Uint64()))
		b.WriteByte(' ')
	}
	return b.String()
}

// fillShelf gives a shelf documents until it has so many chunks.
func fillShelf(b *testing.B, s *storetest.Shelf, seed uint64, chunks int) {
	b.Helper()
	p := newProse(seed)
	for n := range chunks / benchPerDoc {
		d := s.PutDocument(b, retrieval.Document{
			Key: fmt.Sprintf("d%06d", n), Title: p.text(4),
			Metadata: retrieval.Metadata{"team": fmt.Sprintf("team%d", n%10), "year": 2000 + n%25},
		}, "content")
		all := make([]retrieval.Chunk, benchPerDoc)
		for i := range all {
			all[i] = retrieval.Chunk{Position: i, Text: p.text(benchWords), Headings: []string{p.text(3)}}
		}
		_, err := s.Store.BeginDocument(b.Context(), d.Ref())
		require.NoError(b, err)
		require.NoError(b, s.Store.ReplaceChunks(b.Context(), d.Ref(), retrieval.Extracted{}, all))
		_, err = s.Store.FinishDocument(b.Context(), d.Ref())
		require.NoError(b, err)
	}
}

// BenchmarkSearchText asks 100,000 chunks by words, beside a neighbour's 20,000 in
// the same tables: how long it takes, and whether the best five are those of a
// comparison of all.
func BenchmarkSearchText(b *testing.B) {
	d := storetest.NewDatabase(b, store.Options{MaxConns: 8})
	mine := storetest.NewShelf(b, d.Store, retrieval.Pipeline{Tenant: d.Tenant(b)})
	neighbour := storetest.NewShelf(b, d.Store, retrieval.Pipeline{Tenant: d.Tenant(b)})
	conn := d.Conn(b)
	exec := func(sql string) {
		_, err := conn.Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	exec("drop index chunk_terms_terms") // No search uses it any more, and filling takes half the time.
	fillShelf(b, mine, 1, benchChunks)
	fillShelf(b, neighbour, 2, benchNearby)
	exec("vacuum analyze")
	b.Run("Recall", func(b *testing.B) { recall(b, mine, conn) })
	measure(b, "All", mine, nil)
	measure(b, "Filtered", mine, retrieval.Filter{
		{Field: "team", Comparison: retrieval.In, Values: []any{"team3"}},
		{Field: "year", Comparison: retrieval.AtLeast, Values: []any{2010}},
	})
}

// recall asks questions of every kind and reports which share of the five best
// passages of a comparison of all is found.
func recall(b *testing.B, s *storetest.Shelf, conn *pgx.Conn) {
	b.Helper()
	_, err := conn.Exec(b.Context(), "select set_config('app.tenant_id', $1, false)", string(s.Pipeline.Tenant))
	require.NoError(b, err)
	all := countPassages(b, conn, s.Pipeline, "english")
	p := newProse(98)
	found, wanted := 0, 0
	for b.Loop() {
		for n := range 6 {
			seen := map[string]bool{}
			var query []string
			for range 1 + n%3*3 + n/3 {
				if w := word(p.zipf.Uint64()); !seen[w] {
					seen[w], query = true, append(query, w)
				}
			}
			scores := bruteForce(all, query)
			best := slices.SortedFunc(maps.Values(scores), func(x, y float64) int { return cmp.Compare(y, x) })
			hits, err := s.Store.SearchIndex(b.Context(), s.Pipeline.Tenant, retrieval.IndexQuery{
				Pipeline: s.Pipeline.ID, Text: strings.Join(query, " "), Limit: retrieval.DefaultLimit,
			})
			require.NoError(b, err)
			wanted += min(len(best), retrieval.DefaultLimit)
			for i, h := range hits.Text {
				if math.Abs(scores[h.ID]-best[i]) < 1e-9 {
					found++
				}
			}
		}
	}
	b.ReportMetric(float64(found)/float64(wanted), "recall@5")
}

// measure asks questions of several kinds and reports how long half of them, and
// 99 of 100, took at most.
func measure(b *testing.B, name string, s *storetest.Shelf, filter retrieval.Filter) {
	b.Helper()
	kinds := []struct {
		name string
		ask  func(p *prose) string
	}{
		{"Question", func(p *prose) string { return p.text(benchQuestion) }},
		{"TwoWords", func(p *prose) string { return p.text(2) }},
		{"CommonWord", func(p *prose) string { return word(p.rand.Uint64N(10)) }},
		{"RareWord", func(p *prose) string { return word(5000 + p.rand.Uint64N(20_000)) }},
	}
	for _, kind := range kinds {
		b.Run(name+"/"+kind.name, func(b *testing.B) {
			p := newProse(99)
			ask(b, s, kind.ask(p), filter)
			var took []time.Duration
			for b.Loop() {
				text := kind.ask(p)
				began := time.Now()
				ask(b, s, text, filter)
				took = append(took, time.Since(began))
			}
			report(b, took)
		})
	}
}

func ask(b *testing.B, s *storetest.Shelf, text string, filter retrieval.Filter) {
	b.Helper()
	_, err := s.Store.SearchIndex(b.Context(), s.Pipeline.Tenant, retrieval.IndexQuery{
		Pipeline: s.Pipeline.ID, Text: text, Filter: filter, Limit: retrieval.DefaultLimit,
	})
	require.NoError(b, err)
}

func report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	ms := func(share float64) float64 {
		return float64(took[min(len(took)-1, int(share*float64(len(took))))].Microseconds()) / 1000
	}
	b.ReportMetric(ms(0.5), "p50-ms")
	b.ReportMetric(ms(0.99), "p99-ms")
}

// BenchmarkSearchVector compares a vector to all embeddings of a pipeline.
func BenchmarkSearchVector(b *testing.B) {
	const dimensions = 256
	for _, chunks := range []int{10_000, benchChunks} {
		b.Run(strconv.Itoa(chunks), func(b *testing.B) {
			d := storetest.NewDatabase(b)
			config := storetest.Model
			config.Dimensions = dimensions
			s := storetest.NewShelf(b, d.Store, retrieval.Pipeline{Tenant: d.Tenant(b)})
			shortShelf(b, s, chunks)
			p, err := d.Store.FindPipeline(b.Context(), s.Pipeline.Tenant, s.Pipeline.ID)
			require.NoError(b, err)
			p, err = d.Store.BeginGeneration(b.Context(), p, config)
			require.NoError(b, err)
			r := rand.New(rand.NewPCG(1, 1))
			embedAll(b, d.Store, retrieval.GenerationRef{Tenant: p.Tenant, Pipeline: p.ID, Generation: p.NextGeneration}, r,
				dimensions)
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				hits, err := d.Store.SearchIndex(b.Context(), p.Tenant, retrieval.IndexQuery{
					Pipeline: p.ID, Vector: randomVector(r, dimensions), Generation: 1, Limit: retrieval.DefaultLimit,
				})
				require.NoError(b, err)
				require.Len(b, hits.Vector, retrieval.DefaultLimit)
				took = append(took, time.Since(began))
			}
			report(b, took)
		})
	}
}

// shortShelf gives a shelf chunks of one word.
func shortShelf(b *testing.B, s *storetest.Shelf, chunks int) {
	b.Helper()
	for n := range chunks / 10_000 {
		s.Add(b, retrieval.Document{Key: strconv.Itoa(n)}, strings.TrimSpace(strings.Repeat("word\n", 10_000)))
	}
}

func embedAll(b *testing.B, s *store.Store, ref retrieval.GenerationRef, r *rand.Rand, dimensions int) {
	b.Helper()
	for {
		tasks, _, err := s.PendingGeneration(b.Context(), ref, 1000)
		require.NoError(b, err)
		if len(tasks) == 0 {
			_, err = s.PromoteGeneration(b.Context(), ref)
			require.NoError(b, err)
			return
		}
		all := make([]retrieval.Embedding, len(tasks))
		for i, task := range tasks {
			all[i] = retrieval.Embedding{ChunkID: task.ChunkID, Vector: randomVector(r, dimensions)}
		}
		require.NoError(b, s.SaveGeneration(b.Context(), ref, all))
	}
}

func randomVector(r *rand.Rand, dimensions int) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}
