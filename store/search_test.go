package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// hostile are texts that mean something to SQL, JSON, or text search.
var hostile = []string{
	"", " ", "'", "''", `"`, `\`, `\'`, "'; drop table documents; --", "$1", "$$", "%", "_", "a' or '1'='1",
	"') or true --", "\u2028", "é", "日本",
	"' | '", "!", "& |", "<->", ":*", "a:b", "{}", "[]", "null", "true", "1", "1e3", "x'||pg_sleep(9)||'", `{"in":[1]}`,
	"'1:", "/* */",
}

func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom(hostile),
		rapid.StringN(0, 12, 40).Filter(func(s string) bool { return !strings.ContainsRune(s, 0) }),
	)
}

func metadataValue() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Map(text(), func(s string) any { return s }),
		rapid.Map(rapid.IntRange(-3, 3), func(n int) any { return float64(n) }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.SliceOfN(text(), 0, 3), func(all []string) any {
			list := []any{}
			for _, s := range all {
				list = append(list, s)
			}
			return list
		}),
	)
}

// scalarValue is what a filter compares to.
func scalarValue() *rapid.Generator[any] {
	return metadataValue().Filter(func(v any) bool { _, list := v.([]any); return !list })
}

var fields = rapid.SampledFrom([]string{"a", "b", "a.b", "values", "field", "A-1"})

func condition() *rapid.Generator[retrieval.Condition] {
	return rapid.Custom(func(t *rapid.T) retrieval.Condition {
		c := retrieval.Condition{Field: fields.Draw(t, "field"), Comparison: rapid.SampledFrom([]retrieval.Comparison{
			retrieval.In, retrieval.AtLeast, retrieval.AtMost, retrieval.Exists,
		}).Draw(t, "comparison")}
		switch c.Comparison {
		case retrieval.In:
			c.Values = rapid.SliceOfN(scalarValue(), 1, 3).Draw(t, "values")
		case retrieval.Exists:
			c.Values = []any{rapid.Bool().Draw(t, "exists")}
		case retrieval.AtLeast, retrieval.AtMost:
			c.Values = []any{scalarValue().Filter(func(v any) bool { _, b := v.(bool); return !b }).Draw(t, "bound")}
		}
		return c
	})
}

// fulfils is what the database is to find of a condition.
func fulfils(m retrieval.Metadata, c retrieval.Condition) bool {
	have, ok := m[c.Field]
	switch c.Comparison {
	case retrieval.Exists:
		return ok == c.Values[0]
	case retrieval.In:
		list, isList := have.([]any)
		return ok && slices.ContainsFunc(c.Values, func(want any) bool {
			return have == want && !isList || slices.Contains(list, want)
		})
	case retrieval.AtLeast, retrieval.AtMost:
		order, ok := compare(have, c.Values[0])
		return ok && (order == 0 || (order > 0) == (c.Comparison == retrieval.AtLeast))
	}
	return false
}

func compare(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case string:
		other, ok := b.(string)
		return strings.Compare(a, other), ok
	case float64:
		other, ok := b.(float64)
		return int(a - other), ok
	}
	return 0, false
}

// Whatever a filter and a question hold, they are values: the filter means what
// its JSON says, and nothing else happens.
func TestFiltersMeanWhatTheySay(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	shelf := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
	all := map[string]retrieval.Metadata{}
	for i := range 40 {
		m := rapid.MapOfN(fields, metadataValue(), 0, 5).Example(i)
		key := fmt.Sprintf("d%d", i)
		all[key] = m
		require.NoError(t, retrieval.Metadata(m).Check("/metadata"))
		shelf.Add(t, retrieval.Document{Key: key, Metadata: m}, "lighthouse")
	}
	rapid.Check(t, func(t *rapid.T) {
		filter := retrieval.Filter(rapid.SliceOfN(condition(), 0, 3).Draw(t, "filter"))
		require.NoError(t, filter.Check("/filter"))
		hits, err := d.Store.SearchIndex(context.Background(), shelf.Pipeline.Tenant, retrieval.IndexQuery{
			Pipeline: shelf.Pipeline.ID, Text: "lighthouse", Filter: filter, Limit: 100,
		})
		require.NoError(t, err)
		var want, got []string
		for key, m := range all {
			if !slices.ContainsFunc(filter, func(c retrieval.Condition) bool { return !fulfils(m, c) }) {
				want = append(want, key)
			}
		}
		for _, h := range hits.Text {
			got = append(got, h.Key)
		}
		raw, err := json.Marshal(filter)
		require.NoError(t, err)
		require.ElementsMatch(t, want, got, "%s", raw)
	})
	left, err := d.Store.ListDocuments(t.Context(), shelf.Pipeline.Tenant, shelf.Pipeline.ID, retrieval.DocumentFilter{})
	require.NoError(t, err)
	require.Len(t, left, len(all))
}

// Any text may be sought, and finds nothing of another pipeline.
func TestAnyTextMayBeSought(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	tenant := d.Tenant(t)
	other := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: tenant})
	other.Add(t, retrieval.Document{Key: "other"}, strings.Join(hostile[1:], " ")+" lighthouse")
	languages := retrieval.Languages()
	shelves := map[retrieval.Language]*storetest.Shelf{}
	for _, language := range languages {
		s := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: tenant, Language: language})
		s.Add(t, retrieval.Document{Key: "own"}, strings.Join(hostile[1:], " "))
		shelves[language] = s
	}
	require.Len(t, shelves, len(languages))
	rapid.Check(t, func(rt *rapid.T) {
		s := shelves[rapid.SampledFrom(slices.Sorted(maps.Keys(shelves))).Draw(rt, "language")]
		sought := strings.Join(rapid.SliceOfN(text(), 1, 5).Draw(rt, "text"),
			rapid.SampledFrom([]string{"", " ", " or ", " -", `" "`}).Draw(rt, "between"))
		hits, err := s.Store.SearchIndex(context.Background(), tenant, retrieval.IndexQuery{
			Pipeline: s.Pipeline.ID, Text: sought, Limit: 5,
		})
		require.NoError(rt, err, "%q", sought)
		for _, h := range hits.Text {
			require.Equal(rt, "own", h.Key)
		}
	})
}

// While a document is replaced again and again, who searches finds one of its
// versions, whole, by both ways alike.
func TestSearchingWhatIsReplaced(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{MaxConns: 8})
	s := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t), Embedding: &storetest.Model})
	put := func(n int) {
		title := fmt.Sprintf("version%d", n)
		content := strings.TrimSpace(strings.Repeat(fmt.Sprintf("lighthouse of %s\n", title), 3))
		document := s.PutDocument(t, retrieval.Document{Key: "a", Title: title}, content)
		s.Cut(t, document, content)
		s.Embed(t, document, 1, []float32{1, 0, 0}, []float32{1, 0, 0}, []float32{1, 0, 0})
		_, err := d.Store.FinishDocument(t.Context(), document.Ref())
		require.NoError(t, err)
	}
	put(0)
	done := make(chan struct{})
	problems := make(chan string, 4)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				hits, err := d.Store.SearchIndex(t.Context(), s.Pipeline.Tenant, retrieval.IndexQuery{
					Pipeline: s.Pipeline.ID, Text: "lighthouse", Vector: []float32{1, 0, 0}, Generation: 1, Limit: 10,
				})
				if err != nil {
					problems <- err.Error()
					return
				}
				titles := map[string]bool{}
				for _, h := range slices.Concat(hits.Text, hits.Vector) {
					titles[h.Title] = true
					if !strings.HasSuffix(h.Text, h.Title) {
						problems <- fmt.Sprintf("%q is called %q", h.Text, h.Title)
						return
					}
				}
				if len(hits.Text) != 3 || len(hits.Vector) != 3 || len(titles) != 1 {
					problems <- fmt.Sprintf("%d by words and %d by vector of %v", len(hits.Text), len(hits.Vector), titles)
					return
				}
			}
		})
	}
	for n := range 25 {
		put(n + 1)
	}
	close(done)
	wg.Wait()
	close(problems)
	for problem := range problems {
		require.Fail(t, problem)
	}
}

// Those who put, ingest and delete at once get along, and what is left is whole.
func TestRacingIngestions(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{MaxConns: 16})
	s := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
	var finished sync.Map
	race(func(i int) {
		document, _, err := d.Store.PutDocument(t.Context(), retrieval.Document{
			Tenant: s.Pipeline.Tenant, PipelineID: s.Pipeline.ID, Key: "a", MediaType: retrieval.Plain,
		}, fmt.Appendf(nil, "content %d", i))
		require.NoError(t, err)
		for _, step := range []func() error{
			func() error { _, err := d.Store.BeginDocument(t.Context(), document.Ref()); return err },
			func() error {
				return d.Store.ReplaceChunks(t.Context(), document.Ref(), retrieval.Extracted{},
					storetest.Lines(fmt.Sprintf("content lighthouse%d", i)))
			},
			func() error { _, err := d.Store.FinishDocument(t.Context(), document.Ref()); return err },
		} {
			if err := step(); err != nil {
				require.ErrorIs(t, err, retrieval.ErrVersion)
				require.Equal(t, tool.Conflict, tool.KindOf(err))
				return
			}
		}
		finished.Store(document.Version, i)
	})
	document, err := d.Store.FindDocument(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, "a")
	require.NoError(t, err)
	require.EqualValues(t, racers, document.Version, "every content was another version")
	hits := s.Ask(t, "content")
	winner, ok := finished.Load(document.LiveVersion)
	if !ok {
		require.Zero(t, document.LiveVersion)
		require.Empty(t, hits)
		return
	}
	require.Len(t, hits, 1)
	require.Equal(t, fmt.Sprintf("content lighthouse%d", winner), hits[0].Text)
}
