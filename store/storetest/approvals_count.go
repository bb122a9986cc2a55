package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

func testCountApprovers(t *testing.T, d *Database) {
	t.Helper()
	tenant := d.Tenant(t)
	key := func(k store.Key) store.Key {
		k.Tenant, k.Name = tenant, "test"
		made, _, err := d.Store.CreateKey(t.Context(), k)
		require.NoError(t, err)
		return made
	}
	may := []string{wait.DecidePermission}
	requester := key(store.Key{Permissions: []string{"*"}})
	key(store.Key{Permissions: may})
	key(store.Key{Permissions: []string{"orders.read"}})
	past := time.Now().Add(-time.Hour)
	key(store.Key{Permissions: may, ExpiresAt: &past})
	gone := key(store.Key{Permissions: may})
	_, err := d.Store.RevokeKey(t.Context(), tenant, gone.ID)
	require.NoError(t, err)
	own := key(store.Key{Permissions: may, CreatedBy: "key:" + requester.ID})
	key(store.Key{Permissions: may, CreatedBy: "key:" + own.ID})
	for _, tt := range []struct {
		permissions []string
		except      string
		want        int
	}{
		{may, "", 4},
		{may, "user:ada", 4},
		{may, "key:" + requester.ID, 1},
		{may, "key:" + own.ID, 2},
		{[]string{"refunds.approve"}, "", 1},
		{[]string{"orders.read", "refunds.approve"}, "", 2},
		{nil, "", 5},
	} {
		n, err := d.Store.CountApprovers(t.Context(), tenant, tt.permissions, tt.except)
		require.NoError(t, err)
		require.Equal(t, tt.want, n, "%+v", tt)
	}
}

// A person who started a run with one key decides on its calls neither by a token nor with another key.
func testOnePersonDecidesAlone(t *testing.T, d *Database) {
	t.Helper()
	f := guarded(t, d)
	key := func(by string) string {
		made, _, err := f.Store.CreateKey(t.Context(), store.Key{
			Tenant: f.Tenant, Name: "test", Permissions: []string{wait.DecidePermission}, CreatedBy: by,
		})
		require.NoError(t, err)
		return "key:" + made.ID
	}
	const ada, bob = "user:corp/ada", "user:corp/bob"
	r := f.Request(t, f.Entry(t))
	first := key(ada)
	r.Entry.Principal.Subject = key(first)
	a := f.Ask(t, r)
	for _, by := range []string{ada, first, key(ada), key(key(ada))} {
		_, err := f.Store.Decide(t.Context(), f.Verdict(a, by, true))
		RequireKind(t, tool.Denied, err)
		require.Contains(t, tool.AsError(err).Msg, "another person with the permission")
	}
	able, err := f.Store.CountApprovers(t.Context(), f.Tenant, []string{wait.DecidePermission}, r.Entry.Principal.Subject)
	require.NoError(t, err)
	require.Zero(t, able)
	require.Equal(t, wait.Approved, f.decide(t, a, key(bob), true).Status)
}
