package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// granter makes an API key that may decide, and returns its subject.
func (f *Fixture) granter(tb testing.TB) string {
	tb.Helper()
	made, _, err := f.Store.CreateKey(tb.Context(), store.Key{
		Tenant: f.Tenant, Name: "granter", Permissions: []string{wait.DecidePermission},
	})
	require.NoError(tb, err)
	return "key:" + made.ID
}

// Grant records a standing grant for calls of the tool refund.
func (f *Fixture) Grant(tb testing.TB, by string, change func(*wait.Grant)) wait.Grant {
	tb.Helper()
	g := wait.Grant{Tenant: f.Tenant, Tool: "refund", Uses: 2, Reason: "routine", CreatedBy: by}
	if change != nil {
		change(&g)
	}
	made, err := f.Store.AddGrant(tb.Context(), g, time.Hour)
	require.NoError(tb, err)
	return made
}

func (f *Fixture) use(tb testing.TB, g wait.Grant, a wait.Approval) wait.Approval {
	tb.Helper()
	used, err := f.Store.UseGrant(tb.Context(), f.Tenant, g.ID, a)
	require.NoError(tb, err)
	return used
}

func (f *Fixture) grant(tb testing.TB, id string) wait.Grant {
	tb.Helper()
	g, err := f.Store.FindGrant(tb.Context(), f.Tenant, id)
	require.NoError(tb, err)
	return g
}

func testGrants(t *testing.T, d *Database) {
	t.Helper()

	t.Run("a grant is the approval of its creator, and a use is taken once", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		by := f.granter(t)
		g := f.Grant(t, by, nil)
		e := f.Entry(t)
		a := f.Ask(t, f.Request(t, e))
		used := f.use(t, g, a)
		require.Equal(t, wait.Approved, used.Status)
		require.Len(t, used.Decisions, 1)
		require.Equal(t, by, used.Decisions[0].Subject)
		require.Equal(t, g.ID, used.Decisions[0].GrantID)
		require.Equal(t, used, f.use(t, g, a))
		require.Equal(t, 1, f.grant(t, g.ID).Used)
		require.Equal(t, []tool.EventType{tool.EventNeedsApproval, tool.EventApproved}, f.eventsAfterTurn(t))
		f.requireInvocation(t, a.ID, tool.StatusApproved, tool.ApprovalApproved)
		due, err := f.Store.ClaimUndelivered(t.Context(), 500, time.Second)
		require.NoError(t, err)
		for _, u := range due {
			require.NotEqual(t, a.ID, u.ID, "the workflow that asks reads it")
		}
	})

	t.Run("it decides within the scopes of its key", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		made, _, err := f.Store.CreateKey(t.Context(), store.Key{
			Tenant: f.Tenant, Name: "narrow", Permissions: []string{"*"}, Scopes: []string{wait.DecidePermission},
		})
		require.NoError(t, err)
		r := f.Request(t, f.Entry(t))
		r.Permission = "refunds.approve"
		a := f.Ask(t, r)
		require.Equal(t, wait.Pending, f.use(t, f.Grant(t, "key:"+made.ID, nil), a).Status)
	})

	t.Run("of two approvals it is one", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		by := f.granter(t)
		r := f.Request(t, f.Entry(t))
		r.Needed = 2
		a := f.Ask(t, r)
		require.Equal(t, wait.Pending, f.use(t, f.Grant(t, by, nil), a).Status)
		second := f.Grant(t, by, nil)
		require.Equal(t, wait.Pending, f.use(t, second, a).Status, "one person does not decide twice")
		require.Zero(t, f.grant(t, second.ID).Used)
		require.Equal(t, wait.Approved, f.use(t, f.Grant(t, f.granter(t), nil), a).Status)
	})

	t.Run("it does not count for others", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		by := f.granter(t)
		a := f.Ask(t, f.Request(t, f.Entry(t)))
		gone := f.granter(t)
		_, err := f.Store.RevokeKey(t.Context(), f.Tenant, gone[len("key:"):])
		require.NoError(t, err)
		revoked := f.Grant(t, by, nil)
		_, err = f.Store.RevokeGrant(t.Context(), f.Tenant, revoked.ID, "user:ada")
		require.NoError(t, err)
		over := f.Grant(t, by, nil)
		_, err = f.Conn(t).Exec(t.Context(), "update approval_grants set expires_at = now() where id = $1", over.ID)
		require.NoError(t, err)
		other := a
		other.Binding = digestA
		for name, g := range map[string]wait.Grant{
			"another tool":               f.Grant(t, by, func(g *wait.Grant) { g.Tool = "other" }),
			"another version":            f.Grant(t, by, func(g *wait.Grant) { g.Version = "^2" }),
			"another agent":              f.Grant(t, by, func(g *wait.Grant) { g.Agent = "stranger" }),
			"another requester":          f.Grant(t, by, func(g *wait.Grant) { g.Requester = "user:eve" }),
			"who started the run":        f.Grant(t, a.Requester, nil),
			"a key that is revoked":      f.Grant(t, gone, nil),
			"a key without permission":   f.Grant(t, "key:"+NewID(t), nil),
			"a grant that is revoked":    revoked,
			"a grant whose time is over": over,
		} {
			require.Equal(t, a, f.use(t, g, a), name)
			require.Zero(t, f.grant(t, g.ID).Used, name)
		}
		require.Equal(t, a, f.use(t, f.Grant(t, by, nil), other), "something else was seen")
		require.Equal(t, wait.GrantRevoked, new(f.grant(t, revoked.ID)).Status())
		require.Equal(t, wait.GrantExpired, new(f.grant(t, over.ID)).Status())
	})

	t.Run("racing calls do not take more uses than there are", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		g := f.Grant(t, f.granter(t), func(g *wait.Grant) { g.Uses = 3 })
		var asked []wait.Approval
		for range 12 {
			asked = append(asked, f.Ask(t, f.Request(t, f.Lone(t))))
		}
		var wg sync.WaitGroup
		got := make([]wait.Approval, len(asked))
		errs := make([]error, len(asked))
		for i, a := range asked {
			wg.Go(func() { got[i], errs[i] = f.Store.UseGrant(t.Context(), f.Tenant, g.ID, a) })
		}
		wg.Wait()
		approved := 0
		for i, a := range got {
			require.NoError(t, errs[i])
			if a.Status == wait.Approved {
				approved++
			} else {
				require.Equal(t, asked[i], a)
			}
		}
		require.Equal(t, 3, approved)
		require.Equal(t, wait.GrantUsedUp, new(f.grant(t, g.ID)).Status())
	})

	t.Run("list", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		by := f.granter(t)
		first := f.Grant(t, by, nil)
		second := f.Grant(t, by, func(g *wait.Grant) { g.Tool = "other" })
		list := func(q wait.GrantQuery) []wait.Grant {
			q.Tenant, q.Limit = f.Tenant, 10
			found, err := f.Store.ListGrants(t.Context(), q)
			require.NoError(t, err)
			return found
		}
		require.Equal(t, []wait.Grant{second, first}, list(wait.GrantQuery{}))
		require.Equal(t, []wait.Grant{first}, list(wait.GrantQuery{Before: second.ID}))
		require.Equal(t, []wait.Grant{second}, list(wait.GrantQuery{Tool: "other"}))
		_, err := f.Store.RevokeGrant(t.Context(), f.Tenant, second.ID, by)
		require.NoError(t, err)
		require.Equal(t, []wait.Grant{first}, list(wait.GrantQuery{Active: true}))
	})

	t.Run("what is no grant is refused", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		for _, g := range []wait.Grant{
			{Tool: "refund", Uses: 0, CreatedBy: "user:bob"},
			{Tool: "refund", Uses: wait.MaxGrantUses + 1, CreatedBy: "user:bob"},
			{Uses: 1, CreatedBy: "user:bob"},
			{Tool: "refund", Uses: 1, Version: "newest", CreatedBy: "user:bob"},
		} {
			g.Tenant = f.Tenant
			_, err := f.Store.AddGrant(t.Context(), g, time.Hour)
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%+v", g)
		}
		brief := wait.Grant{Tenant: f.Tenant, Tool: "refund", Uses: 1, CreatedBy: "user:bob"}
		_, err := f.Store.AddGrant(t.Context(), brief, time.Second)
		require.Equal(t, tool.Invalid, tool.KindOf(err))
		_, err = f.Store.AddGrant(t.Context(), wait.Grant{Tenant: f.Tenant, Tool: "refund", Uses: 1}, time.Hour)
		require.Equal(t, tool.Denied, tool.KindOf(err))
	})
}

// grantCases are the foreign cases of standing grants.
var grantCases = map[string]func(t *testing.T, f foreign){
	"AddGrant": func(t *testing.T, f foreign) {
		t.Helper()
		g, err := f.Store.AddGrant(t.Context(), wait.Grant{
			Tenant: f.stranger, Tool: "refund", Uses: 1, CreatedBy: "user:eve",
		}, time.Hour)
		require.NoError(t, err)
		require.Equal(t, f.stranger, g.Tenant)
		listed, err := f.Store.ListGrants(t.Context(), wait.GrantQuery{Tenant: f.Tenant, Limit: 10})
		require.NoError(t, err)
		require.Empty(t, listed)
	},
	"FindGrant": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindGrant(t.Context(), f.stranger, f.Grant(t, "user:bob", nil).ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListGrants": func(t *testing.T, f foreign) {
		t.Helper()
		f.Grant(t, "user:bob", nil)
		listed, err := f.Store.ListGrants(t.Context(), wait.GrantQuery{Tenant: f.stranger, Limit: 10})
		require.NoError(t, err)
		require.Empty(t, listed)
	},
	"RevokeGrant": func(t *testing.T, f foreign) {
		t.Helper()
		g := f.Grant(t, "user:bob", nil)
		_, err := f.Store.RevokeGrant(t.Context(), f.stranger, g.ID, "user:eve")
		RequireKind(t, tool.NotFound, err)
		require.Equal(t, g, f.grant(t, g.ID))
	},
	"UseGrant": func(t *testing.T, f foreign) {
		t.Helper()
		g := f.Grant(t, f.granter(t), nil)
		a := f.Ask(t, f.Request(t, f.Lone(t)))
		_, err := f.Store.UseGrant(t.Context(), f.stranger, g.ID, a)
		RequireKind(t, tool.NotFound, err)
		require.Equal(t, a, f.approval(t, a.ID))
		require.Equal(t, g, f.grant(t, g.ID))
	},
}
