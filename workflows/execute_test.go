package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/workflows"
)

// hostWorkflow is what a team that has workflows writes.
func hostWorkflow(ctx workflow.Context, id string) (string, error) {
	result, err := workflows.Execute(ctx, workflows.Node{
		ID: id, Tool: "searchOrders@^1.0", Principal: principal, Arguments: map[string]any{"query": "open"},
	})
	if err != nil {
		return "", err
	}
	return string(result.Structured), nil
}

func TestExecute(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = agent.Plan{Tools: []agent.Pin{pinOf("searchOrders", tool.Execution{Pure: true})}}
	s.env.RegisterWorkflow(hostWorkflow)
	s.env.ExecuteWorkflow(hostWorkflow, "first")
	requireDone(t, s.env)
	require.NoError(t, s.env.GetWorkflowError())
	var out string
	require.NoError(t, s.env.GetWorkflowResult(&out))
	require.JSONEq(t, `{"ok":true}`, out)
	in := s.invoked[0]
	require.True(t, in.Full)
	require.Equal(t, "host-run", in.RunID)
	require.Len(t, in.EffectID, 64)
}

// Each kind reaches the client of the host's workflow.
func TestExecuteKinds(t *testing.T) {
	t.Parallel()

	for _, kind := range []tool.Kind{tool.Denied, tool.Unavailable, tool.Unknown, tool.InternalError} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			s.plan = agent.Plan{Tools: []agent.Pin{pinOf("searchOrders", tool.Execution{Pure: true})}}
			s.invoke = func(context.Context, wire.InvokeInput) (wire.InvokeOutput, error) {
				return wire.InvokeOutput{}, settledError(kind)
			}
			s.env.RegisterWorkflow(hostWorkflow)
			s.env.ExecuteWorkflow(hostWorkflow, "first")
			requireDone(t, s.env)
			var app *temporal.ApplicationError
			require.ErrorAs(t, s.env.GetWorkflowError(), &app)
			require.Equal(t, failure.TypePrefix+string(kind), app.Type())
			require.Empty(t, s.settled, "it was settled already")
			require.Len(t, s.invoked, 1, "a settled end is not retried")
		})
	}
}

func TestExecuteRetriesWhatMayBeRetried(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = agent.Plan{Tools: []agent.Pin{pinOf("searchOrders", tool.Execution{Pure: true, MaxAttempts: 3})}}
	s.invoke = func(_ context.Context, in wire.InvokeInput) (wire.InvokeOutput, error) {
		if len(s.invoked) < 3 {
			return wire.InvokeOutput{}, failure.Encode(&tool.Error{
				Kind: tool.RateLimited, Msg: "slow down", RetryAfter: 7 * time.Second,
			})
		}
		return completed(in), nil
	}
	s.env.RegisterWorkflow(hostWorkflow)
	start := s.env.Now()
	s.env.ExecuteWorkflow(hostWorkflow, "first")
	require.NoError(t, s.env.GetWorkflowError())
	require.GreaterOrEqual(t, s.env.Now().Sub(start), 14*time.Second, "the delay it asked for was not kept")
}

// A worker that never came back leaves a timeout, and the ledger has the say
// on how the call ended: here an Invoke settled it before its answer was lost.
func TestExecuteTakesTheLedgersWord(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.plan = agent.Plan{Tools: []agent.Pin{pinOf("searchOrders", tool.Execution{Pure: true, MaxAttempts: 1})}}
	s.invoke = func(context.Context, wire.InvokeInput) (wire.InvokeOutput, error) {
		return wire.InvokeOutput{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil)
	}
	s.settle = func(in wire.SettleInput) wire.InvokeOutput { return completed(in.Invoke) }
	s.env.RegisterWorkflow(hostWorkflow)
	s.env.ExecuteWorkflow(hostWorkflow, "first")
	require.NoError(t, s.env.GetWorkflowError())
	require.Equal(t, tool.Timeout, s.settled[0].Kind)
}

func TestExecuteRefusesBadNodes(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name string
		node workflows.Node
		want string
	}{
		{"NoID", workflows.Node{Tool: "x", Principal: principal}, "Node.ID is required"},
		{"NoTenant", workflows.Node{ID: "a", Tool: "x"}, "Node.Principal.Tenant is required"},
		{"BadTool", workflows.Node{ID: "a", Tool: "not a tool", Principal: principal}, "tool reference"},
		{"BadMode", workflows.Node{ID: "a", Tool: "x", Principal: principal, Mode: "fast"}, "want production or debug"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.env.ExecuteWorkflow(func(ctx workflow.Context) error {
				_, err := workflows.Execute(ctx, tt.node)
				return err
			})
			err := failure.Decode(s.env.GetWorkflowError())
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			require.Contains(t, err.Error(), tt.want)
			require.Empty(t, s.invoked)
		})
	}
}

// The effect id is stable over equal calls, and moves with each of its parts.
func TestEffectIDs(t *testing.T) {
	t.Parallel()

	id := func(step string) string {
		s := newStage(t)
		s.plan = agent.Plan{Tools: []agent.Pin{pinOf("searchOrders", tool.Execution{Pure: true})}}
		s.env.RegisterWorkflow(hostWorkflow)
		s.env.ExecuteWorkflow(hostWorkflow, step)
		return s.invoked[0].EffectID
	}
	first, again := id("a"), id("a")
	require.Equal(t, first, again)
	require.NotEqual(t, first, id("b"))
}
