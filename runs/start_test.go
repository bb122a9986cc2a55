package runs_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// ask asks for a run of agent desk.
func (b *bench) ask() runs.NewRun {
	return runs.NewRun{Principal: b.principal, Agent: "desk", Input: json.RawMessage(`"hello"`)}
}

func TestStart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publishAgent(t, "desk", agent.Definition{Name: "Desk"})
	asked := b.ask()
	asked.Constraint, asked.FollowFor, asked.Request.TraceID = "^1.0", time.Second, "trace"
	run, err := b.Start(t.Context(), asked)
	require.NoError(t, err)
	require.Equal(t, agent.RunPending, run.Status)
	require.Equal(t, tool.Production, run.Mode)
	require.Equal(t, "1.0.0", run.AgentVersion, "the constraint is resolved when the run is accepted")
	require.Equal(t, time.Second, run.FollowFor)
	require.Equal(t, []tool.Content{tool.Text("hello")}, b.store.first[run.ID].Content)
	require.Empty(t, b.store.starts, "Temporal has confirmed the workflow")
	require.Equal(t, "t/acme."+string(run.Tenant)+"/desk/"+run.ID, run.WorkflowID)
	started := b.temporal.workflows[run.WorkflowID]
	require.Equal(t, wire.AgentRunWorkflow, started.name)
	require.Equal(t, map[string]any{"toolcrib_trace": "trace"}, started.memo)
	require.Equal(t, string(run.Tenant), started.fair, "tenants take turns in a backlog")
}

// A run that could only fail is refused before anything is recorded.
func TestStartRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publishAgent(t, "desk", agent.Definition{Name: "Desk"})
	b.publishAgent(t, "strict", agent.Definition{
		Name: "Strict", Tools: []tool.Ref{{Slug: "say"}, {Slug: "none"}}, OnUnavailableTool: agent.RefuseRun,
	})
	for name, test := range map[string]struct {
		edit func(*runs.NewRun)
		kind tool.Kind
		text string
	}{
		"no such agent":        {func(n *runs.NewRun) { n.Agent = "none" }, tool.NotFound, ""},
		"no such version":      {func(n *runs.NewRun) { n.Constraint = "^2.0" }, tool.NotFound, "^2.0"},
		"malformed constraint": {func(n *runs.NewRun) { n.Constraint = "what" }, tool.Invalid, ""},
		"another tenant":       {func(n *runs.NewRun) { n.Principal.Tenant = b.store.AddTenant("other") }, tool.NotFound, ""},
		"no input":             {func(n *runs.NewRun) { n.Input = nil }, tool.Invalid, "input is empty"},
		"empty input":          {func(n *runs.NewRun) { n.Input = json.RawMessage(` "" `) }, tool.Invalid, "input is empty"},
		"unavailable tool":     {func(n *runs.NewRun) { n.Agent = "strict" }, tool.Conflict, "none"},
	} {
		asked := b.ask()
		test.edit(&asked)
		_, err := b.Start(t.Context(), asked)
		t.Log(name)
		requireKind(t, err, test.kind, test.text)
	}
	require.Empty(t, b.store.recorded())
}

// A request that is served again finds its run, unless that run ended before its
// workflow began.
func TestStartOfARequestServedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publishAgent(t, "desk", agent.Definition{Name: "Desk"})
	asked := b.ask()
	asked.Request.ID = "019a0000-0000-7000-8000-000000000001"
	first, err := b.Start(t.Context(), asked)
	require.NoError(t, err)
	require.Equal(t, asked.Request.ID, first.ID)
	second, err := b.Start(t.Context(), asked)
	require.NoError(t, err)
	require.Equal(t, first.ID, second.ID)
	require.Len(t, b.temporal.workflows, 1)

	b.store.change(first.ID, func(r *agent.Run) { r.Status = agent.RunCancelled })
	third, err := b.Start(t.Context(), asked)
	require.NoError(t, err)
	require.NotEqual(t, first.ID, third.ID)
	require.Contains(t, b.temporal.workflows, third.WorkflowID)
}

func TestStartWithoutTemporal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publishAgent(t, "desk", agent.Definition{Name: "Desk"})
	b.temporal.down = serviceerror.NewUnavailable("down")
	_, err := b.Start(t.Context(), b.ask())
	requireKind(t, err, tool.Unavailable, "Temporal")
	require.Empty(t, b.store.recorded())
}

// A run whose start Temporal does not confirm is accepted, and its start is kept.
func TestStartWithoutConfirmation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publishAgent(t, "desk", agent.Definition{Name: "Desk"})
	b.temporal.lost = serviceerror.NewUnavailable("the answer was lost")
	run, err := b.Start(t.Context(), b.ask())
	require.NoError(t, err)
	require.Equal(t, agent.RunPending, run.Status)
	require.Contains(t, b.store.starts, agent.StartKey{Tenant: run.Tenant, WorkflowID: run.WorkflowID})
}

// A workflow that Temporal refuses for good ends its run.
func TestStartThatTemporalRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publishAgent(t, "desk", agent.Definition{Name: "Desk"})
	b.temporal.refusal = serviceerror.NewInvalidArgument("too long")
	_, err := b.Start(t.Context(), b.ask())
	requireKind(t, err, tool.Invalid, "too long")
	run, err := b.store.FindRun(t.Context(), b.principal.Tenant, b.store.recorded()[0])
	require.NoError(t, err)
	require.Equal(t, agent.RunFailed, run.Status)
	require.Contains(t, run.Error, "could not be started")
}
