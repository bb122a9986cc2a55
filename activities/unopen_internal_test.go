package activities

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// settledAs is a ledger in which every call ends, or ended, in the same way.
type settledAs struct {
	ledger.Ledger
	outcome ledger.Outcome
}

func (l settledAs) Settle(context.Context, ledger.Settlement) (ledger.Outcome, error) {
	return l.outcome, nil
}

// oneRun holds a run, if it has an id.
type oneRun struct {
	agent.Runs
	run   agent.Run
	ended []agent.RunEnd
}

func (r *oneRun) EndPendingRun(_ context.Context, end agent.RunEnd) (bool, error) {
	if end.RunID != r.run.ID || r.run.Status != agent.RunPending {
		return false, nil
	}
	r.ended = append(r.ended, end)
	return true, nil
}

// A run that was recorded for a call, and that no workflow starts, is not left
// pending; one that has begun, or answered the call, is left alone. Whether it
// has begun is decided where it is ended, so that none can begin in between.
func TestAnUnstartedRunEndsWithItsCall(t *testing.T) {
	t.Parallel()

	const invocation = "01890000-0000-7000-8000-0000000000aa"
	refused := ledger.Outcome{InvocationID: invocation, Status: tool.StatusCancelled, Kind: tool.Cancelled}
	answered := ledger.Outcome{
		InvocationID: invocation, Status: tool.StatusCompleted, Result: tool.JSONResult([]byte(`{}`)),
	}
	for name, tt := range map[string]struct {
		run     agent.Run
		outcome ledger.Outcome
		ends    int
	}{
		"Pending":  {agent.Run{ID: ledger.RunID(invocation), Status: agent.RunPending}, refused, 1},
		"AtWork":   {agent.Run{ID: ledger.RunID(invocation), Status: agent.RunRunning}, refused, 0},
		"Answered": {agent.Run{ID: ledger.RunID(invocation), Status: agent.RunPending}, answered, 0},
		"None":     {agent.Run{ID: "another"}, refused, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			runs := &oneRun{run: tt.run}
			a := &Activities{Config: Config{Ledger: settledAs{outcome: tt.outcome}, Runs: runs}}
			env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
			env.RegisterActivityWithOptions(a.Settle, activity.RegisterOptions{Name: wire.SettleActivity})
			_, err := env.ExecuteActivity(wire.SettleActivity, wire.SettleInput{
				Invoke: wire.InvokeInput{Pin: agent.Pin{Agent: &agent.PinnedAgent{Slug: "quiet"}}}, Status: tool.StatusCancelled,
				Kind: tool.Cancelled,
			})
			require.NoError(t, err)
			require.Len(t, runs.ended, tt.ends)
			for _, end := range runs.ended {
				require.Equal(t, agent.RunCancelled, end.Status)
				require.Equal(t, tt.run.ID, end.RunID)
			}
		})
	}
}
