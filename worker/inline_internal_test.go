package worker

import (
	"testing"

	"github.com/stretchr/testify/require"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/activities"
)

// Runs in workflow tasks leave a host's own workflows and local activities their tasks.
func TestInlineRuns(t *testing.T) {
	t.Parallel()

	tuner, err := sdkworker.NewFixedSizeTuner(sdkworker.FixedSizeTunerOptions{
		NumWorkflowSlots: 9, NumActivitySlots: 9, NumLocalActivitySlots: 9,
	})
	require.NoError(t, err)
	for _, c := range []struct {
		options sdkworker.Options
		want    int
	}{
		{sdkworker.Options{}, activities.DefaultInlineRuns},
		{sdkworker.Options{MaxConcurrentActivityExecutionSize: 7}, 7},
		{sdkworker.Options{MaxConcurrentWorkflowTaskExecutionSize: 10, MaxConcurrentActivityExecutionSize: 7}, 5},
		{sdkworker.Options{MaxConcurrentLocalActivityExecutionSize: 2}, 1},
		{sdkworker.Options{MaxConcurrentLocalActivityExecutionSize: 10_000}, activities.DefaultInlineRuns},
		{sdkworker.Options{Tuner: tuner}, 0},
	} {
		require.Equal(t, c.want, inlineRuns(&c.options))
	}
}
