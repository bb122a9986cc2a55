package ranking_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store/internal/ranking"
)

func TestSplit(t *testing.T) {
	t.Parallel()

	for text, want := range map[string][]ranking.Item{
		"":                         nil,
		`a  b`:                     {{Text: "a"}, {Text: "b"}},
		`a "b c" --d`:              {{Text: "a"}, {Text: "b c", Phrase: true}, {Text: "--d"}},
		`a "b c`:                   {{Text: "a"}, {Text: `"b`}, {Text: "c"}},
		`"" " " "a"`:               {{Text: "a", Phrase: true}},
		`-"a b" or c`:              {{Text: "-"}, {Text: "a b", Phrase: true}, {Text: "or"}, {Text: "c"}},
		`so-1007 snake_case a.b/c`: {{Text: "so-1007"}, {Text: "snake_case"}, {Text: "a.b/c"}},
	} {
		require.Equal(t, want, ranking.Split(text), text)
	}
}

// group returns the postings of a word in a document: one place in each passage.
func group(document int64, positions ...int) []byte {
	var entries []byte
	for _, p := range positions {
		entries = binary.BigEndian.AppendUint16(entries, uint16(p))
		entries = append(entries, 1, 1, 0, 1)
	}
	out := binary.BigEndian.AppendUint64(nil, uint64(document))
	return append(binary.BigEndian.AppendUint32(out, uint32(len(entries))), entries...)
}

func query(words ...string) *ranking.Query {
	var items []ranking.Item
	var readings []ranking.Reading
	for _, w := range words {
		items = append(items, ranking.Item{Text: w})
		readings = append(readings, ranking.Reading{Plain: []string{"1 " + w}, Parts: []string{"1 " + w}})
	}
	return ranking.NewQuery(items, readings, nil)
}

// Merged blocks have their documents in the order of their blocks, which need not
// be that of their numbers.
func TestDocumentsInAnyOrder(t *testing.T) {
	t.Parallel()

	stats := ranking.Statistics{Passages: 10, Length: 80, Counts: map[string]int64{"a": 3, "b": 2}}
	r := ranking.NewRanker(query("a", "b"), stats, nil, 10)
	require.NoError(t, r.Block(t.Context(), [][]byte{
		append(append(group(7, 0), group(2, 1, 4)...), group(5, 0)...), append(group(7, 0), group(2, 4)...),
	}))
	var got [][2]int64
	for _, p := range r.Top() {
		got = append(got, [2]int64{p.Document, int64(p.Position)})
	}
	require.Equal(t, [][2]int64{{2, 4}, {7, 0}, {2, 1}, {5, 0}}, got)
	require.Greater(t, r.Top()[1].Score, 1.0)
	require.Less(t, r.Top()[2].Score, 1.0)

	allowed := ranking.NewRanker(query("a", "b"), stats, map[int64]bool{5: true}, 10)
	require.NoError(t, allowed.Block(t.Context(), [][]byte{append(group(5, 3), group(2, 1)...), nil}))
	require.Len(t, allowed.Top(), 1)
	require.Equal(t, 3, allowed.Top()[0].Position)
}

// Passages that hold all words, and all the same, are the most that is to be done:
// each entry is gone through once.
func TestPassagesOfADocumentTakeOneWalk(t *testing.T) {
	t.Parallel()

	const passages, limit = 20_000, 64
	block, stats := uniform(passages)
	words := query("a", "b", "c", "d")
	r := ranking.NewRanker(words, stats, nil, limit)
	require.NoError(t, r.Block(t.Context(), block))
	require.Len(t, r.Top(), limit)
	for i, p := range r.Top() {
		require.Equal(t, i, p.Position)
	}
	require.LessOrEqual(t, r.Walked(), len(block)*limit)

	excluded := 0
	items := []ranking.Item{{Text: "a"}, {Text: "b"}}
	readings := []ranking.Reading{{Plain: []string{"1 a"}}, {Plain: []string{"1 b"}}}
	without := ranking.NewQuery(items, readings, []ranking.Reading{{Plain: []string{"1 d"}}})
	e := ranking.NewExclusion(without, func(ranking.Passage) { excluded++ })
	require.NoError(t, e.Block(t.Context(), [][]byte{block[0], block[1], block[3]}))
	require.Equal(t, passages, excluded)
	require.LessOrEqual(t, e.Walked(), 3*passages)

	r = ranking.NewRanker(without, stats, nil, limit)
	require.NoError(t, r.Block(t.Context(), [][]byte{block[0], block[1], block[3]}))
	require.Empty(t, r.Top())
	require.LessOrEqual(t, r.Walked(), 3*passages)
}

func TestRankingEndsWithItsContext(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := ranking.NewRanker(query("a"), ranking.Statistics{}, nil, 1)
	require.ErrorIs(t, r.Block(ctx, [][]byte{group(1, 1)}), context.Canceled)
}

// uniform returns a document whose passages all hold the words a to d.
func uniform(passages int) ([][]byte, ranking.Statistics) {
	positions := make([]int, passages)
	for i := range positions {
		positions[i] = i
	}
	stats := ranking.Statistics{Passages: int64(passages) + 1, Length: 8 * int64(passages), Counts: map[string]int64{}}
	var block [][]byte
	for _, word := range []string{"a", "b", "c", "d"} {
		block = append(block, group(1, positions...))
		stats.Counts[word] = int64(passages)
	}
	return block, stats
}

func BenchmarkPassagesOfADocument(b *testing.B) {
	block, stats := uniform(20_000)
	words := query("a", "b", "c", "d")
	for b.Loop() {
		if err := ranking.NewRanker(words, stats, nil, 64).Block(b.Context(), block); err != nil {
			b.Fatal(err)
		}
	}
}

// Postings that are cut short or are none are read as far as they go.
func FuzzBlock(f *testing.F) {
	f.Add(group(1, 0, 1), group(1, 1))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 9}, []byte{1})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		r := ranking.NewRanker(
			query("a", "b"), ranking.Statistics{Passages: 5, Length: 9, Counts: map[string]int64{"a": 2, "b": 1}}, nil, 3,
		)
		require.NoError(t, r.Block(t.Context(), [][]byte{a, b}))
		for _, p := range r.Top() {
			require.False(t, p.Score < 0 || p.Score > 2, p.Score)
		}
	})
}
