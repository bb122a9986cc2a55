package cli_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store/storetest"
)

// Prices are set by hand, and reports are for people, for spreadsheets and for programs.
func TestUsageCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	f := storetest.NewFixture(t, s.Database)
	s.vars[cli.KeyVariable] = s.Key(t, f.Tenant, "*")
	require.Contains(t, s.run(t, "price", "list").err, "no prices")
	require.Contains(t, s.ok(t, "price", "set", "--tool", f.Tool.Slug, "--per-call", "0.002", "--per-unit", "0.5",
		"--unit", "/pages"), f.Tool.Slug+" costs 0.002 a call, 0.50 per /pages")
	require.Contains(t, s.ok(t, "price", "set", "--model", "acme/small", "--input", "0.25", "--output", "2", "--until",
		"2099-01-01"), "acme/small costs 0.25 input, 2.00 output per million tokens")
	e := f.Lone(t)
	_, err := f.Store.Settle(t.Context(), storetest.Completed(e, f.Admit(t, e, true, true).Fence))
	require.NoError(t, err)

	require.Regexp(t, f.Tool.Slug+` +1 +0 +\d+ +0 +0 +0 +0 +0 +0 +0.002`, s.ok(t, "usage", "--by", "tool"))
	require.Regexp(t, `(?m)^total +1 +0 +\d+ +1 +11 +0 +7 +0 +1 +0.002$`, s.ok(t, "usage", "--by", "tool,model"))
	require.Regexp(t, `^CALLS +FAILED`, s.ok(t, "usage"))
	require.Contains(t, s.ok(t, "usage", "--by", "model", "--json"), `"input_tokens": 11`)
	rows, err := csv.NewReader(strings.NewReader(s.ok(t, "usage", "--by", "tool", "--csv"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Equal(t, []string{"tool", "calls"}, rows[0][:2])
	require.Equal(t, []string{f.Tool.Slug, "1"}, rows[1][:2])
	require.Equal(t, "2000", rows[1][len(rows[1])-1])
	require.Contains(t, s.ok(t, "usage", "--from", "2020-01-01", "--to", "2020-01-31", "--by", "tool"), "0.00")
	require.Regexp(t, `cost +0.002`, s.ok(t, "run", "usage", f.Run.ID))
	require.Regexp(t, `cost +0.002`, s.ok(t, "invocations", "show", e.InvocationID))

	require.Regexp(t, `acme/small +tenant +0.25 input`, s.ok(t, "price", "list"))
	for _, wrong := range [][]string{
		{},
		{"--tool", "x"},
		{"--model", "a/b", "--input", "1"},
		{"--tool", "x", "--model", "a/b", "--per-call", "1"},
		{"--tool", "x", "--per-call", "1e3"},
		{"--tool", "x", "--per-call", "1", "--from", "soon"},
	} {
		require.Equal(t, cli.ExitUsage, s.run(t, append([]string{"price", "set"}, wrong...)...).code, wrong)
	}
	require.Equal(t, cli.ExitNotFound, s.run(t, "price", "set", "--tool", "absent", "--per-call", "1").code)
	require.Equal(t, cli.ExitInvalid, s.run(t, "usage", "--by", "week").code)
}

// The operator sets prices for every tenant, with the database.
func TestPriceOfThePlatform(t *testing.T) {
	t.Parallel()
	s := setup(t)
	require.Equal(t, cli.ExitUsage, s.run(t, "price", "set", "--model", "a/b", "--input", "1", "--output", "1",
		"--all-tenants").code, "it needs the database's URL")
	s.vars[cli.DatabaseVariable] = s.URL
	s.ok(t, "price", "set", "--model", "a/b", "--input", "1", "--output", "1", "--all-tenants")
	listed := s.ok(t, "price", "list")
	require.Regexp(t, `a/b +platform`, listed)
	id := strings.Fields(strings.Split(listed, "\n")[1])[0]
	require.Equal(t, cli.ExitNotFound, s.run(t, "price", "remove", id).code)
	require.Contains(t, s.ok(t, "price", "remove", id, "--all-tenants"), "removed")
	require.Equal(t, cli.ExitNotFound, s.run(t, "price", "set", "--tool", "mine", "--per-call", "1", "--all-tenants").code)
}
