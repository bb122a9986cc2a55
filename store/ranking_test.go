package store_test

import (
	"cmp"
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// corpus is a pipeline whose passages are words of a small lexicon, the first of
// which are in most of them.
type corpus struct {
	shelf *storetest.Shelf
	rand  *rand.Rand
	words []string
}

func newCorpus(t *testing.T, s *store.Store, p retrieval.Pipeline, seed uint64) *corpus {
	t.Helper()
	c := &corpus{shelf: storetest.NewShelf(t, s, p), rand: rand.New(rand.NewPCG(seed, 7))}
	for i := range 20 + c.rand.IntN(200) {
		c.words = append(c.words, word(uint64(i)))
	}
	return c
}

// word returns one of the corpus, the frequent ones more often.
func (c *corpus) word() string {
	share := c.rand.Float64()
	return c.words[int(share*share*share*float64(len(c.words)))]
}

func (c *corpus) text(least, most int) string {
	all := make([]string, least+c.rand.IntN(most-least+1))
	for i := range all {
		all[i] = c.word()
	}
	return strings.Join(all, " ")
}

// put adds or replaces a document of some passages.
func (c *corpus) put(t *testing.T, key string) {
	t.Helper()
	lines := make([]string, 1+c.rand.IntN(24))
	for i := range lines {
		lines[i] = c.text(3, 60)
		if c.rand.IntN(3) == 0 {
			lines[i] = c.text(1, 3) + "|" + lines[i]
		}
	}
	c.shelf.Add(t, retrieval.Document{Key: key, Title: c.text(1, 4)}, strings.Join(lines, "\n"))
}

// counted is what ranking counts in a passage: how often each word is there, by
// its weight, and where.
type counted struct {
	id     string
	length int
	counts map[string]float64
	places map[string][]int
}

// countPassages counts the words of all passages that are searched.
func countPassages(tb testing.TB, conn *pgx.Conn, p retrieval.Pipeline, language string) []counted {
	tb.Helper()
	rows, err := conn.Query(tb.Context(), `
		select c.id::text, u.lexeme, u.positions::int[], u.weights
		from chunks c
		join documents d on d.id = c.document_id and d.live_version = c.version,
		lateral unnest(setweight(index_words($2::regconfig, d.live_title), 'A')
			|| setweight(index_words($2::regconfig, array_to_string(c.headings, e'\n')), 'B')
			|| index_words($2::regconfig, c.text)) u
		where d.pipeline_id = $1`, p.ID, language)
	require.NoError(tb, err)
	byID := map[string]*counted{}
	var id, lexeme string
	var places []int
	var weights []string
	_, err = pgx.ForEachRow(rows, []any{&id, &lexeme, &places, &weights}, func() error {
		if byID[id] == nil {
			byID[id] = &counted{id: id, counts: map[string]float64{}, places: map[string][]int{}}
		}
		for i := range places {
			byID[id].counts[lexeme] += map[string]float64{"A": 3, "B": 2, "D": 1}[weights[i]]
		}
		byID[id].places[lexeme] = slices.Clone(places)
		byID[id].length += len(places)
		return nil
	})
	require.NoError(tb, err)
	var all []counted
	for _, c := range byID {
		all = append(all, *c)
	}
	return all
}

// bruteForce scores every passage, by the formula and nothing else.
func bruteForce(all []counted, query []string) map[string]float64 {
	average, holding := 0.0, map[string]float64{}
	for _, c := range all {
		average += float64(c.length) / float64(len(all))
		for _, w := range query {
			if c.counts[w] > 0 {
				holding[w]++
			}
		}
	}
	scores := map[string]float64{}
	for _, c := range all {
		sum, total, held := 0.0, 0.0, 0
		for _, w := range query {
			weight := math.Log(1 + (float64(len(all))-holding[w]+0.5)/(holding[w]+0.5))
			total += weight
			if n := c.counts[w]; n > 0 {
				class := float64(min(c.length/8, 255))*8 + 4
				sum += weight * n / (n + 1.2*(0.25+0.75*class/average))
				held++
			}
		}
		switch {
		case held == len(query):
			scores[c.id] = 1 + 0.8*sum/total + 0.2*nearnessOf(c, query)
		case held > 0:
			scores[c.id] = sum / total
		}
	}
	return scores
}

// nearnessOf tries every stretch.
func nearnessOf(c counted, query []string) float64 {
	if len(query) == 1 {
		return 1
	}
	shortest := math.MaxInt
	for from := range c.length + 1 {
		to := 0
		for _, w := range query {
			at := slices.IndexFunc(c.places[w], func(place int) bool { return place >= from })
			if at < 0 {
				return float64(len(query)) / float64(shortest)
			}
			to = max(to, c.places[w][at])
		}
		shortest = min(shortest, to-from+1)
	}
	return float64(len(query)) / float64(shortest)
}

var corpora = flag.Uint64("corpora", 60, "in how many corpora the index of words is compared with all passages")

// Of many corpora, with documents replaced and deleted and blocks of the index
// merged, the first five passages are those of a comparison of all.
func TestTheBestPassagesAreFound(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	conn := d.Conn(t)
	_, err := conn.Exec(t.Context(), "select set_config('app.tenant_id', $1, false)", string(tenant))
	require.NoError(t, err)
	for seed := range *corpora {
		c := newCorpus(t, d.Store, retrieval.Pipeline{Tenant: tenant, Language: "simple"}, seed)
		documents := 2 + c.rand.IntN(5)
		for n := range documents {
			c.put(t, strconv.Itoa(n))
			if c.rand.IntN(4) == 0 {
				c.put(t, strconv.Itoa(c.rand.IntN(n+1)))
			}
			if seed%2 == 0 && c.rand.IntN(4) == 0 {
				_, err := conn.Exec(t.Context(), "select merge_words($1, $2, 2)", string(tenant), c.shelf.Pipeline.ID)
				require.NoError(t, err)
			}
		}
		// What is gone counts in weights until its block is written anew.
		_, err := conn.Exec(t.Context(), "select index_document($1, d.id) from documents d where d.pipeline_id = $2",
			string(tenant), c.shelf.Pipeline.ID)
		require.NoError(t, err)
		if seed%2 == 0 {
			_, err = conn.Exec(t.Context(), "select merge_words($1, $2, 2)", string(tenant), c.shelf.Pipeline.ID)
			require.NoError(t, err)
		}
		all := countPassages(t, conn, c.shelf.Pipeline, "simple")
		for range 5 {
			query := []string{c.word()}
			for range c.rand.IntN(5) {
				if w := c.word(); !slices.Contains(query, w) {
					query = append(query, w)
				}
			}
			scores := bruteForce(all, query)
			var want, got []float64
			for _, score := range scores {
				want = append(want, score)
			}
			slices.SortFunc(want, func(a, b float64) int { return cmp.Compare(b, a) })
			hits, err := d.Store.SearchIndex(context.Background(), tenant, retrieval.IndexQuery{
				Pipeline: c.shelf.Pipeline.ID, Text: strings.Join(query, " "), Limit: 5,
			})
			require.NoError(t, err)
			for _, h := range hits.Text {
				require.InDelta(t, scores[h.ID], h.Score, 1e-9, "seed %d: %v", seed, query)
				got = append(got, h.Score)
			}
			require.InDeltaSlice(t, want[:min(5, len(want))], got, 1e-9, "seed %d: %v", seed, query)
		}
	}
}
