package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

// Tools of a document are imported and published at once, then changed together.
func TestToolBulk(t *testing.T) {
	t.Parallel()
	s := setup(t)
	file := s.write(t, "shop.yaml", shopYAML)
	got := s.ok(t, "tool", "import", "openapi", file, "--only", "GET *", "--except", "put*", "--credential", "key=shop",
		"--publish")
	require.Contains(t, got, "getOrder  1.0.0    created, published")
	require.NotContains(t, got, "putOrder")
	var imported v1.ImportedOpenAPI
	require.NoError(
		t,
		json.Unmarshal([]byte(s.ok(t, "tool", "import", "openapi", file, "--credential", "key=shop", "--publish", "--json")),
			&imported),
	)
	require.Equal(t, 1, imported.Counts.Created)
	require.Equal(t, 1, imported.Counts.Published)
	require.False(t, imported.DryRun)

	require.Equal(t, `TOOL      VERSION  STATUS     RESULT
getOrder           published  would be disabled
putOrder           published  would be disabled

disable: 2 tools are meant; nothing was changed
`, s.ok(t, "tool", "bulk", "disable", "--source", "Shop", "--dry-run"))
	require.Contains(t, s.ok(t, "tool", "bulk", "disable", "putOrder", "--source", "Shop"),
		"disable: 1 changed, 0 unchanged, 0 failed")
	failed := s.run(t, "tool", "bulk", "delete", "--source", "Shop", "--json")
	require.Equal(t, cli.ExitConflict, failed.code, failed.err)
	var result v1.BulkResult
	require.NoError(t, json.Unmarshal([]byte(failed.out), &result))
	require.Equal(t, v1.BulkCounts{Changed: 1, Failed: 1}, result.Counts)
	require.Equal(t, cli.ExitNotFound, s.run(t, "tool", "show", "putOrder").code)

	require.Equal(t, cli.ExitConflict, s.run(t, "tool", "delete", "getOrder").code)
	s.ok(t, "tool", "disable", "getOrder")
	require.Equal(t, "deleted getOrder\n", s.ok(t, "tool", "delete", "getOrder"))
	require.Equal(t, cli.ExitUsage, s.run(t, "tool", "bulk", "publish").code)
	require.Equal(t, cli.ExitNotFound, s.run(t, "tool", "bulk", "enable", "getOrder").code)
}
