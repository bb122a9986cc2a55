package e2e_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
	"github.com/toolcrib/toolcrib/workflows"
)

type guest struct {
	Name string `json:"name"`
}

type titledGuest struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
}

// welcome is a host's workflow that pins a tool, waits for a signal, and calls
// the tool.
func (s *site) welcome(r sdkworker.Registry) {
	r.RegisterWorkflowWithOptions(func(ctx workflow.Context) (string, error) {
		var planned []string
		if err := workflow.SetQueryHandler(ctx, "planned", func() ([]string, error) { return planned, nil }); err != nil {
			return "", err
		}
		plan, err := workflows.LoadPlan(ctx, workflows.PlanRequest{Principal: s.principal, Tools: []string{"hello"}})
		if err != nil {
			return "", err
		}
		planned = plan.Tools()
		workflow.GetSignalChannel(ctx, "go").Receive(ctx, nil)
		result, err := plan.Execute(ctx, workflows.Node{ID: "greet", Tool: "greetGuest", Arguments: guest{"Ada"}})
		if err != nil {
			return "", err
		}
		return result.Content[0].Text, nil
	}, workflow.RegisterOptions{Name: "host.Welcome"})
}

// A tool that stands in a host's code is the tenant's when the host's worker
// has started. A run that pinned it goes on in the next program, which brings a
// later version, on the version that it pinned; what begins then gets the later.
func TestCodeDefinedToolsOutliveTheirProgram(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	first, second := function.NewRegistry(), function.NewRegistry()
	require.NoError(t, function.Define(first, "greetGuest", "Greets a guest.",
		func(_ context.Context, in guest) (string, error) {
			return "first: " + in.Name, nil
		}, function.Publish("1.0.0"), function.Pure(), function.Aliases("hello")))
	require.NoError(t, function.Define(second, "greetGuest", "Greets a guest.",
		func(_ context.Context, in titledGuest) (string, error) {
			return "second: " + in.Title + in.Name, nil
		}, function.Publish("1.1.0"), function.Pure(), function.Aliases("hello")))
	tenants := []string{string(s.principal.Tenant)}
	stop := s.host(worker.Config{Functions: first, PublishTo: tenants}, s.welcome)
	run, err := s.temporal.ExecuteWorkflow(t.Context(),
		client.StartWorkflowOptions{ID: "welcome/" + s.queue, TaskQueue: s.queue}, "host.Welcome")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		answer, err := s.temporal.QueryWorkflow(t.Context(), run.GetID(), run.GetRunID(), "planned")
		var planned []string
		return err == nil && answer.Get(&planned) == nil && len(planned) == 1 && planned[0] == "greetGuest@1.0.0"
	}, time.Minute, 50*time.Millisecond)
	stop()

	t.Cleanup(s.host(worker.Config{Functions: second, PublishTo: tenants}, s.welcome))
	_, id, result, err := s.toolCall("hello", `{"name":"Ada","title":"Countess "}`)
	require.NoError(t, err)
	require.Equal(t, "second: Countess Ada", result.Content[0].Text)
	require.Equal(t, "1.1.0", s.invocations(id)[0].Version)
	require.Equal(t, "greetGuest", s.invocations(id)[0].Slug, "the record names tools by their slugs")

	require.NoError(t, s.temporal.SignalWorkflow(t.Context(), run.GetID(), run.GetRunID(), "go", nil))
	var greeted string
	require.NoError(t, run.Get(t.Context(), &greeted))
	require.Equal(t, "second: Ada", greeted, "the code is the program's, the definition the run's")
	calls, err := s.ListInvocations(t.Context(), s.principal.Tenant, store.InvocationQuery{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, "1.0.0", calls[0].Version)
}

// Named middleware is around the tools that name it and no others, and a call
// that names what the worker lacks is refused, not run without.
func TestNamedMiddlewareInAWorker(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	var ran, audited atomic.Int32
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "count", "Counts.", func(context.Context, struct{}) (string, error) {
		ran.Add(1)
		return "counted", nil
	}))
	for name, middleware := range map[string][]string{
		"plain": nil, "audited": {"audit"}, "guarded": {"audit", "approve"},
	} {
		d := functionTool("count", tool.Execution{})
		d.InputSchema = json.RawMessage(`{"type":"object"}`)
		d.Interaction.Middleware = middleware
		s.publish(name, d, tool.Policy{})
	}
	s.start(worker.Config{Functions: functions, NamedMiddleware: map[string]tool.Middleware{
		"audit": func(next tool.Executor) tool.Executor {
			return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
				audited.Add(1)
				return next.Execute(ctx, call)
			})
		},
	}})
	for _, name := range []string{"plain", "audited"} {
		_, _, _, err := s.toolCall(name, `{}`)
		require.NoError(t, err)
	}
	require.EqualValues(t, 2, ran.Load())
	require.EqualValues(t, 1, audited.Load())
	_, id, _, err := s.toolCall("guarded", `{}`)
	refused := failure.Decode(err)
	require.Equal(t, tool.Invalid, tool.KindOf(refused))
	require.ErrorContains(t, refused, `"approve", which this worker does not have`)
	require.Equal(t, tool.StatusFailed, s.invocations(id)[0].Status)
	require.EqualValues(t, 2, ran.Load())
	require.EqualValues(t, 1, audited.Load())
}
