package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Profiles are made, assigned, listed, explained and revoked, and what they restrict applies at once.
func TestProfileCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	f := storetest.NewFixture(t, s.Database)
	s.vars[cli.KeyVariable] = s.Key(t, f.Tenant, "*")
	slug := f.Tool.Slug
	require.Contains(t, s.run(t, "profile", "list").err, "no profiles")
	require.Contains(t, s.run(t, "tool", "list", "--assignments").err, "nothing is assigned")
	require.Contains(t, s.ok(t, "profile", "set", "careful", "--approval", "--rate", "2/hour", "--burst", "1",
		"--max-concurrency", "3", "--description", "until the audit"),
		"profile careful: approval, 2 calls an hour (burst 1), 3 at once")
	require.Contains(t, s.ok(t, "profile", "set", "slow", "--rate", "1/day"), "profile slow: 1 call a day")
	require.Contains(t, s.ok(t, "tool", "assign", "--tool", slug, "--agent", f.Agent.Slug, "--profile", "careful"),
		slug+" is assigned to agent support, within profile careful")
	require.Contains(t, s.ok(t, "tool", "assign", "--tool", slug, "--profile", "slow"),
		slug+" is assigned to every caller, within profile slow")
	require.Regexp(t, `searchOrders +\(every caller\) +slow[^\n]*\nsearchOrders +support +careful`,
		s.ok(t, "tool", "list", "--assignments"))
	require.NotContains(t, s.ok(t, "tool", "list", "--assignments", "--agent", "support"), "every caller")
	require.Contains(t, s.ok(t, "tool", "list", "--profiles", "--agent", "support"), "until the audit")
	require.Contains(t, s.ok(t, "profile", "get", "careful"), "approval, 2 calls an hour")
	require.Contains(t, s.ok(t, "profile", "list", "--json"), `"assignments": 1`)

	explained := s.ok(t, "tool", "explain", slug, "--agent", "support")
	require.Regexp(t, `profile +passed +profile "slow", assigned for every caller; at most 1 call a day begin`, explained)
	require.Regexp(t, `profile +passed +profile "careful", assigned for the agent; profile "careful": it requires an approval`,
		explained)
	require.NotContains(t, s.ok(t, "tool", "explain", slug), "careful")

	e := f.Lone(t)
	e.AgentID = ""
	f.Admit(t, e, true, true)
	_, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: f.Lone(t)})
	require.NoError(t, err, "the call of the agent is held, and takes no token")

	require.Contains(t, s.ok(t, "price", "set", "--tool", slug, "--per-call", "0.002"), "costs")
	require.Contains(t, s.ok(t, "budget", "set", "slow-day", "--profile", "slow", "--per", "day", "--limit", "1"),
		"profile slow may spend 1.00 a day")
	used := s.run(t, "profile", "delete", "careful")
	require.Equal(t, cli.ExitConflict, used.code)
	require.Contains(t, used.err, "in use (assignments: 1)")
	require.Contains(t, s.ok(t, "tool", "revoke", "--tool", slug, "--agent", "support"),
		slug+" is no longer assigned to agent support")
	require.Equal(t, cli.ExitNotFound, s.run(t, "tool", "revoke", "--tool", slug, "--agent", "support").code)
	require.Contains(t, s.ok(t, "tool", "revoke", "--tool", slug), "every caller")
	require.Contains(t, s.ok(t, "profile", "delete", "careful"), "profile careful is deleted")
	require.Equal(t, cli.ExitNotFound, s.run(t, "profile", "get", "careful").code)
	require.NotContains(t, s.ok(t, "profile", "set", "slow", "--deny"), "a day", "it is replaced as a whole")
	found, err := f.Store.FindProfile(t.Context(), f.Tenant, "slow")
	require.NoError(t, err)
	require.True(t, found.Denied)
	require.Equal(t, int64(2), found.Revision)

	for _, wrong := range [][]string{
		{"profile", "set", "Upper"},
		{"profile", "set", "p", "--rate", "ten"},
		{"profile", "set", "p", "--rate", "10/week"},
		{"profile", "set", "p", "--burst", "2"},
		{"profile", "set", "p", "--egress", string(tool.EgressNone)},
		{"tool", "assign", "--agent", "support"},
		{"tool", "assign", "--tool", slug},
		{"tool", "revoke"},
		{"tool", "list", "--agent", "support"},
	} {
		require.Equal(t, cli.ExitUsage, s.run(t, wrong...).code, wrong)
	}
	for _, absent := range []string{"--agent", "--profile"} {
		require.Equal(t, cli.ExitNotFound, s.run(t, "tool", "assign", "--tool", slug, absent, "none").code)
	}
}
