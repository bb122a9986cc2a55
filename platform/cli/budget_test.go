package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Budgets are set, listed with what is spent of them, and removed; what is beyond one is denied.
func TestBudgetCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	f := storetest.NewFixture(t, s.Database)
	s.vars[cli.KeyVariable] = s.Key(t, f.Tenant, "*")
	require.Contains(t, s.run(t, "budget", "list").err, "no budgets")
	s.ok(t, "price", "set", "--tool", f.Tool.Slug, "--per-call", "0.002", "--per-unit", "0.001", "--unit", "/pages",
		"--expect-units", "3")
	require.Contains(t, s.ok(t, "budget", "set", "lookups", "--tool", f.Tool.Slug, "--agent", f.Agent.Slug, "--per", "day",
		"--limit", "0.008"), "tool "+f.Tool.Slug+" in agent "+f.Agent.Slug+" may spend 0.008 a day")
	require.Contains(t, s.ok(t, "budget", "set", "all", "--per", "run", "--limit", "2000000"),
		"everything may spend 2000000.00 a run")
	e := f.Lone(t)
	ticket := f.Admit(t, e, true, true)
	require.Regexp(t, `lookups +tool `+f.Tool.Slug+` in agent support +tenant +day +0.008 +0.00 +0.005 +\d`,
		s.ok(t, "budget", "list"))
	_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: f.Lone(t)})
	storetest.RequireKind(t, tool.Denied, err)
	_, err = f.Store.Settle(t.Context(), storetest.Completed(e, ticket.Fence))
	require.NoError(t, err)
	require.Contains(t, s.ok(t, "budget", "list", "--json"), `"spent_micros": 2000`)
	require.Contains(t, s.ok(t, "budget", "remove", "lookups"), "the budget lookups is removed")
	require.Equal(t, cli.ExitNotFound, s.run(t, "budget", "remove", "lookups").code)

	for _, wrong := range [][]string{
		{"b", "--per", "day"},
		{"b", "--limit", "1"},
		{"b", "--per", "week", "--limit", "1"},
		{"b", "--per", "day", "--limit", "a lot"},
		{"Upper", "--per", "day", "--limit", "1"},
		{"--per", "day", "--limit", "1"},
		{"b", "--per", "day", "--limit", "1", "--for-tenant", "acme", "--agent", "support"},
	} {
		require.Equal(t, cli.ExitUsage, s.run(t, append([]string{"budget", "set"}, wrong...)...).code, wrong)
	}
	for _, absent := range []string{"--tool", "--agent"} {
		set := s.run(t, "budget", "set", "b", "--per", "day", "--limit", "1", absent, "none")
		require.Equal(t, cli.ExitNotFound, set.code)
	}
}

// The operator sets a budget for a tenant, with the database; the tenant sees it and keeps it.
func TestBudgetOfThePlatform(t *testing.T) {
	t.Parallel()
	s := setup(t)
	f := storetest.NewFixture(t, s.Database)
	s.vars[cli.KeyVariable] = s.Key(t, f.Tenant, "*")
	of := []string{"--for-tenant", string(f.Tenant)}
	set := append([]string{"budget", "set", "cap", "--per", "month", "--limit", "10"}, of...)
	require.Equal(t, cli.ExitUsage, s.run(t, set...).code, "it needs the database's URL")
	s.vars[cli.DatabaseVariable] = s.URL
	require.Contains(t, s.ok(t, set...), "everything may spend 10.00 a month")
	require.Regexp(t, `cap +everything +platform +month +10.00`, s.ok(t, "budget", "list"))
	require.Equal(t, cli.ExitNotFound, s.run(t, "budget", "remove", "cap").code)
	require.Contains(t, s.ok(t, append([]string{"budget", "remove", "cap"}, of...)...), "removed")
	unknown := s.run(t, "budget", "set", "cap", "--per", "day", "--limit", "1", "--for-tenant", "none")
	require.Equal(t, cli.ExitNotFound, unknown.code)
}
