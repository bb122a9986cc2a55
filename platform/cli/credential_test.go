package cli_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/internal/vault"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/tool"
)

const plantedValue = "tc-planted-value-44c1e0"

// setupKeys is setup with a server that keeps credentials, and a tenant "acme"
// whose the key is.
func setupKeys(t *testing.T) (*shell, tool.TenantID) {
	t.Helper()
	s := setup(t)
	file := filepath.Join(s.dir, "kek")
	s.vars[cli.DatabaseVariable] = s.URL
	require.Contains(t, s.ok(t, "encryption", "new-key", file), "made "+file)
	require.Equal(t, cli.ExitConflict, s.run(t, "encryption", "new-key", file).code)
	s.vars[vault.FileVariable] = file
	keys, err := vault.ReadKeyFile(file)
	require.NoError(t, err)
	temporal, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: sdklog.NewStructuredLogger(nil)})
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	handler, err := serve.Handler(t.Context(), serve.HandlerConfig{Store: s.Store, Temporal: temporal, Keys: keys})
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	var tenant struct {
		ID tool.TenantID `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "tenant", "create", "acme", "--json")), &tenant))
	s.vars[cli.ServerVariable], s.vars[cli.KeyVariable] = server.URL, s.Key(t, tenant.ID, "*")
	return s, tenant.ID
}

func TestCredentialCommands(t *testing.T) {
	t.Parallel()
	s, tenant := setupKeys(t)
	s.vars["SHOP_KEY"] = plantedValue
	file := s.write(t, "value", plantedValue+"-2\n")

	got := s.run(t, "credential", "set", "shop", "--from-env", "SHOP_KEY")
	require.Equal(t, cli.ExitUsage, got.code)
	require.Contains(t, got.err, "--host")
	require.Equal(t, cli.ExitUsage, s.run(t, "credential", "set", "shop", "--host", "api.example.com").code, "no value")
	require.Equal(t, cli.ExitUsage, s.run(t, "credential", "set", "shop", plantedValue).code, "a value is no operand")
	all := s.ok(t, "credential", "set", "shop", "--host", "api.example.com", "--from-env", "SHOP_KEY", "--category",
		"custom", "--provider", "serper")
	require.Equal(t, "made shop, version 1, for api.example.com\n", all)
	out := s.ok(t, "credential", "set", "shop", "--from-file", file)
	require.Equal(t, "rotated shop, version 2, for api.example.com\n", out)
	all += out
	piped := s.pipe(t, plantedValue+"-3", "credential", "rotate", "shop", "--expires", "1h")
	require.Equal(t, cli.ExitOK, piped.code, piped.err)
	all += piped.out + piped.err
	ring, err := vault.ReadKeyFile(s.vars[vault.FileVariable])
	require.NoError(t, err)
	v := vault.New(s.Store, vault.Options{Keys: ring})
	defer func() { require.NoError(t, v.Close()) }()
	opened, err := v.Resolve(t.Context(), tenant, "shop")
	require.NoError(t, err)
	require.Equal(t, plantedValue+"-3", opened.Reveal(), "without its line break")

	for _, args := range [][]string{
		{"credential", "list"},
		{"credential", "list", "--json"},
		{"credential", "show", "shop"},
		{"credential", "show", "shop", "--json"},
	} {
		out := s.ok(t, args...)
		require.Contains(t, out, "shop")
		require.Contains(t, out, "serper")
		all += out //nolint:perfsprint // A few.
	}
	var shown v1.Credential
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "credential", "show", "shop", "--json")), &shown))
	require.Equal(t, 3, shown.Version)
	require.NotNil(t, shown.ExpiresAt)
	wider := s.run(t, "credential", "rotate", "none", "--from-env", "SHOP_KEY")
	require.Equal(t, cli.ExitNotFound, wider.code)
	require.Equal(t, "revoked shop\n", s.ok(t, "credential", "delete", "shop"))
	require.Equal(t, cli.ExitNotFound, s.run(t, "credential", "show", "shop").code)
	require.Contains(t, s.run(t, "credential", "list").err, "no credentials")
	require.NotContains(t, all, plantedValue)
}

// An operator replaces both kinds of keys on the owner's database.
func TestEncryptionCommands(t *testing.T) {
	t.Parallel()
	s, tenant := setupKeys(t)
	require.Contains(t, s.ok(t, "encryption", "status"), "no tenant has credentials")
	require.Equal(t, cli.ExitOK, s.pipe(t, plantedValue, "credential", "set", "shop", "--host", "api.example.com").code)
	old := s.vars[vault.FileVariable]
	require.Contains(t, s.ok(t, "encryption", "status"), "acme")

	next := filepath.Join(s.dir, "next")
	s.ok(t, "encryption", "new-key", next)
	alone, err := os.ReadFile(next)
	require.NoError(t, err)
	before, err := os.ReadFile(old)
	require.NoError(t, err)
	both := s.write(t, "both", string(alone)+string(before))
	var report []struct {
		Tenant      string   `json:"tenant"`
		KEKs        []string `json:"keks"`
		KeyVersion  int      `json:"key_version"`
		Credentials int      `json:"credentials"`
		Rewrapped   int      `json:"rewrapped"`
		Resealed    int      `json:"resealed"`
	}
	read := func(args ...string) {
		t.Helper()
		report = nil
		require.NoError(t, json.Unmarshal([]byte(s.ok(t, append(args, "--json")...)), &report))
		require.Len(t, report, 1)
		require.Equal(t, "acme", report[0].Tenant)
	}
	require.NotEqual(t, cli.ExitOK, s.run(t, "encryption", "rewrap", "--kek-file", next).code,
		"the new key alone opens nothing")
	read("encryption", "rewrap", "--kek-file", both)
	require.Equal(t, 1, report[0].Rewrapped)
	read("encryption", "rotate", "--kek-file", next, "--tenant", "acme")
	require.Equal(t, 1, report[0].Resealed)
	require.Equal(t, 2, report[0].KeyVersion)
	read("encryption", "rotate", "--kek-file", next, "--continue")
	require.Zero(t, report[0].Resealed)
	ring, err := vault.ReadKeyFile(next)
	require.NoError(t, err)
	require.Equal(t, ring.IDs(), report[0].KEKs)
	v := vault.New(s.Store, vault.Options{Keys: ring})
	defer func() { require.NoError(t, v.Close()) }()
	opened, err := v.Resolve(t.Context(), tenant, "shop")
	require.NoError(t, err)
	require.Equal(t, plantedValue, opened.Reveal())

	delete(s.vars, vault.FileVariable)
	require.Equal(t, cli.ExitUsage, s.run(t, "encryption", "rewrap").code)
	require.NoError(t, os.Chmod(next, 0o644))
	got := s.run(t, "encryption", "rewrap", "--kek-file", next)
	require.Equal(t, cli.ExitInvalid, got.code)
	require.Contains(t, got.err, "chmod 600")
}
