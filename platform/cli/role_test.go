package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/access"
	"github.com/toolcrib/toolcrib/platform/cli"
)

// Roles are made, changed and deleted, and keys get them.
func TestRoleCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	listed := s.ok(t, "role", "list")
	for _, r := range access.Builtin() {
		require.Regexp(t, r.Name+` +built-in`, listed)
	}
	made := s.run(t, "role", "create", "support", "--permission", "runs.read", "--permission", "orders.raed",
		"--description", "Answers customers")
	require.Equal(t, cli.ExitOK, made.code, made.err)
	require.Contains(t, made.out, "the role support permits runs.read orders.raed")
	require.Contains(t, made.err, `neither the API nor a tool asks for the permission "orders.raed"`)
	require.Contains(t, s.ok(t, "role", "change", "support", "--remove", "orders.raed", "--add", "orders.read"),
		"the role support permits runs.read orders.read")
	require.Contains(t, s.ok(t, "role", "show", "support"), "support (tenant): runs.read orders.read")
	require.Contains(t, s.ok(t, "role", "show", "approver", "--json"), `"builtin": true`)

	admin := s.vars[cli.KeyVariable]
	key := strings.TrimSpace(s.ok(t, "key", "create", "desk", "--role", "support", "--owner", "team-desk",
		"--requests-per-second", "50"))
	require.Regexp(t, `desk +support`, s.ok(t, "key", "list"))
	require.Contains(t, s.ok(t, "key", "list", "--json"), `"requests_per_second": 50`)
	s.vars[cli.KeyVariable] = key
	s.ok(t, "run", "list")
	require.Equal(t, cli.ExitDenied, s.run(t, "tool", "list").code)
	s.vars[cli.KeyVariable] = admin

	require.Contains(t, s.run(t, "key", "list", "--unused-for", "30d").err, "the filters may leave out too much")
	require.Contains(t, s.ok(t, "key", "list", "--owner", "team-desk"), "desk")
	require.Equal(t, cli.ExitUsage, s.run(t, "key", "list", "--unused-for", "soon").code)
	require.Contains(t, s.run(t, "key", "people").err, "no person used a token")

	inUse := s.run(t, "role", "delete", "support")
	require.Equal(t, cli.ExitConflict, inUse.code)
	require.Contains(t, inUse.err, "desk")
	s.ok(t, "role", "create", "unused", "--permission", "runs.read")
	require.Contains(t, s.ok(t, "role", "delete", "unused"), "the role unused is deleted")
	require.Equal(t, cli.ExitNotFound, s.run(t, "role", "show", "unused").code)
	require.Equal(t, cli.ExitConflict, s.run(t, "role", "change", "viewer", "--add", "runs.write").code)
	for _, wrong := range [][]string{
		{"role", "create", "support"},
		{"role", "create", "admin", "--permission", "runs.read"},
		{"role", "create"},
		{"role", "change", "support"},
		{"role", "change", "support", "--remove", "runs.write"},
		{"role", "change", "support", "--remove", "runs.read", "--remove", "orders.read"},
		{"key", "create", "x"},
		{"key", "create", "x", "--role", "viewer", "--burst", "5"},
	} {
		require.Equal(t, cli.ExitUsage, s.run(t, wrong...).code, wrong)
	}
	unknown := s.run(t, "key", "create", "x", "--role", "cooks")
	require.Equal(t, cli.ExitInvalid, unknown.code)
	require.Contains(t, unknown.err, `there is no role "cooks"`)
}
