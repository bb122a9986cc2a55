package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/workflows"
)

// A run that its call does not wait for goes on whatever becomes of what began
// it: a composition that ends, a run that is cancelled or runs out of time.
func TestDetachedRunsAreLeftAlone(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		asks   time.Duration // How long the agent works that is asked after the call.
		cancel time.Duration // When the run above is cancelled; zero for never.
	}{
		"ByACompositionThatEnds": {asks: time.Second},
		"ByARunThatIsCancelled":  {asks: time.Hour, cancel: 10 * time.Second},
		"ByARunThatIsLate":       {asks: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			s.env = new(testsuite.WorkflowTestSuite).NewTestWorkflowEnvironment()
			s.env.SetTestTimeout(time.Minute)
			s.env.RegisterWorkflowWithOptions(workflows.AgentRun, workflow.RegisterOptions{Name: "above"})
			s.register()
			task := agentPin("task")
			task.Implementation, task.Agent.Detached = tool.Task, true
			s.plan = agent.Plan{
				Tools:  []agent.Pin{stepsPin("begin", tool.Execution{TimeoutSeconds: 30}, task), agentPin("ask")},
				Limits: agent.Limits{TimeoutSeconds: 60},
			}
			s.turns = [][]agent.PreparedCall{{callOf("a", "begin")}, {callOf("b", "ask")}}
			s.invoke, s.settle = opens(nil), gathers
			if tt.cancel > 0 {
				s.env.RegisterDelayedCallback(s.env.CancelWorkflow, tt.cancel)
			}
			begun, cancelled := false, false
			s.env.RegisterWorkflowWithOptions(func(ctx workflow.Context, in wire.AgentRunInput) (wire.AgentRunOutput, error) {
				if in.RunID == "run-a/task" {
					begun = true
					err := workflow.Sleep(ctx, 24*time.Hour)
					cancelled = err != nil
					return wire.AgentRunOutput{}, err
				}
				err := workflow.Sleep(ctx, tt.asks)
				if err != nil { // It takes its time to end.
					last, stop := workflow.NewDisconnectedContext(ctx)
					defer stop()
					_ = workflow.Sleep(last, time.Second)
				}
				return wire.AgentRunOutput{}, err
			}, workflow.RegisterOptions{Name: wire.AgentRunWorkflow})
			s.env.ExecuteWorkflow("above", wire.AgentRunInput{Principal: principal, RunID: "r1"})
			requireDone(t, s.env)
			require.True(t, begun)
			require.False(t, cancelled)
		})
	}
}
