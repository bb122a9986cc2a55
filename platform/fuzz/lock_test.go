package fuzz_test

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// While another session keeps a table to itself, operations that need it are
// unavailable and say when to come back; those that do not are served. None waits
// until the lock is gone: that is after all of them were answered.
func TestLockedTables(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	db, err := store.Open(t.Context(), s.db.URL, store.Options{
		Logger: slog.New(slog.DiscardHandler), MaxConns: 4, SetRole: store.AppRole,
		Timeouts: store.Timeouts{Lock: 50 * time.Millisecond},
	})
	require.NoError(t, err)
	t.Cleanup(db.Close)
	p := newSession(s, 1)
	p.furnish(t)
	for _, o := range s.doc.operationsNamed("startRun") { // So that operations find a run.
		got := p.ask(t, request{
			op: o, who: s.actors[ann], method: o.method, path: o.path, body: []byte(`{"agent":"talker","input":"go"}`),
			hasBody: true,
			proper:  true, headers: [][2]string{{"Content-Type", "application/json"}},
		})
		require.Equal(t, http.StatusAccepted, got.status, "%s", got.body)
	}
	p.host, p.judge.outage = s.serve(t, db, s.client), true

	for _, lock := range []struct {
		table           string
		refused, served int // Operations, at least.
	}{
		{"runs", 3, 20}, {"tool_registry", 5, 20}, {"agents", 3, 20}, {"api_keys", 50, 0}, {"idempotency_keys", 0, 40},
	} {
		table := lock.table
		holder, err := storetest.Connect(t, s.db.URL).Begin(t.Context())
		require.NoError(t, err)
		_, err = holder.Exec(t.Context(), "lock table "+table+" in access exclusive mode")
		require.NoError(t, err)
		refused, served := 0, 0
		for _, o := range s.doc.operations {
			began := time.Now()
			got := p.ask(t, p.compose(o, s.actors[ann], 0))
			if took := time.Since(began); took > time.Second {
				t.Logf("%s took %s with %s locked", o.id, took.Round(time.Millisecond), table)
			}
			switch got.status {
			case http.StatusServiceUnavailable:
				if strings.Contains(string(got.body), `"retryable":false`) { // A call that was made, and failed so.
					served++
					continue
				}
				refused++
				after, err := strconv.Atoi(got.header.Get("Retry-After"))
				require.NoError(t, err, "%s with %s locked", o.id, table)
				require.Positive(t, after)
			case http.StatusGatewayTimeout, http.StatusInternalServerError:
				t.Errorf("%s answered %d with %s locked: %s", o.id, got.status, table, got.body)
			default:
				served++
			}
		}
		t.Logf("%s locked: %d operations refused, %d served", table, refused, served)
		require.GreaterOrEqual(t, refused, lock.refused, table)
		require.GreaterOrEqual(t, served, lock.served, table)
		require.NoError(t, holder.Rollback(t.Context()))
	}
	for _, failure := range p.failures {
		t.Error(failure)
	}
}
