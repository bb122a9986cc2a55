package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store"
)

// An operator sees the rules and what is due, sets them for all and for a tenant, and deletes what
// is due, after having been shown it.
func TestRetention(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.vars[cli.DatabaseVariable] = s.URL
	s.ok(t, "tenant", "create", "acme")
	require.Regexp(t, `runs +90d +0`, s.ok(t, "retention"))
	require.Equal(t, "runs are kept: 30d\n", s.ok(t, "retention", "set", "runs", "30d"))
	require.Equal(t, "runs are kept: for ever\n", s.ok(t, "retention", "set", "runs", "forever", "--tenant", "acme"))
	shown := s.ok(t, "retention", "--tenant", "acme")
	require.Regexp(t, `runs +30d +0`, shown)
	require.Regexp(t, `acme +runs +for ever`, shown)
	var got struct {
		Rules []store.RetentionRule
		State []store.RetentionState
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "retention", "--json")), &got))
	require.Len(t, got.Rules, len(store.RetentionClasses())+1)
	require.Len(t, got.State, len(store.RetentionClasses()))
	require.Contains(t, s.ok(t, "retention", "unset", "runs", "--tenant", "acme"), "no rule of its own")

	conn := s.Conn(t)
	_, err := conn.Exec(t.Context(), `insert into webhooks (tenant_id, id, url, types, secret, secret_key_version, seen_seq)
		values ($1, gen_random_uuid(), 'https://x.example', '{run.completed}', '', 1, 0)`, s.tenant)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `insert into webhook_deliveries (tenant_id, id, webhook_id, type, status, created_at, ended_at)
		select tenant_id, uuid_floor(now() - interval '40 days'), id, 'run.completed', 'delivered',
			now() - interval '40 days', now() - interval '40 days' from webhooks`)
	require.NoError(t, err)
	require.Regexp(t, `deliveries +1 `, s.ok(t, "retention", "sweep", "--dry-run"))
	require.Regexp(t, `deliveries +1`, s.ok(t, "retention", "sweep", "--yes", "--class", "deliveries"))
	require.JSONEq(t, `{"dry_run":false,"swept":[{"class":"deliveries","removed":0}]}`,
		s.ok(t, "retention", "sweep", "--yes", "--class", "deliveries", "--json"))

	for _, wrong := range []struct {
		want string
		args []string
	}{
		{"either --dry-run", []string{"sweep"}},
		{"either --dry-run", []string{"sweep", "--yes", "--dry-run"}},
		{"no class of records", []string{"sweep", "--dry-run", "--class", "calls"}},
		{"no class of records", []string{"set", "calls", "1d"}},
		{"no time", []string{"set", "runs", "0d"}},
		{"no time", []string{"set", "runs", "90"}},
		{"--tenant", []string{"unset", "runs"}},
	} {
		ended := s.run(t, append([]string{"retention"}, wrong.args...)...)
		require.Equal(t, cli.ExitUsage, ended.code, wrong.args)
		require.Contains(t, ended.err, wrong.want)
	}
	require.Contains(t, s.run(t, "retention", "set", "effects", "7d").err, "at least 30 days")
	require.Equal(t, cli.ExitNotFound, s.run(t, "retention", "set", "runs", "7d", "--tenant", "none").code)
	require.Equal(t, cli.ExitNotFound, s.run(t, "retention", "unset", "runs", "--tenant", "acme").code)
}
