package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// A key's limit is one bucket for all servers, of which each takes a share.
func testRequestLimits(t *testing.T, d *Database) {
	t.Helper()
	tenant := d.Tenant(t)
	conn := d.Conn(t)
	limits := store.Limits{RequestsPerSecond: 20, Burst: 12, BytesPerMinute: 6000}
	_, text, err := d.Store.CreateKey(t.Context(), store.Key{Tenant: tenant, Name: "limited", Limits: limits})
	require.NoError(t, err)
	use := func(draw store.Draw) store.Allowance {
		t.Helper()
		key, a, err := d.Store.UseKey(t.Context(), text, draw)
		require.NoError(t, err)
		require.Equal(t, limits, key.Limits)
		require.Equal(t, limits, a.Limits)
		return a
	}
	// stop sets the bucket, as if it was filled now or earlier.
	stop := func(requests, bytes float64, ago time.Duration) {
		_, err := conn.Exec(t.Context(), `update request_buckets set requests = $1, bytes = $2,
			filled_at = clock_timestamp() - make_interval(secs => $3)`, requests, bytes, ago.Seconds())
		require.NoError(t, err)
	}
	require.Zero(t, use(store.Draw{}).Taken, "nothing is taken unasked")
	a := use(store.Draw{Take: true})
	require.InDelta(t, 5, a.Taken, 0, "a quarter of a second")
	require.InDelta(t, 7, a.Requests, 0.5)
	require.InDelta(t, 6000, a.Bytes, 1)
	use(store.Draw{Take: true})
	stop(0.2, 6000, -time.Hour)
	a = use(store.Draw{Take: true})
	require.Zero(t, a.Taken, "less than one is left, and a clock that ran ahead fills nothing")
	require.InDelta(t, 0.2, a.Requests, 0.01)
	stop(0, 6000, 200*time.Millisecond)
	a = use(store.Draw{Take: true})
	require.GreaterOrEqual(t, a.Taken, 4.0, "it fills with time")
	require.LessOrEqual(t, a.Taken, 5.0)
	stop(0, 6000, time.Hour)
	a = use(store.Draw{Take: true, Unused: 3})
	require.InDelta(t, 12, a.Taken+a.Requests, 0, "never above the burst, with what is given back")
	stop(0, 6000, -time.Hour)
	require.InDelta(t, 3, use(store.Draw{Take: true, Unused: 3}).Taken, 0, "what is given back can be taken")

	stop(12, 100, -time.Hour)
	a = use(store.Draw{Take: true, Bytes: 500})
	require.InDelta(t, -400, a.Bytes, 1, "bytes can be owed")
	require.Zero(t, a.Taken, "who owes bytes sends nothing")
	stop(12, -400, 6*time.Second)
	a = use(store.Draw{Take: true})
	require.InDelta(t, 200, a.Bytes, 20, "100 bytes a second")
	require.InDelta(t, 5, a.Taken, 0)

	_, err = d.Store.Authenticate(t.Context(), text[:len(text)-4]+"aaaa")
	RequireKind(t, tool.Denied, err)
	before := countRows(t, d, "select count(*) from request_buckets")
	_, free, err := d.Store.CreateKey(t.Context(), store.Key{Tenant: tenant, Name: "free"})
	require.NoError(t, err)
	_, a, err = d.Store.UseKey(t.Context(), free, store.Draw{Take: true})
	require.NoError(t, err)
	require.False(t, a.Limits.Any())
	require.Equal(t, before, countRows(t, d, "select count(*) from request_buckets"), "without a limit nothing is written")
	_, a, err = d.Store.UseKey(t.Context(), free, store.Draw{Take: true, Standard: store.Limits{RequestsPerSecond: 2}})
	require.NoError(t, err)
	require.Equal(t, store.Limits{RequestsPerSecond: 2, Burst: 2}, a.Limits)
	require.InDelta(t, 1, a.Taken, 0)

	_, err = conn.Exec(t.Context(), "update request_buckets set filled_at = now() - interval '2 days'")
	require.NoError(t, err)
	_, _, err = d.Store.UseToken(t.Context(), store.TokenUser{Tenant: tenant, Subject: "user:corp/ada"},
		store.Draw{Take: true, Standard: store.Limits{BytesPerMinute: 100}})
	require.NoError(t, err)
	require.Equal(t, 1, countRows(t, d, "select count(*) from request_buckets"), "full ones are deleted as others come")
}

func countRows(t *testing.T, d *Database, sql string) (n int) {
	t.Helper()
	require.NoError(t, d.Conn(t).QueryRow(t.Context(), sql).Scan(&n))
	return n
}
