package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// The log is listed, verified and exported; an export verifies without a server, and not when
// it was changed.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "t.yaml",
		"slug: getOrder\ndescription: Echoes.\nimplementation_type: internal\nversion: 1.0.0\npublish: true\n"))
	require.Regexp(t, `key:\S+ +tool\.published +getOrder +done`, s.ok(t, "audit", "list", "--action", "tool.published"))
	require.Contains(t, s.run(t, "audit", "list", "--object", "nothing").err, "filters")
	require.Equal(t, cli.ExitInvalid, s.run(t, "audit", "list", "--action", "tool.eaten").code)
	id := strings.Fields(strings.Split(s.ok(t, "audit", "list", "--action", "tool.created"), "\n")[1])[0]
	shown := s.ok(t, "audit", "show", id)
	require.Contains(t, shown, "tool.created")
	require.Contains(t, shown, "getOrder")
	require.Contains(t, s.ok(t, "audit", "actions"), "override_set")

	require.NoError(t, s.Store.SealAudit(t.Context()))
	whole := s.ok(t, "audit", "verify")
	require.Contains(t, whole, "the chain is whole up to ")
	head := strings.TrimSpace(strings.TrimPrefix(strings.Split(whole, "\n")[0], "the chain is whole up to "))
	require.Contains(t, s.ok(t, "audit", "verify", "--from", head), head)
	other := head[:len(head)-1] + map[bool]string{true: "b", false: "a"}[strings.HasSuffix(head, "a")]
	require.Equal(t, cli.ExitConflict, s.run(t, "audit", "verify", "--from", other).code)
	require.Equal(t, cli.ExitUsage, s.run(t, "audit", "verify", "--from", "12").code)

	export := s.ok(t, "audit", "export")
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(export), 0o600))
	require.Contains(t, s.ok(t, "audit", "verify", "--file", file), head)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(export, "getOrder", "getOrdex", 1)), 0o600))
	changed := s.run(t, "audit", "verify", "--file", file)
	require.Equal(t, cli.ExitConflict, changed.code)
	require.Contains(t, changed.err, "the chain is broken at row")
	require.Contains(t, s.ok(t, "audit", "export", "--csv"), "seq,at,actor_kind,actor,action")
}

// The platform's own log, of what operators change for all tenants, is read with the database's URL; a tenant's
// log has nothing of it.
func TestAuditOfThePlatform(t *testing.T) {
	t.Parallel()
	s := setup(t)
	list := []string{"audit", "list", "--platform", "--action", "quota"}
	require.Equal(t, cli.ExitUsage, s.run(t, list...).code, "it needs the database's URL")
	s.vars[cli.DatabaseVariable] = s.URL
	for _, limit := range []string{"1", "2", "3"} {
		s.ok(t, "quota", "set", "tools", limit, "--all-tenants")
	}
	listed := s.ok(t, list...)
	require.Regexp(t, `quota\.changed +tools +done(.|\n)+quota\.changed(.|\n)+quota\.created`, listed)
	require.Contains(t, s.run(t, "audit", "list", "--action", "quota").err, "filters", "a tenant's log has none of it")
	require.Equal(t, cli.ExitUsage, s.run(t, "audit", "list", "--platform", "--action", "tool.eaten").code)
	require.Equal(t, cli.ExitUsage, s.run(t, "audit", "list", "--platform", "--cursor", "!").code)

	var page struct {
		Items []struct {
			ID    string
			Actor struct{ Kind string }
		}
		Next string
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, append(list, "--limit", "1", "--json")...)), &page))
	require.Len(t, page.Items, 1)
	require.Equal(t, "cli", page.Items[0].Actor.Kind)
	first := page.Items[0].ID
	require.NotEmpty(t, page.Next)
	rest := s.ok(t, append(list, "--all", "--cursor", page.Next)...)
	require.NotContains(t, rest, first)
	require.Len(t, strings.Split(strings.TrimSpace(rest), "\n"), 3, "two rows, and a header")
	shown := s.ok(t, "audit", "show", first, "--platform")
	require.Contains(t, shown, "quota.changed")
	require.Contains(t, shown, "most")
	require.Equal(t, cli.ExitNotFound, s.run(t, "audit", "show", first).code)

	require.NoError(t, s.Store.SealAudit(t.Context()))
	whole := s.ok(t, "audit", "verify", "--platform")
	require.Contains(t, whole, "the chain is whole up to ")
	head := strings.TrimSpace(strings.TrimPrefix(strings.Split(whole, "\n")[0], "the chain is whole up to "))
	require.Contains(t, s.ok(t, "audit", "verify", "--platform", "--from", head), head)
	file := filepath.Join(t.TempDir(), "platform.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(s.ok(t, "audit", "export", "--platform")), 0o600))
	require.Contains(t, s.ok(t, "audit", "verify", "--file", file), head)

	conn := s.Conn(t)
	for _, sql := range []string{
		"alter table audit_log disable trigger all", "update audit_log set reason = 'x' where tenant_id is null and seq = 2",
	} {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	broken := s.run(t, "audit", "verify", "--platform")
	require.Equal(t, cli.ExitConflict, broken.code)
	require.Contains(t, broken.err, "the chain is broken at row 2")
}
