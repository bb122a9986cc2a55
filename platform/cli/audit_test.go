package cli_test

import (
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
