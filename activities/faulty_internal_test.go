package activities

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// unreadable has runs that cannot be read.
type unreadable struct {
	agent.Runs
	err   error
	until int // After so many times they can be.
	times int
}

func (r *unreadable) FindRun(context.Context, tool.TenantID, string) (agent.Run, error) {
	if r.times++; r.times > r.until {
		return agent.Run{Status: agent.RunCompleted}, nil
	}
	return agent.Run{}, r.err
}

// recording is a ledger that keeps what is settled.
type recording struct {
	ledger.Ledger
	settled []ledger.Settlement
}

func (l *recording) Settle(_ context.Context, s ledger.Settlement) (ledger.Outcome, error) {
	l.settled = append(l.settled, s)
	return ledger.Outcome{Status: s.Status, Kind: s.Kind, Msg: s.Msg, Result: s.Result}, nil
}

// A call whose outcome cannot be made out for a fault ends as one that failed.
// While something is away, it is waited for, however long.
func TestASettlementThatMeetsAFaultEnds(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		err  error
		want tool.InvocationStatus
	}{
		"Fault": {errors.New("malformed row"), tool.StatusFailed},
		"Away":  {&tool.Error{Kind: tool.Unavailable, Msg: "the database is away"}, tool.StatusCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			book := &recording{}
			a := &Activities{Config: Config{Ledger: book, Runs: &unreadable{err: tt.err, until: 3 * maxFaults}}}
			env := new(testsuite.WorkflowTestSuite).NewTestWorkflowEnvironment()
			env.SetTestTimeout(time.Minute)
			env.RegisterActivityWithOptions(a.Settle, activity.RegisterOptions{Name: wire.SettleActivity})
			env.ExecuteWorkflow(func(ctx workflow.Context) error {
				ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
					ScheduleToCloseTimeout: time.Hour, StartToCloseTimeout: time.Minute,
					RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1, MaximumAttempts: 100},
				})
				return workflow.ExecuteActivity(ctx, wire.SettleActivity, wire.SettleInput{
					Invoke: wire.InvokeInput{Pin: agent.Pin{Agent: &agent.PinnedAgent{Slug: "quiet"}}},
					Status: tool.StatusCompleted, Child: &wire.Child{RunID: "r"},
				}).Get(ctx, nil)
			})
			require.True(t, env.IsWorkflowCompleted())
			require.NoError(t, env.GetWorkflowError())
			require.Len(t, book.settled, 1)
			require.Equal(t, tt.want, book.settled[0].Status)
		})
	}
}
