package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// The operator sets quotas for a tenant and for all, with the database; the tenant sees what it
// may have and has, and what is beyond it is refused with what to do.
func TestQuotaCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	f := storetest.NewFixture(t, s.Database)
	s.vars[cli.KeyVariable] = s.Key(t, f.Tenant, "*")
	require.Regexp(t, `tools +1 +none +none`, s.ok(t, "quota", "list"))
	require.Regexp(t, `runs +1 +10000 +servers`, s.ok(t, "quota", "list"))
	of := []string{"--for-tenant", string(f.Tenant)}
	set := append([]string{"quota", "set", "agents", "1"}, of...)
	require.Equal(t, cli.ExitUsage, s.run(t, set...).code, "it needs the database's URL")

	s.vars[cli.DatabaseVariable] = s.URL
	require.Contains(t, s.ok(t, "quota", "set", "agents", "100", "--all-tenants"),
		"quota agents of every tenant without a quota of its own: 100")
	require.Regexp(t, `agents +1 +100 +platform`, s.ok(t, "quota", "list"))
	require.Contains(t, s.ok(t, set...), ": 1\n")
	require.Regexp(t, `agents +1 +1 +tenant`, s.ok(t, "quota", "list"))
	require.Regexp(t, `agents +1 +1 +tenant`, s.ok(t, append([]string{"quota", "list"}, of...)...))
	require.Regexp(t, `agents +- +100 +platform`, s.ok(t, "quota", "list", "--all-tenants"))
	require.Contains(t, s.ok(t, "quota", "show", "agents"), "agents, in any status")
	require.Contains(t, s.ok(t, "quota", "show", "agents", "--all-tenants"), "100")
	require.Contains(t, s.ok(t, append([]string{"quota", "set", "storage_bytes", "10GiB"}, of...)...), "10737418240")
	require.Contains(t, s.ok(t, append([]string{"quota", "set", "runs", "7"}, of...)...), ": 7")
	require.Regexp(t, `runs +1 +7 +tenant`, s.ok(t, "quota", "list"))
	var shown v1.Quota
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "quota", "show", "runs", "--json")), &shown))
	require.EqualValues(t, 7, *shown.Limit)

	refused := s.run(t, "apply", "-f", s.write(t, "a.yaml",
		"kind: agent\nslug: second\ninstructions: Help.\nmodel: scripted/a\nversion: 1.0.0\n"))
	require.Equal(t, cli.ExitConflict, refused.code, refused.err)
	require.Contains(t, refused.err, `the tenant's quota "agents" is 1, and 1 are used: change an agent`)
	require.Contains(t, s.ok(t, append([]string{"quota", "unset", "agents"}, of...)...), "unset")
	require.Equal(t, cli.ExitNotFound, s.run(t, append([]string{"quota", "unset", "agents"}, of...)...).code)
	require.Regexp(t, `agents +1 +100 +platform`, s.ok(t, "quota", "list"))

	for _, wrong := range [][]string{
		{"set", "agents", "1"},
		{"unset", "agents"},
		{"set", "elephants", "1", "--all-tenants"},
		{"set", "agents", "many", "--all-tenants"},
		{"set", "agents", "99999999TiB", "--all-tenants"},
		{"set", "runs", "5", "--all-tenants"},
		append([]string{"set", "runs", "none"}, of...),
		{"set", "agents", "1", "--all-tenants", "--for-tenant", "acme"},
		{"show", "elephants"},
		{"set", "agents", "--all-tenants"},
	} {
		require.Equal(t, cli.ExitUsage, s.run(t, append([]string{"quota"}, wrong...)...).code, wrong)
	}
	require.Equal(t, cli.ExitNotFound, s.run(t, "quota", "set", "agents", "1", "--for-tenant", "none").code)
}

// Counts that are wrong are found, and corrected.
func TestQuotaVerify(t *testing.T) {
	t.Parallel()
	s := setup(t)
	f := storetest.NewFixture(t, s.Database)
	s.vars[cli.DatabaseVariable] = s.URL
	require.Contains(t, s.ok(t, "quota", "verify"), "are right")
	_, err := s.Conn(t).Exec(t.Context(),
		"update quota_counts set used = 9 where tenant_id = $1 and name = 'agents'", f.Tenant)
	require.NoError(t, err)
	found := s.run(t, "quota", "verify")
	require.Equal(t, cli.ExitConflict, found.code)
	require.Regexp(t, `agents +9 +1`, found.out)
	require.Contains(t, found.err, "toolcrib quota verify --repair")
	require.Regexp(t, `agents +9 +1`, s.ok(t, "quota", "verify", "--repair", "--for-tenant", string(f.Tenant)))
	require.Contains(t, s.ok(t, "quota", "verify"), "are right")
}
