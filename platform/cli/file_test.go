package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
)

// A file is uploaded, shown, downloaded as it was, and deleted.
func TestFileCommands(t *testing.T) {
	t.Parallel()
	s := setup(t)
	require.Contains(t, s.run(t, "file", "list").err, "no files yet")
	plan := write(t, filepath.Join(s.dir, "plan.csv"), "a,b\n1,\x32\n")
	var made v1.File
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "file", "upload", plan, "--json")), &made))
	require.Equal(t, "plan.csv", made.Name)
	require.Equal(t, "text/csv", made.MediaType)
	require.Contains(t, s.ok(t, "file", "list"), "plan.csv")
	require.Regexp(t, `type +text/csv`, s.ok(t, "file", "show", made.ID))
	require.Equal(t, "a,b\n1,2\n", s.ok(t, "file", "download", made.ID))
	copied := filepath.Join(s.dir, "copy.csv")
	require.Contains(t, s.ok(t, "file", "download", made.ID, "-o", copied), made.SHA256)
	raw, err := os.ReadFile(copied)
	require.NoError(t, err)
	require.Equal(t, "a,b\n1,2\n", string(raw))

	require.Equal(t, cli.ExitInvalid, s.pipe(t, "<svg/>", "file", "upload", "-", "--name", "a.png").code)
	require.Equal(t, cli.ExitNotFound, s.run(t, "file", "upload", filepath.Join(s.dir, "none")).code)
	require.Equal(t, cli.ExitUsage, s.run(t, "file", "upload", plan, "--field", "x").code)
	require.Equal(t, cli.ExitUsage, s.run(t, "file", "upload", plan, "--expires", "1s").code)
	require.Equal(t, cli.ExitNotFound, s.run(t, "file", "upload", plan, "--run", made.ID).code)
	hostile := s.pipe(t, "\xef\xbb\xbfhi", "file", "upload", "-", "--name", "a\x1b]0;gone\x07.txt")
	require.Equal(t, cli.ExitOK, hostile.code)
	require.NotContains(t, hostile.out, "\x1b")
	require.Contains(t, s.ok(t, "file", "delete", made.ID), "is deleted")
	require.Equal(t, cli.ExitNotFound, s.run(t, "file", "show", made.ID).code)
}
