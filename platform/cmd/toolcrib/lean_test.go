package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli/leancmd"
)

var _ = leancmd.New // What only the other build links: a change of it runs this test anew.

// The build for servers has neither Temporal's server nor its UI in it; the other has both.
func TestLeanBuildHasNoTemporalServer(t *testing.T) {
	t.Parallel()

	_, err := os.ReadFile("lean.go") // So that a change of it runs this test anew.
	require.NoError(t, err)
	for tags, has := range map[string]bool{"lean": false, "": true} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", tags, ".")
		out, err := cmd.Output()
		require.NoError(t, err)
		for _, path := range []string{"go.temporal.io/server/", "github.com/temporalio/ui-server/", "modernc.org/sqlite\n"} {
			require.Equal(t, has, strings.Contains(string(out), path), "%s with -tags %q", path, tags)
		}
	}
}
