package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

func count(t *testing.T, conn *pgx.Conn, query string, args ...any) int {
	t.Helper()
	var n int
	require.NoError(t, conn.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

// Documents of one passage share blocks of the index, and leave nothing there
// once they are gone.
func TestTheIndexOfWordsStaysSmall(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	s := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
	conn := d.Conn(t)
	const documents = 600
	key := func(n int) string { return fmt.Sprintf("own%dth", n) }
	stored := make([]retrieval.Document, documents)
	for n := range stored {
		stored[n] = s.Add(t, retrieval.Document{Key: key(n)}, "shared "+key(n))
	}
	blocks := count(t, conn, "select count(*) from word_blocks where pipeline_id = $1", s.Pipeline.ID)
	require.Less(t, blocks, 260)
	require.Equal(
		t, blocks,
		count(t, conn, "select count(*) from word_postings where pipeline_id = $1 and word = 'share'", s.Pipeline.ID),
	)
	require.Equal(
		t, documents,
		count(t, conn, "select sum(passages)::int from word_postings where pipeline_id = $1 and word = 'share'",
			s.Pipeline.ID),
	)
	require.Equal(t, key(7), s.Ask(t, "shared "+key(7))[0].Key)

	for n := range stored[:documents-10] {
		require.NoError(t, d.Store.DeleteDocument(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, stored[n].ID))
	}
	require.LessOrEqual(
		t, count(t, conn, "select sum(passages)::int from word_blocks where pipeline_id = $1", s.Pipeline.ID), 20,
	)
	require.Len(t, s.Ask(t, "shared"), 10)
	for n := documents - 10; n < documents; n++ {
		require.Equal(t, key(n), s.Ask(t, key(n))[0].Key)
		require.NoError(t, d.Store.DeleteDocument(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, stored[n].ID))
	}
	for _, table := range []string{"word_blocks", "word_postings"} {
		require.Zero(t, count(t, conn, "select count(*) from "+table+" where pipeline_id = $1", s.Pipeline.ID), table)
	}
	require.Zero(t, count(t, conn, "select count(*) from word_documents"))
}

// What a filter leaves out is not missing in the end, however much of it ranks
// higher.
func TestFiltersFindWhatRanksLow(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	s := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
	s.Add(t, retrieval.Document{Key: "many", Metadata: retrieval.Metadata{"team": "a"}},
		strings.TrimSpace(strings.Repeat("lighthouse lighthouse\n", 800)))
	s.Add(t, retrieval.Document{Key: "one", Metadata: retrieval.Metadata{"team": "b"}},
		"a lighthouse among many other words, which is why it ranks low")
	hits := s.Ask(t, "lighthouse", retrieval.Condition{Field: "team", Comparison: retrieval.In, Values: []any{"b"}})
	require.Len(t, hits, 1)
	require.Equal(t, "one", hits[0].Key)
}

// Those who finish, replace and delete documents while blocks are merged get
// along, and each document is in the index once.
func TestRacingIndexers(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t, store.Options{MaxConns: 10})
	s := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
	conn := d.Conn(t)
	var wg sync.WaitGroup
	for worker := range 6 {
		wg.Go(func() {
			for n := range 30 {
				own := s.Add(t, retrieval.Document{Key: fmt.Sprintf("%d-%d", worker, n%10)},
					fmt.Sprintf("lighthouse w%dn%dth", worker, n))
				if n%3 == 2 {
					if err := d.Store.DeleteDocument(t.Context(), s.Pipeline.Tenant, s.Pipeline.ID, own.ID); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Go(func() {
		for range 60 {
			if _, err := conn.Exec(t.Context(), "select merge_words($1, $2, 2)", string(s.Pipeline.Tenant),
				s.Pipeline.ID); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	live := count(t, conn, "select count(*) from documents where pipeline_id = $1 and live_version > 0", s.Pipeline.ID)
	require.NotZero(t, live)
	require.Equal(t, live, count(t, conn, `select count(*) from documents d join word_documents w on w.document_id = d.id and w.version = d.live_version
		join word_blocks b on b.number = w.block where d.pipeline_id = $1`, s.Pipeline.ID))
	require.Equal(t, live, count(t, conn, "select count(*) from word_documents"))
	require.Equal(t, live, count(t, conn, "select sum(live)::int from word_blocks where pipeline_id = $1", s.Pipeline.ID))
}
