package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// role creates a role of the fixture's tenant.
func (f *Fixture) role(tb testing.TB, name string, permissions ...string) store.Role {
	tb.Helper()
	made, err := f.Store.CreateRole(tb.Context(), store.Role{
		Role: access.Role{Name: name, Permissions: permissions}, Tenant: f.Tenant, CreatedBy: "user:ada",
	})
	require.NoError(tb, err)
	return made
}

// Keys have what their roles permit when they are used, and count as approvers by them.
func testRoles(t *testing.T, d *Database) {
	t.Helper()
	f := NewFixture(t, d)
	clerk := f.role(t, "clerk", "runs.read", "orders.read")
	require.Equal(t, int64(1), clerk.Revision)

	key, text, err := d.Store.CreateKey(t.Context(), store.Key{
		Tenant: f.Tenant, Name: "desk", Permissions: []string{"tools.read"}, Roles: []string{"clerk", access.Approver},
		Owner: "team-desk",
	})
	require.NoError(t, err)
	require.Equal(t, []string{"clerk", access.Approver}, key.Roles)
	may := func(permission string) bool {
		used, err := d.Store.Authenticate(t.Context(), text)
		require.NoError(t, err)
		require.Equal(t, "team-desk", used.Owner)
		return used.Principal().May(permission)
	}
	for _, p := range []string{"tools.read", "orders.read", wait.DecidePermission} {
		require.True(t, may(p), p)
	}
	require.False(t, may("orders.write"))
	approvers := func(permission string) int {
		n, err := d.Store.CountApprovers(t.Context(), f.Tenant, []string{permission}, "")
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 1, approvers(wait.DecidePermission), "by a built-in role")
	require.Equal(t, 1, approvers("orders.read"), "by a role of the tenant")
	require.Zero(t, approvers("orders.write"))

	clerk.Permissions = []string{"orders.write"}
	changed, err := d.Store.ChangeRole(t.Context(), clerk)
	require.NoError(t, err)
	require.Equal(t, int64(2), changed.Revision)
	require.True(t, may("orders.write"), "a changed role counts at once")
	require.False(t, may("orders.read"))
	_, err = d.Store.ChangeRole(t.Context(), clerk)
	require.ErrorIs(t, err, store.ErrRoleChanged, "another revision")

	granted := f.Grant(t, "key:"+key.ID, nil)
	require.NotEmpty(t, granted.ID)
	principal, err := d.Store.ScheduleAuthority(t.Context(), f.Tenant, "key:"+key.ID)
	require.NoError(t, err)
	require.True(t, principal.May("orders.write"), "schedules too")

	_, err = d.Store.DeleteRole(t.Context(), f.Tenant, "clerk")
	RequireKind(t, tool.Conflict, err)
	require.ErrorContains(t, err, key.ID)
	_, err = d.Store.RevokeKey(t.Context(), f.Tenant, key.ID)
	require.NoError(t, err)
	gone, err := d.Store.DeleteRole(t.Context(), f.Tenant, "clerk")
	require.NoError(t, err)
	require.Equal(t, changed.ID, gone.ID)

	_, _, err = d.Store.CreateKey(t.Context(), store.Key{Tenant: f.Tenant, Name: "x", Roles: []string{"viewer", "clerk"}})
	RequireKind(t, tool.Invalid, err)
	require.Equal(t, "/roles/1", tool.AsError(err).Path)
	for name, role := range map[string]access.Role{
		"built-in":       {Name: access.Admin, Permissions: []string{"runs.read"}},
		"a capital":      {Name: "Clerk", Permissions: []string{"runs.read"}},
		"no permissions": {Name: "clerk"},
		"an empty one":   {Name: "clerk", Permissions: []string{""}},
	} {
		_, err := d.Store.CreateRole(t.Context(), store.Role{Role: role, Tenant: f.Tenant})
		RequireKind(t, tool.Invalid, err)
		require.Error(t, err, name)
	}
	f.role(t, "clerk", "runs.read")
	_, err = d.Store.CreateRole(t.Context(), store.Role{
		Role: access.Role{Name: "clerk", Permissions: []string{"runs.read"}}, Tenant: f.Tenant,
	})
	RequireKind(t, tool.Conflict, err)
}

// People with tokens are recorded, and count as approvers while they are seen.
func testTokenUsers(t *testing.T, d *Database) {
	t.Helper()
	f := NewFixture(t, d)
	f.role(t, "clerk", "orders.read")
	ada := store.TokenUser{Tenant: f.Tenant, Subject: "user:corp/ada", Roles: []string{"clerk", access.Approver, "gone"}}
	p, _, err := d.Store.UseToken(t.Context(), ada, store.Draw{})
	require.NoError(t, err)
	require.Equal(t, ada.Subject, p.Subject)
	require.True(t, p.May("orders.read"))
	require.True(t, p.May(wait.DecidePermission))
	require.False(t, p.May("orders.write"))
	able := func(except string) int {
		n, err := d.Store.CountApprovers(t.Context(), f.Tenant, []string{wait.DecidePermission}, except)
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 1, able(""))
	require.Zero(t, able(ada.Subject), "not of one's own runs")

	conn := d.Conn(t)
	_, err = conn.Exec(t.Context(), "update token_users set last_seen_at = now() - interval '91 days'")
	require.NoError(t, err)
	require.Zero(t, able(""), "who was not seen for long is counted no more")
	_, _, err = d.Store.UseToken(t.Context(), store.TokenUser{Tenant: f.Tenant, Subject: "user:corp/bob"}, store.Draw{})
	require.NoError(t, err)
	users, err := d.Store.ListTokenUsers(t.Context(), f.Tenant, 10)
	require.NoError(t, err)
	require.Len(t, users, 1, "and is deleted as others come")
	require.Equal(t, "user:corp/bob", users[0].Subject)
	require.WithinDuration(t, time.Now(), users[0].LastSeenAt, time.Minute)

	require.NoError(t, suspend(t, d, f.Tenant))
	_, _, err = d.Store.UseToken(t.Context(), ada, store.Draw{})
	RequireKind(t, tool.Denied, err)
	unknown := ada
	unknown.Tenant = tool.TenantID(NewID(t))
	_, _, err = d.Store.UseToken(t.Context(), unknown, store.Draw{})
	RequireKind(t, tool.Denied, err)
}

func suspend(t *testing.T, d *Database, tenant tool.TenantID) error {
	t.Helper()
	_, err := d.Platform.SetTenantStatus(t.Context(), tenant, store.TenantSuspended)
	return err
}
