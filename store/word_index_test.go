package store_test

import (
	bigendian "encoding/binary"
	"fmt"
	"os"
	"strconv"
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

// A byte counts the places of a word in a passage, which has up to 255 in its text
// and one more in its title or its heading.
func TestAWordIsMoreOftenThereThanAByteCounts(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	s := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t), Language: "simple"})
	many := strings.TrimSpace(strings.Repeat("alpha ", 300))
	s.Add(t, retrieval.Document{Key: "title", Title: "alpha"}, many)
	s.Add(t, retrieval.Document{Key: "heading", Title: "beta"}, "alpha|"+many)
	s.Add(t, retrieval.Document{Key: "both", Title: "alpha"}, "alpha|"+many+"\nand alpha beta again")
	s.Add(t, retrieval.Document{Key: "text", Title: "beta"}, many)
	s.Add(t, retrieval.Document{Key: "once", Title: "gamma"}, "an alpha among other words")
	found := map[string]int{}
	for _, hit := range s.Ask(t, "alpha") {
		found[hit.Key]++
	}
	require.Equal(t, map[string]int{"title": 1, "heading": 1, "both": 2, "text": 1, "once": 1}, found)
	require.Equal(t, "and alpha beta again", s.Ask(t, `"alpha beta"`)[0].Text)
	require.Empty(t, s.AskWithout(t, "gamma", "alpha among"))
}

// What the index names and is not there any more is no hit, and fails no search.
func TestPassagesThatAreGoneAreNoHits(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	s := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: d.Tenant(t)})
	gone := s.Add(t, retrieval.Document{Key: "gone"}, "lighthouse\nlighthouse lighthouse\nlighthouse keeper")
	s.Add(t, retrieval.Document{Key: "kept"}, "a lighthouse, and much more than that")
	before := s.Ask(t, "lighthouse")
	require.Len(t, before, 4)
	_, err := d.Conn(t).Exec(t.Context(), "delete from chunks where document_id = $1 and position <> 2", gone.ID)
	require.NoError(t, err)
	after := s.Ask(t, "lighthouse")
	require.Len(t, after, 2)
	for _, hit := range before {
		for _, still := range after {
			if still.ID == hit.ID {
				require.Equal(t, hit, still)
			}
		}
	}
}

// indexed is what a pipeline's index says, but for the numbers in it.
type indexed struct {
	Passages, Live, Length int
	Counts                 map[string]int
	Documents              map[string]int // How many words each is found by.
}

// readIndex reads the whole index of a pipeline.
func readIndex(t *testing.T, conn *pgx.Conn, pipeline string) indexed {
	t.Helper()
	read := indexed{Counts: map[string]int{}, Documents: map[string]int{}}
	require.NoError(t, conn.QueryRow(t.Context(), `select coalesce(sum(passages), 0)::int, coalesce(sum(live), 0)::int,
		coalesce(sum(length), 0)::int from word_blocks where pipeline_id = $1`, pipeline).
		Scan(&read.Passages, &read.Live, &read.Length))
	keys := map[int64]string{}
	rows, err := conn.Query(t.Context(), `select w.number, d.key from word_documents w
		join documents d on d.id = w.document_id where d.pipeline_id = $1`, pipeline)
	require.NoError(t, err)
	var number int64
	var key string
	_, err = pgx.ForEachRow(rows, []any{&number, &key}, func() error {
		keys[number] = key
		return nil
	})
	require.NoError(t, err)
	rows, err = conn.Query(t.Context(), "select word, passages, entries from word_postings where pipeline_id = $1",
		pipeline)
	require.NoError(t, err)
	var word string
	var passages int
	var entries []byte
	_, err = pgx.ForEachRow(rows, []any{&word, &passages, &entries}, func() error {
		read.Counts[word] += passages
		for rest := entries; len(rest) > 0; {
			key, known := keys[int64(bigendian.BigEndian.Uint64(rest))]
			if !known {
				key = "unknown"
			}
			read.Documents[key]++
			rest = rest[12+bigendian.BigEndian.Uint32(rest[8:]):]
		}
		return nil
	})
	require.NoError(t, err)
	return read
}

// Of a document that was deleted, or of a version that was replaced, no word is
// left, whatever shares its block: the index is as if it had never been.
func TestNoWordOfADeletedDocumentIsLeft(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	conn := d.Conn(t)
	tenant := d.Tenant(t)
	s := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: tenant, Language: "simple"})
	other := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: tenant, Language: "simple"})
	content := func(n int) string {
		return strings.Repeat(fmt.Sprintf("shared|own%dth of snake_case-%d\nshared words own%dth\n", n, n, n), 1+n%3)
	}
	const documents = 24
	stored := make([]retrieval.Document, documents)
	for n := range stored {
		stored[n] = s.Add(t, retrieval.Document{Key: strconv.Itoa(n), Title: "shared title"}, strings.TrimSpace(content(n)))
	}
	_, err := conn.Exec(t.Context(), "select merge_words($1, $2, 2)", string(tenant), s.Pipeline.ID)
	require.NoError(t, err)
	require.Equal(t, 1, count(t, conn, "select count(*) from word_blocks where pipeline_id = $1", s.Pipeline.ID))
	for n := range stored {
		switch {
		case n%3 == 0:
			require.NoError(t, d.Store.DeleteDocument(t.Context(), tenant, s.Pipeline.ID, stored[n].ID))
		case n%3 == 1:
			s.Add(t, retrieval.Document{Key: strconv.Itoa(n), Title: "other"}, "something else")
		}
	}
	for n := range stored {
		switch {
		case n%3 == 1:
			other.Add(t, retrieval.Document{Key: strconv.Itoa(n), Title: "other"}, "something else")
		case n%3 == 2:
			other.Add(t, retrieval.Document{Key: strconv.Itoa(n), Title: "shared title"}, strings.TrimSpace(content(n)))
		}
	}
	have := readIndex(t, conn, s.Pipeline.ID)
	require.NotContains(t, have.Documents, "unknown")
	require.NotContains(t, have.Counts, "own3th")
	require.Equal(t, readIndex(t, conn, other.Pipeline.ID), have)
}

// An index that was written when a count of places could overflow, and
// before postings went with their documents, is written anew.
func TestIndexesOfBeforeAreWrittenAnew(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	conn := d.Conn(t)
	tenant := d.Tenant(t)
	run := func(sql string, args ...any) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	step := func(name string) {
		t.Helper()
		raw, err := os.ReadFile("migrations/033_word_index_removal." + name + ".sql")
		require.NoError(t, err)
		run(string(raw))
	}
	step("down")
	s := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: tenant, Language: "simple"})
	fill := func(s *storetest.Shelf, n int) retrieval.Document {
		text := strings.TrimSpace(strings.Repeat("alpha ", 300)) + fmt.Sprintf("\nown%dth alpha", n)
		return s.Add(t, retrieval.Document{Key: strconv.Itoa(n), Title: "alpha"}, text)
	}
	const documents = 30
	for n := range documents {
		fill(s, n)
	}
	run("select merge_words($1, $2, 2)", string(tenant), s.Pipeline.ID)
	for n := range documents {
		if n%4 == 0 {
			run("delete from documents where pipeline_id = $1 and key = $2", s.Pipeline.ID, strconv.Itoa(n))
		}
	}
	require.Contains(t, readIndex(t, conn, s.Pipeline.ID).Documents, "unknown")
	step("up")
	calls := 0
	for indexed := 4; indexed == 4; calls++ {
		require.Less(t, calls, documents)
		indexed = count(t, conn, "select index_documents($1, 4)", string(tenant))
	}
	require.Greater(t, calls, 5)

	other := storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: tenant, Language: "simple"})
	for n := range documents {
		if n%4 != 0 {
			fill(other, n)
		}
	}
	require.Equal(t, readIndex(t, conn, other.Pipeline.ID), readIndex(t, conn, s.Pipeline.ID))
	require.Len(t, s.Ask(t, "alpha"), 10)
}
