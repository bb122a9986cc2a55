package workflows_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/workflows"
	"github.com/toolcrib/toolcrib/workflows/workflowstest"
)

// Every history that was ever recorded replays, many times over: iterating a
// map passes by luck more often than not.
func TestReplay(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()

			replayer := sdkworker.NewWorkflowReplayer()
			workflows.Register(replayer)
			workflowstest.Register(replayer)
			for range 25 {
				require.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(nil, file))
			}
		})
	}
}
