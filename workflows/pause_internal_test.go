package workflows

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/wire"
)

// A signal that comes in the task that ends an execution is known to the next one.
func TestTheNextExecutionKnowsTheLatestRound(t *testing.T) {
	t.Parallel()

	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(wire.PauseSignal, wire.NewPause("r", 2))
	}, 0)
	env.ExecuteWorkflow(func(ctx workflow.Context) ([]agent.PauseRound, error) {
		w, err := newWaits(ctx)
		if err != nil {
			return nil, err
		}
		w.pausable(ctx, "r", 1)
		before := w.round
		return []agent.PauseRound{before, w.latest(ctx)}, nil
	})
	require.NoError(t, env.GetWorkflowError())
	var rounds []agent.PauseRound
	require.NoError(t, env.GetWorkflowResult(&rounds))
	require.Equal(t, []agent.PauseRound{1, 2}, rounds)
}
