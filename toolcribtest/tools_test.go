package toolcribtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolcribtest"
	"github.com/toolcrib/toolcrib/workflows"
)

var ada = tool.Principal{Tenant: "acme", Subject: "user:ada"}

// book is a host workflow: two calls, the second with the answer of the first.
func book(ctx workflow.Context, from string) (int, error) {
	plan, err := workflows.LoadPlan(
		ctx,
		workflows.PlanRequest{Principal: ada, Tools: []string{"findSeat", "charge@^1.2"}},
	)
	if err != nil {
		return 0, err
	}
	found, err := plan.Execute(
		ctx,
		workflows.Node{ID: "find", Tool: "findSeat", Arguments: map[string]string{"from": from}},
	)
	if err != nil {
		return 0, err
	}
	var seat struct{ Price int }
	if err := found.Decode(&seat); err != nil {
		return 0, workflows.Failure(err)
	}
	_, err = plan.Execute(
		ctx,
		workflows.Node{ID: "charge", Tool: "charge", Arguments: map[string]int{"amount": seat.Price}},
	)
	return seat.Price, err
}

func stage(t *testing.T) (*testsuite.TestWorkflowEnvironment, *toolcribtest.Tools) {
	t.Helper()
	env := new(testsuite.WorkflowTestSuite).NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	return env, toolcribtest.New(env)
}

func TestWorkflowCallsTools(t *testing.T) {
	t.Parallel()

	env, tools := stage(t)
	tools.Answer("findSeat", map[string]int{"price": 90})
	tools.Handle("charge", func(_ context.Context, call toolcribtest.Call) (*tool.Result, error) {
		return tool.JSONResult(call.Arguments), nil
	})
	env.ExecuteWorkflow(book, "Rome")
	require.NoError(t, env.GetWorkflowError())
	var price int
	require.NoError(t, env.GetWorkflowResult(&price))
	require.Equal(t, 90, price)

	calls := tools.Calls()
	require.Len(t, calls, 2)
	require.Equal(t, []string{"find", "findSeat"}, []string{calls[0].ID, calls[0].Tool})
	require.Equal(t, "charge@^1.2", calls[1].Tool)
	require.JSONEq(t, `{"amount":90}`, string(calls[1].Arguments))
	require.Equal(t, ada, calls[1].Principal)
	require.NotEqual(t, calls[0].EffectID, calls[1].EffectID)
}

// What a call fails with is what the workflow fails with, as it is.
func TestWorkflowReturnsTheFailureOfACall(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		set  func(*toolcribtest.Tools)
		kind tool.Kind
	}{
		"Failed": {func(s *toolcribtest.Tools) { s.Fail("findSeat", tool.Unavailable, "down") }, tool.Unavailable},
		"Plain": {func(s *toolcribtest.Tools) {
			s.Handle("findSeat", func(context.Context, toolcribtest.Call) (*tool.Result, error) {
				return nil, errors.New("boom")
			})
		}, tool.InternalError},
		"SaidNo": {func(s *toolcribtest.Tools) { s.Refuse("findSeat", "no seats left") }, tool.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			env, tools := stage(t)
			tools.Answer("charge", nil)
			tt.set(tools)
			env.ExecuteWorkflow(book, "Rome")
			failed, ok := errors.AsType[*temporal.ApplicationError](env.GetWorkflowError())
			require.True(t, ok)
			require.Equal(t, "tool."+string(tt.kind), failed.Type())
			require.Len(t, tools.Calls(), 1)
		})
	}
	env, tools := stage(t)
	tools.Answer("findSeat", nil)
	env.ExecuteWorkflow(book, "Rome")
	require.ErrorContains(t, env.GetWorkflowError(), `tool "charge@^1.2" not found`)
}

// A single call has the same fakes; [errors.As] finds the kind within the workflow.
func TestSingleCall(t *testing.T) {
	t.Parallel()

	env, tools := stage(t)
	tools.Fail("charge", tool.Denied, "the card was refused")
	env.ExecuteWorkflow(func(ctx workflow.Context) (string, error) {
		_, err := workflows.Execute(ctx, workflows.Node{ID: "a", Tool: "charge", Principal: ada})
		charged := tool.KindOf(err)
		_, err = workflows.Execute(ctx, workflows.Node{ID: "b", Tool: "absent", Principal: ada})
		return string(charged) + " " + string(tool.KindOf(err)), nil
	})
	require.NoError(t, env.GetWorkflowError())
	var kinds string
	require.NoError(t, env.GetWorkflowResult(&kinds))
	require.Equal(t, "denied not_found", kinds)
	require.Equal(t, json.RawMessage(nil), tools.Calls()[0].Arguments)
}

// Several nodes of a plan find the fakes, and end as they do on the platform.
func TestSeveralNodes(t *testing.T) {
	t.Parallel()

	for name, all := range map[string]bool{"Sequence": false, "All": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			env, tools := stage(t)
			tools.Answer("findSeat", map[string]int{"price": 90})
			tools.Fail("charge", tool.Denied, "the card was refused")
			env.ExecuteWorkflow(func(ctx workflow.Context) (int, error) {
				plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{
					Principal: ada, Tools: []string{"findSeat", "charge"},
				})
				if err != nil {
					return 0, err
				}
				nodes := []workflows.Node{
					{ID: "a", Tool: "findSeat"}, {ID: "b", Tool: "charge"}, {ID: "c", Tool: "findSeat"},
				}
				if !all {
					results, err := plan.Sequence(ctx, nodes...)
					if tool.KindOf(err) != tool.Denied {
						return 0, err
					}
					return len(results), nil
				}
				answers, err := plan.All(ctx, nodes...)
				if tool.KindOf(err) != tool.Denied || tool.KindOf(answers[1].Err) != tool.Denied {
					return 0, err
				}
				return len(answers), nil
			})
			require.NoError(t, env.GetWorkflowError())
			var n int
			require.NoError(t, env.GetWorkflowResult(&n))
			if all {
				require.Equal(t, 3, n)
				require.Len(t, tools.Calls(), 3)
			} else {
				require.Equal(t, 1, n)
				require.Len(t, tools.Calls(), 2)
			}
		})
	}
}
