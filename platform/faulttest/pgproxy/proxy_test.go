package pgproxy_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/faulttest/pgproxy"
	"github.com/toolcrib/toolcrib/store/storetest"
)

const insert = "/* -- name: InsertNote :exec */ insert into notes values ($1)"

// bench is a database with a table, a connection straight to it, and a proxy.
type bench struct {
	t      *testing.T
	proxy  *pgproxy.Proxy
	url    string
	direct *pgx.Conn
}

func newBench(t *testing.T) *bench {
	t.Helper()
	address := storetest.NewEmpty(t)
	u, err := url.Parse(address)
	require.NoError(t, err)
	proxy, err := pgproxy.Start(u.Host)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	through, err := proxy.URL(address)
	require.NoError(t, err)
	b := &bench{t: t, proxy: proxy, url: through, direct: storetest.Connect(t, address)}
	_, err = b.direct.Exec(t.Context(), "create table notes (n integer)")
	require.NoError(t, err)
	return b
}

func (b *bench) count() (n int) {
	b.t.Helper()
	require.NoError(b.t, b.direct.QueryRow(b.t.Context(), "select count(*) from notes").Scan(&n))
	return n
}

func TestStatementsAreLostBeforeAndAfter(t *testing.T) {
	t.Parallel()

	for effect, want := range map[pgproxy.Effect]int{
		pgproxy.ResetBefore: 1, pgproxy.ResetAfter: 2, pgproxy.SilentAfter: 2,
	} {
		t.Run(string(effect), func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			conn := storetest.Connect(t, b.url)
			_, err := conn.Exec(t.Context(), insert, 1)
			require.NoError(t, err)
			// The statement is prepared by now: the proxy knows it by its name.
			fault := b.proxy.Inject(pgproxy.Fault{Statement: "-- name: InsertNote ", Effect: effect})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if effect == pgproxy.SilentAfter {
				ctx, cancel = context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
			}
			_, err = conn.Exec(ctx, insert, 2)
			require.Error(t, err)
			require.Equal(t, 1, fault.Hits())
			require.Eventually(t, func() bool { return b.count() == want }, time.Minute, 10*time.Millisecond)
			again := storetest.Connect(t, b.url)
			_, err = again.Exec(t.Context(), insert, 3)
			require.NoError(t, err, "a fault happens as often as it says")
		})
	}
}

func TestSimpleQueriesAreSeen(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	conn := storetest.Connect(t, b.url)
	b.proxy.Inject(pgproxy.Fault{Statement: "insert into notes", Effect: pgproxy.ResetBefore})
	_, err := conn.Exec(t.Context(), "insert into notes values (1)", pgx.QueryExecModeSimpleProtocol)
	require.Error(t, err)
	require.Zero(t, b.count())
}

func TestBlackholeHoldsEverythingBack(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	conn := storetest.Connect(t, b.url)
	b.proxy.Blackhole(true)
	done := make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), insert, 1)
		done <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := pgx.Connect(ctx, b.url)
	require.ErrorIs(t, err, context.DeadlineExceeded, "a new connection is silent")
	require.Zero(t, b.count())
	b.proxy.Blackhole(false)
	require.NoError(t, <-done)
	require.Equal(t, 1, b.count())
}

func TestRefusedAndReset(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	conn := storetest.Connect(t, b.url)
	b.proxy.Refuse(true)
	_, err := pgx.Connect(t.Context(), b.url)
	require.Error(t, err)
	_, err = conn.Exec(t.Context(), insert, 1)
	require.NoError(t, err, "established connections stay")
	b.proxy.ResetAll()
	_, err = conn.Exec(t.Context(), insert, 1)
	require.Error(t, err)
	b.proxy.Refuse(false)
	again := storetest.Connect(t, b.url)
	_, err = again.Exec(t.Context(), insert, 1)
	require.NoError(t, err)
}
