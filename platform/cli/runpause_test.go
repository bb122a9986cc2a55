package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

// A run is paused and resumed, however often that is asked for; it and the list of runs say that it
// is paused, since when, by whom and why.
func TestRunPauseCommands(t *testing.T) {
	t.Parallel()

	s := setup(t)
	run := s.runOf(t, "user:ada")
	require.NotContains(t, s.ok(t, "run", "show", run.ID), "paused")
	for _, reason := range []string{"the warehouse\x1b[2J is being counted", "another"} {
		require.Equal(t, "paused "+run.ID+": it begins nothing more\n", s.ok(t, "run", "pause", run.ID, "--reason", reason))
	}
	shown := s.ok(t, "run", "show", run.ID)
	require.Regexp(t, `(?m)^paused +\S+ .* by key:\S+: the warehouse\[2J is being counted$`, shown)
	require.Contains(t, s.ok(t, "run", "list"), "pending, paused")
	var listed v1.Page[v1.Run]
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "run", "list", "--json")), &listed))
	require.Equal(t, "the warehouse\x1b[2J is being counted", listed.Items[0].Paused.Reason, "the first pause is the one")

	for range 2 {
		require.Equal(t, "resumed "+run.ID+"\n", s.ok(t, "run", "resume", run.ID))
	}
	require.NotContains(t, s.ok(t, "run", "list"), "paused")
	for command, isPaused := range map[string]bool{"pause": true, "resume": false} {
		var changed v1.Run
		require.NoError(t, json.Unmarshal([]byte(s.ok(t, "run", command, run.ID, "--json")), &changed))
		require.Equal(t, isPaused, changed.Paused != nil, command)
	}
	require.Equal(t, "run.paused run.resumed", s.pauses(t, run.ID)[:len("run.paused run.resumed")])
}

// pauses returns the types of a run's events about pauses, in order.
func (s *shell) pauses(t *testing.T, run string) string {
	t.Helper()
	var types []string
	for word := range strings.FieldsSeq(s.ok(t, "run", "events", run)) {
		if strings.HasPrefix(word, "run.paused") || strings.HasPrefix(word, "run.resumed") {
			types = append(types, word)
		}
	}
	return strings.Join(types, " ")
}

// Each command that cannot pause or resume says why, with the exit code of the reason.
func TestRunPauseRefusals(t *testing.T) {
	t.Parallel()

	s := setup(t)
	run := s.runOf(t, "user:ada")
	ended := s.runOf(t, "user:ada")
	s.ok(t, "run", "cancel", ended.ID)
	all, reader, other := s.vars[cli.KeyVariable], s.Key(t, s.tenant, "runs.read"), s.Key(t, s.Tenant(t), "*")
	for _, command := range []string{"pause", "resume"} {
		for _, c := range []struct {
			name, key string
			args      []string
			code      int
			says      string
		}{
			{"no run", all, nil, cli.ExitUsage, "toolcrib run " + command + " needs a run"},
			{"no id", all, []string{"x"}, cli.ExitNotFound, "not found"},
			{"a long reason", all, []string{run.ID, "--reason", strings.Repeat("x", 2001)}, cli.ExitInvalid, "/reason: expected length <= 2000"},
			{"ended", all, []string{ended.ID}, cli.ExitConflict, "cancelled already"},
			{"a reader", reader, []string{run.ID}, cli.ExitDenied, "runs.write"},
			{"another tenant's", other, []string{run.ID}, cli.ExitNotFound, "not found"},
		} {
			s.vars[cli.KeyVariable] = c.key
			got := s.run(t, append([]string{"run", command}, c.args...)...)
			require.Equal(t, c.code, got.code, "%s of %s: %s", command, c.name, got.err)
			require.Contains(t, got.err, c.says, "%s of %s", command, c.name)
			require.Empty(t, got.out)
		}
	}
	s.vars[cli.KeyVariable] = all
	require.NotContains(t, s.ok(t, "run", "list"), "paused")
}
