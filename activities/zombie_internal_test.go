package activities

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// overtaken is a ledger in which another attempt was admitted after every one
// that settles.
type overtaken struct{ ledger.Ledger }

func (overtaken) Settle(context.Context, ledger.Settlement) (ledger.Outcome, error) {
	return ledger.Outcome{}, &tool.Error{Kind: tool.Conflict, Msg: "a later attempt of this call is running"}
}

// The attempt that overtook may be one that Temporal gave up and that woke up
// late: then it says nothing, and the call must not end as a conflict although
// the tool answered.
func TestOvertakenAttemptIsFollowedByAnother(t *testing.T) {
	t.Parallel()

	a := &Activities{Config: Config{Ledger: overtaken{}}}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(func(ctx context.Context) error {
		overtaken := &attempt{a: a, in: &wire.InvokeInput{}, number: 2, fence: 1}
		_, err := overtaken.settle(ctx, ledger.Settlement{
			Status: tool.StatusCompleted, Result: tool.JSONResult([]byte(`{}`)),
		})
		return err
	}, activity.RegisterOptions{Name: "settle"})
	_, err := env.ExecuteActivity("settle")
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.False(t, app.NonRetryable(), "the next attempt ends the call")
	require.False(t, failure.Settled(err))
}
