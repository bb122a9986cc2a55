package activities

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// settledLedger holds the outcome of every call.
type settledLedger struct {
	ledger.Ledger

	result *tool.Result
}

func (l settledLedger) Admit(context.Context, ledger.AdmitRequest) (ledger.Ticket, error) {
	return ledger.Ticket{Done: &ledger.Outcome{Status: tool.StatusCompleted, Result: l.result}}, nil
}

// Results of many calls in the fast lane go to the server in one message; a
// large one is left to the regular activity, which finds it in the ledger.
func TestLargeResultLeavesTheFastLane(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		bytes      int
		full, fits bool
	}{
		"small":                     {100, true, true},
		"large":                     {maxMarkerResult, true, false},
		"previewed":                 {maxMarkerResult, false, true},
		"too large for any history": {wire.MaxHistoryResult, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a := &Activities{Config: Config{
				Ledger:   settledLedger{result: &tool.Result{Content: []tool.Content{tool.Text(strings.Repeat("x", c.bytes))}}},
				Resolver: resolver.New(begun{}, resolver.Options{}),
			}}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.RegisterActivityWithOptions(a.Invoke, activity.RegisterOptions{Name: "invoke"})
			in := wire.InvokeInput{
				Full: c.full,
				Pin:  agent.Pin{VersionIdentity: tool.VersionIdentity{Slug: "search"}, Execution: tool.Execution{Pure: true}},
			}
			_, err := env.ExecuteActivity("invoke", in)
			require.NoError(t, err, "a regular activity takes it along")

			_, err = env.ExecuteLocalActivity(a.Invoke, in)
			if c.fits {
				require.NoError(t, err)
				return
			}
			var app *temporal.ApplicationError
			require.ErrorAs(t, err, &app)
			require.False(t, app.NonRetryable(), "it is handed over")
			require.NotZero(t, app.NextRetryDelay(), "at once")
		})
	}
}
