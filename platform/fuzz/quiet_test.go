package fuzz_test

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long something that must happen may take on a busy machine.
const patience = 3 * time.Minute

// settle waits until no run is under way.
func (s *site) settle(t *testing.T) {
	t.Helper()
	conn := s.db.Conn(t)
	var open string
	require.Eventually(t, func() bool {
		err := conn.QueryRow(
			t.Context(), `select coalesce(string_agg(workflow_id, ' '), '') from runs where status in ('pending', 'running')`,
		).Scan(&open)
		return err == nil && open == ""
	}, patience, 50*time.Millisecond, "runs do not end: %s", &open)
}

// requireReadsChangeNothing makes reads, valid and invalid, and requires that
// the database is unchanged. Concurrent changes by the platform itself are
// excluded by retries: only a table that changes each time counts.
func (s *site) requireReadsChangeNothing(t *testing.T, p *session) {
	t.Helper()
	var reads []*operation
	for _, o := range s.doc.operations {
		if o.reads() {
			reads = append(reads, o)
		}
	}
	var changed map[string]bool // Each time; nil before the first.
	for range 4 {
		before := s.tables(t)
		for i := range 4 * len(reads) {
			r := p.compose(reads[i%len(reads)], p.someone(), one(p.dice, []int{0, 12, 35}))
			r.method = http.MethodGet
			p.ask(t, r)
		}
		again := map[string]bool{}
		for name, digest := range s.tables(t) {
			if before[name] != digest && (changed == nil || changed[name]) {
				again[name] = true
			}
		}
		if changed = again; len(changed) == 0 {
			return
		}
	}
	require.Empty(t, changed, "reading changes tables")
}

// tables digests the rows of each table. When a key was used last is not a
// change that anybody asked for.
func (s *site) tables(t *testing.T) map[string]string {
	t.Helper()
	conn := s.db.Conn(t)
	rows, err := conn.Query(t.Context(), `select c.relname from pg_class c
		where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`)
	require.NoError(t, err)
	var names []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	require.NoError(t, rows.Err())
	digests := make(map[string]string, len(names))
	for _, name := range names {
		var digest string
		require.NoError(t, conn.QueryRow(t.Context(), `select md5(coalesce(string_agg(r, ',' order by r), ''))
			from (select (to_jsonb(x) - 'last_used_at')::text r from `+name+` x) rows`).Scan(&digest))
		digests[name] = digest
	}
	return digests
}

// requireNoneLeft waits until no request is being served any more.
func requireNoneLeft(t *testing.T) {
	t.Helper()
	var left []string
	require.Eventually(t, func() bool {
		buf := make([]byte, 64<<20)
		left = left[:0]
		for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(stack, "platform/api.") || strings.Contains(stack, "net/http.(*conn).serve") {
				left = append(left, stack)
			}
		}
		return len(left) == 0
	}, patience, 200*time.Millisecond, "goroutines of requests are left: %v", &left)
}

// Memory that requests may leave behind: what they made is kept by Temporal's
// server, which is in this process and keeps everything in memory.
const leftPerRequest, leftAtAll = 128 << 10, 256 << 20

func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
