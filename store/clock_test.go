package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// The database's clock was an hour ahead for a moment. Whatever was leased then
// does not stay leased for an hour.
func TestLeasesOutliveNoClockJump(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	conn := d.Conn(t)
	jump := func(t *testing.T, table, column string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), "update "+table+" set "+column+" = "+column+" + interval '1 hour'")
		require.NoError(t, err)
	}

	t.Run("Start", func(t *testing.T) {
		t.Parallel()
		f := storetest.NewFixture(t, d)
		a := f.Acceptance(t)
		a.Lease = time.Minute
		_, err := f.Store.AcceptRun(t.Context(), a)
		require.NoError(t, err)
		keys, err := f.Store.ClaimStarts(t.Context(), 10, time.Minute)
		require.NoError(t, err)
		require.Empty(t, keys)

		jump(t, "workflow_starts", "next_at")
		keys, err = f.Store.ClaimStarts(t.Context(), 10, time.Minute)
		require.NoError(t, err)
		require.Len(t, keys, 1)
		keys, err = f.Store.ClaimStarts(t.Context(), 10, time.Minute)
		require.NoError(t, err)
		require.Empty(t, keys, "it is leased anew")
	})

	t.Run("Request", func(t *testing.T) {
		t.Parallel()
		k, digest := store.RequestKey{Tenant: d.Tenant(t), Text: "k"}, strings.Repeat("0", 64)
		begin := func() store.Request {
			r, err := d.Store.BeginRequest(t.Context(), k, digest, time.Minute, time.Hour)
			require.NoError(t, err)
			return r
		}
		require.True(t, begin().Taken)
		require.False(t, begin().Taken)
		jump(t, "idempotency_keys", "lease_until")
		require.True(t, begin().Taken)
		require.False(t, begin().Taken)
	})

	t.Run("Lease", func(t *testing.T) {
		t.Parallel()
		m := maintenance(t, d)
		take := func(holder string) error {
			_, err := m.TakeLease(t.Context(), "work", holder, "s", time.Minute, false)
			return err
		}
		require.NoError(t, take("a"))
		storetest.RequireKind(t, tool.Conflict, take("b"))
		jump(t, "leases", "expires_at")
		require.NoError(t, take("b"))
		storetest.RequireKind(t, tool.Conflict, take("a"))
	})

	t.Run("OpenRun", func(t *testing.T) {
		t.Parallel()
		f, m := storetest.NewFixture(t, d), maintenance(t, d)
		open := func() int {
			runs, err := m.OpenRuns(t.Context(), store.OpenRun{Tenant: f.Tenant}, time.Minute, 1)
			require.NoError(t, err)
			n := 0
			for _, r := range runs {
				if r.Tenant == f.Tenant {
					n++
				}
			}
			return n
		}
		require.Zero(t, open(), "it is young")
		_, err := conn.Exec(t.Context(), "update runs set created_at = created_at + interval '1 hour' where tenant_id = $1",
			f.Tenant)
		require.NoError(t, err)
		require.Equal(t, 1, open())
	})
}

// A lease that is longer than a lease may be would look like one of a wrong clock.
func TestLeasesAreBounded(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	m := maintenance(t, d)
	long := store.MaxLease + time.Second
	_, err := m.TakeLease(t.Context(), "work", "a", "s", long, false)
	storetest.RequireKind(t, tool.Invalid, err)
	_, err = d.Store.BeginRequest(t.Context(), store.RequestKey{Tenant: d.Tenant(t), Text: "k"}, strings.Repeat("0", 64),
		long, time.Hour)
	storetest.RequireKind(t, tool.Invalid, err)
	_, err = d.Store.ClaimStarts(t.Context(), 1, long)
	storetest.RequireKind(t, tool.Invalid, err)
}
