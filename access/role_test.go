package access_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
)

// What each built-in role may do is pinned: a role is a promise to the people who give keys away.
func TestBuiltinRoles(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		access.Admin: "*",
		access.Builder: "tools.read tools.write agents.read agents.write runs.read runs.write approvals.read " +
			"approvals.confirm results.submit roles.read tenants.read credentials.read credentials.write pipelines.read " +
			"pipelines.write files.read files.write schedules.read schedules.write webhooks.read usage.read prices.read " +
			"budgets.read profiles.read assignments.read toolsets.write views.read spaces.read spaces.post " +
			"spaces.write",
		access.Approver: "tools.read agents.read runs.read approvals.read approvals.decide roles.read tenants.read " +
			"spaces.read",
		access.Operator: "tools.read agents.read runs.read runs.write approvals.read approvals.confirm results.submit " +
			"keys.read roles.read tenants.read tenants.write credentials.read pipelines.read files.read files.write " +
			"schedules.read schedules.write webhooks.read webhooks.write payloads.decrypt payloads.encrypt usage.read " +
			"prices.read prices.write budgets.read budgets.write profiles.read profiles.write assignments.read " +
			"assignments.write toolsets.write views.read views.write embeds.mint audit.read spaces.read spaces.post",
		access.Viewer: "tools.read agents.read runs.read approvals.read keys.read roles.read tenants.read " +
			"credentials.read pipelines.read files.read schedules.read webhooks.read usage.read prices.read budgets.read " +
			"profiles.read assignments.read views.read spaces.read",
	}
	require.Len(t, access.Builtin(), len(want))
	for _, r := range access.Builtin() {
		require.Equal(t, strings.Fields(want[r.Name]), r.Permissions, r.Name)
		require.True(t, access.ValidName(r.Name))
		require.NotEmpty(t, r.Description)
	}
	viewer, _ := access.Find(access.Viewer)
	for _, p := range viewer.Permissions {
		require.True(t, strings.HasSuffix(p, ".read"), "%s changes something", p)
	}
}

// Every permission is in a role beside admin, or says why admin alone has it.
func TestEveryPermissionHasARole(t *testing.T) {
	t.Parallel()
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(access.Names()))), len(access.Known()), "one entry each")
	for _, p := range access.Known() {
		require.NotEmpty(t, p.Meaning, p.Name)
		require.Equal(t, access.Admin, p.In[0], p.Name)
		others := p.In[1:]
		require.Equal(t, len(others) == 0, access.AdminOnly(p.Name) != "", p.Name)
		for _, name := range others {
			role, known := access.Find(name)
			require.True(t, known, "%s is in %s", p.Name, name)
			require.Contains(t, role.Permissions, p.Name)
		}
	}
	require.Empty(t, access.AdminOnly("no.such"))
}

func TestExpand(t *testing.T) {
	t.Parallel()
	own := []string{"tools.read", "orders.read"}
	require.Equal(t, own, access.Expand(own))
	require.Equal(t, own, access.Expand(own, "of-the-tenant"))
	got := access.Expand(own, access.Approver, access.Approver)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(got))), len(got), "nothing twice")
	require.Contains(t, got, access.ApprovalsDecide)
	require.Contains(t, got, "orders.read")
	require.Equal(t, []string{"tools.read", "orders.read"}, own, "the argument is not changed")
	require.Equal(t, []string{access.Admin, access.Approver}, access.With([]string{access.ApprovalsDecide}))
	require.Equal(t, []string{access.Admin}, access.With([]string{"orders.read"}))
}
