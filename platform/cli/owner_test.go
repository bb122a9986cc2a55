package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	s := &shell{vars: map[string]string{cli.DatabaseVariable: storetest.NewEmpty(t)}}
	require.Contains(t, s.ok(t, "migrate", "status"), "missing")
	first := s.ok(t, "migrate")
	require.Contains(t, first, "applied 001 tenants")
	require.Contains(t, first, "created datetime_utils@")
	require.Equal(t, "up to date\n", s.ok(t, "migrate", "up"))
	require.NotContains(t, s.ok(t, "migrate", "status"), "missing")
}

// A tenant and its first key are made on the owner's database; with it, other
// keys are made through the API.
func TestTenantsAndKeys(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.vars[cli.DatabaseVariable] = s.URL
	var tenant store.Tenant
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "tenant", "create", "acme", "--json")), &tenant))
	require.Contains(t, s.ok(t, "tenant", "list"), "acme")
	require.Equal(t, cli.ExitConflict, s.run(t, "tenant", "create", "acme").code)
	require.Equal(t, cli.ExitNotFound, s.run(t, "key", "create", "admin", "--tenant", "none", "--permission", "*").code)

	s.vars[cli.KeyVariable] = strings.TrimSpace(s.ok(t, "key", "create", "admin", "--tenant", "acme", "--permission", "*"))
	reader := strings.TrimSpace(s.ok(t, "key", "create", "reader", "--permission", "tools.read", "--expires", "1h"))
	require.Equal(t, cli.ExitOK, s.run(t, "tool", "list", "--key", reader).code)
	require.Equal(t, cli.ExitDenied, s.run(t, "run", "list", "--key", reader).code)

	var keys struct {
		Items []struct{ ID, Name string } `json:"items"`
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "key", "list", "--json")), &keys))
	require.Len(t, keys.Items, 2)
	require.Equal(t, "revoked reader\n", s.ok(t, "key", "revoke", keys.Items[1].ID))
	require.Equal(t, cli.ExitDenied, s.run(t, "tool", "list", "--key", reader).code)
	require.Contains(t, s.ok(t, "key", "list"), "revoked")
}

// An operator gives a tenant a limit of its own, sees it, and takes it back.
func TestTenantLimit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.vars[cli.DatabaseVariable] = s.URL
	s.ok(t, "tenant", "create", "acme")
	require.Regexp(t, `acme .* default `, s.ok(t, "tenant", "list"))
	require.Equal(t, "unfinished runs that acme may have: 500\n", s.ok(t, "tenant", "limit", "acme", "500"))
	require.Regexp(t, `acme .* 500 `, s.ok(t, "tenant", "list"))
	require.Equal(t, "unfinished runs that acme may have: default\n", s.ok(t, "tenant", "limit", "acme", "default"))
	for _, wrong := range []string{"0", "-1", "many"} {
		require.Equal(t, cli.ExitUsage, s.run(t, "tenant", "limit", "acme", "--", wrong).code, wrong)
	}
	require.Equal(t, cli.ExitInvalid, s.run(t, "tenant", "limit", "acme", "1000001").code)
	require.Equal(t, cli.ExitNotFound, s.run(t, "tenant", "limit", "none", "5").code)
}

// Processes do not start as a role that could see every tenant's data.
func TestPrivilegedRolesAreRefused(t *testing.T) {
	t.Parallel()
	s := &shell{vars: map[string]string{cli.DatabaseVariable: storetest.NewDatabase(t).URL}}
	for _, command := range []string{"serve", "worker"} {
		got := s.run(t, command)
		require.Equal(t, cli.ExitDenied, got.code, got.err)
		require.Contains(t, got.err, "is a superuser")
		require.Contains(t, got.err, store.AppRole)
	}
	s.vars[cli.DatabaseVariable] = "postgres://nobody@127.0.0.1:1/x"
	require.Equal(t, cli.ExitUnavailable, s.run(t, "serve").code)
}
