package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// An operator suspends, resumes and exports a tenant, and verifies the export; one that was changed
// is found.
func TestTenantExport(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.vars[cli.DatabaseVariable] = s.URL
	s.ok(t, "tenant", "create", "acme")
	s.ok(t, "key", "create", "admin", "--tenant", "acme", "--permission", "*")
	require.Equal(t, "acme is suspended\n", s.ok(t, "tenant", "suspend", "acme"))
	require.Equal(t, "acme is active\n", s.ok(t, "tenant", "resume", "acme"))

	folder, file := filepath.Join(s.dir, "acme"), filepath.Join(s.dir, "acme.tar")
	for _, to := range []string{folder, file} {
		require.Contains(t, s.ok(t, "tenant", "export", "acme", "--to", to), "exported acme to "+to)
		require.Contains(t, s.ok(t, "tenant", "export", "verify", to), "is whole")
		require.Equal(t, cli.ExitConflict, s.run(t, "tenant", "export", "acme", "--to", to).code, "nothing is replaced")
	}
	var manifest struct {
		Slug string
		Left []struct{ What, Why string } `json:"left_out"`
	}
	raw, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &manifest))
	require.Equal(t, "acme", manifest.Slug)
	require.Contains(t, manifest.Left, struct{ What, Why string }{"api_keys: secret_hash", "secrets"})
	require.Contains(t, s.ok(t, "audit", "verify", "--file", filepath.Join(folder, "audit.jsonl")), "the chain is whole")
	keys := filepath.Join(folder, "tables", "api_keys.ndjson")
	raw, err = os.ReadFile(keys)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"name":"admin"`)
	require.NotContains(t, string(raw), "secret_hash")

	require.NoError(t, os.WriteFile(keys, append(raw, '\n'), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "added"), nil, 0o600))
	require.NoError(t, os.Remove(filepath.Join(folder, "tables", "runs.ndjson")))
	got := s.run(t, "tenant", "export", "verify", folder, "--json")
	require.Equal(t, cli.ExitConflict, got.code)
	var report struct{ Faults []string }
	require.NoError(t, json.Unmarshal([]byte(got.out), &report))
	require.Len(t, report.Faults, 3)
	require.Equal(t, cli.ExitNotFound, s.run(t, "tenant", "export", "verify", folder+"-none").code)
	require.NoError(t, os.Remove(filepath.Join(folder, "manifest.json")))
	require.Equal(t, cli.ExitInvalid, s.run(t, "tenant", "export", "verify", folder).code)

	require.Equal(t, cli.ExitUsage, s.run(t, "tenant", "export", "acme").code)
	require.Equal(t, cli.ExitNotFound, s.run(t, "tenant", "export", "nobody", "--to", folder+"-new").code)
	require.Equal(t, cli.ExitNotFound, s.run(t, "tenant", "suspend", "nobody").code)
}

// Without its name twice, and without Temporal, nothing is erased.
func TestTenantEraseAsksTwice(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.vars[cli.DatabaseVariable] = s.URL
	s.vars["TEMPORAL_ADDRESS"] = "127.0.0.1:1"
	s.ok(t, "tenant", "create", "acme")
	require.Equal(t, cli.ExitUsage, s.run(t, "tenant", "erase").code)
	require.Equal(t, cli.ExitUsage, s.run(t, "tenant", "erase", "acme", "--confirm", "acne").code)
	require.Equal(t, cli.ExitUsage, s.run(t, "tenant", "erase", "acme", "--confirm", "acme", "--verify").code)
	require.Equal(t, cli.ExitUnavailable, s.run(t, "tenant", "erase", "acme", "--confirm", "acme").code)
	require.Contains(t, s.ok(t, "tenant", "list"), "acme")
}
