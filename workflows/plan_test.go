package workflows_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/workflows"
)

// chain is a host's workflow that pins two tools and calls each twice.
func chain(ctx workflow.Context) ([]string, error) {
	plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{
		Principal: principal, Tools: []string{"search@^1.0", "total"},
	})
	if err != nil {
		return nil, err
	}
	for _, n := range []workflows.Node{
		{ID: "a", Tool: "search", Arguments: map[string]any{"q": "x"}},
		{ID: "b", Tool: "total", Arguments: json.RawMessage(`{"of": 2}`)},
		{ID: "c", Tool: "search", Arguments: map[string]any{"q": "x"}},
		{ID: "d", Tool: "total"},
	} {
		if _, err := plan.Execute(ctx, n); err != nil {
			return nil, err
		}
	}
	return plan.Tools(), nil
}

// A plan is loaded once, and its calls need nothing but their own attempt.
func TestPlan(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	fast := fastPin(tool.Execution{Pure: true, TimeoutSeconds: 5})
	s.plan = agent.Plan{Tools: []agent.Pin{fast, pinOf("total", tool.Execution{Pure: true})}}
	s.env.RegisterWorkflow(chain)
	s.env.ExecuteWorkflow(chain)
	requireDone(t, s.env)
	var pinned []string
	require.NoError(t, s.env.GetWorkflowResult(&pinned))
	require.Equal(t, []string{"search@1.0.0", "total@1.0.0"}, pinned)

	require.Len(t, s.loaded, 1)
	require.Equal(t, []tool.Ref{{Slug: "search", Constraint: "^1.0"}, {Slug: "total"}}, s.loaded[0].Tools)
	require.Equal(t, tool.Production, s.loaded[0].Mode)
	require.Len(t, s.invoked, 4)
	effects, invocations := map[string]bool{}, map[string]bool{}
	for _, in := range s.invoked {
		effects[in.EffectID], invocations[in.InvocationID] = true, true
		require.True(t, in.Raw, "the arguments are not prepared yet")
		require.True(t, in.Full)
		require.Equal(t, "host-run", in.RunID)
		require.Equal(t, principal, in.Principal)
	}
	require.Len(t, effects, 4)
	require.Len(t, invocations, 4)
	require.JSONEq(t, `{"q":"x"}`, string(s.invoked[0].Arguments))
	require.Equal(t, s.invoked[0].Pin.Digest, s.invoked[2].Pin.Digest)
}

// A task whose worker died may have begun a call before anything of it stood in
// the history. Run again after a cancellation, it ends that call.
func TestCallOfCancelledTaskIsSettled(t *testing.T) {
	t.Parallel()

	for name, call := range map[string]func(workflow.Context) error{
		"Plan": func(ctx workflow.Context) error {
			plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{Principal: principal, Tools: []string{"search"}})
			if err == nil {
				_, err = plan.Execute(ctx, workflows.Node{ID: "a", Tool: "search"})
			}
			return err
		},
		"ToolCall": func(ctx workflow.Context) error {
			_, err := workflows.ToolCall(ctx, wire.NewToolCall(principal, "r1", wire.Node{
				ID: "a", Tool: tool.Ref{Slug: "search"}, Mode: tool.Production,
			}))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			s.plan = agent.Plan{Tools: []agent.Pin{fastPin(tool.Execution{Pure: true, TimeoutSeconds: 5})}}
			run := func(ctx workflow.Context) error {
				ctx, cancel := workflow.WithCancel(ctx)
				cancel()
				return call(ctx)
			}
			s.env.RegisterWorkflow(run)
			s.env.ExecuteWorkflow(run)
			requireDone(t, s.env)
			require.True(t, temporal.IsCanceledError(s.env.GetWorkflowError()), "%v", s.env.GetWorkflowError())
			require.Len(t, s.settled, 1)
			require.Equal(t, tool.StatusCancelled, s.settled[0].Status)
			require.NotEmpty(t, s.settled[0].Invoke.EffectID)
		})
	}
}

func TestPlanRefusesBadRequests(t *testing.T) {
	t.Parallel()

	load := func(r workflows.PlanRequest) func(workflow.Context) error {
		return func(ctx workflow.Context) error {
			_, err := workflows.LoadPlan(ctx, r)
			return err
		}
	}
	call := func(n workflows.Node) func(workflow.Context) error {
		return func(ctx workflow.Context) error {
			plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{Principal: principal, Tools: []string{"search"}})
			if err == nil {
				_, err = plan.Execute(ctx, n)
			}
			return err
		}
	}
	for name, c := range map[string]struct {
		run  func(workflow.Context) error
		want string
	}{
		"no tenant": {load(workflows.PlanRequest{Tools: []string{"search"}}), "PlanRequest.Principal.Tenant is required"},
		"no tools":  {load(workflows.PlanRequest{Principal: principal}), "PlanRequest.Tools is empty"},
		"a bad mode": {
			load(workflows.PlanRequest{Principal: principal, Tools: []string{"search"}, Mode: "x"}), `PlanRequest.Mode is "x"`,
		},
		"a bad tool": {load(workflows.PlanRequest{Principal: principal, Tools: []string{"not a tool"}}), "tool reference"},
		"not pinned": {
			call(workflows.Node{ID: "a", Tool: "other"}), `the plan pins no tool "other"; it pins [search@1.0.0]`,
		},
		"no id":         {call(workflows.Node{Tool: "search"}), "Node.ID is required"},
		"own principal": {call(workflows.Node{ID: "a", Tool: "search", Principal: principal}), "are the plan's"},
		"own mode":      {call(workflows.Node{ID: "a", Tool: "search", Mode: tool.Debug}), "are the plan's"},
		"not JSON": {
			call(workflows.Node{ID: "a", Tool: "search", Arguments: json.RawMessage(`{`)}), "cannot be written as JSON",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t)
			s.plan = agent.Plan{Tools: []agent.Pin{pinOf("search", tool.Execution{Pure: true})}}
			s.env.RegisterWorkflow(c.run)
			s.env.ExecuteWorkflow(c.run)
			requireDone(t, s.env)
			require.ErrorContains(t, s.env.GetWorkflowError(), c.want)
			require.Empty(t, s.invoked)
		})
	}
}
