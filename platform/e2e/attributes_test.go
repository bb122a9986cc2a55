package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/worker"
)

// finds reports whether Temporal's visibility finds the workflow by a query over the tenant's.
func (d *desk) finds(workflowID, query string) bool {
	d.t.Helper()
	found, err := d.temporal.ListWorkflow(d.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: embedded.DefaultNamespace,
		Query:     "ToolcribTenant = '" + string(d.principal.Tenant) + "' and " + query,
	})
	require.NoError(d.t, err, query)
	for _, e := range found.GetExecutions() {
		if e.GetExecution().GetWorkflowId() == workflowID {
			return true
		}
	}
	return false
}

// A run is found in Temporal by its agent, and by what it waits for while it waits; its id names
// tenant, agent and run. What it sets replays.
func TestRunsAreFoundByWhatTheyWaitFor(t *testing.T) {
	t.Parallel()

	d := newDesk(t)
	c := &counter{site: d.site, runs: d.runs}
	c.answer = (&office{site: d.site}).key("executor", wait.SubmitPermission)
	d.publish("ask", outsideTool(600, tool.Interaction{}), tool.Policy{})
	a := d.publishAgentAs("asker", agent.Definition{Name: "Asker", Model: "test/x", Tools: refs(t, "ask")})
	d.start(worker.Config{Models: map[string]agent.Model{
		"test": play([]agent.Call{{ID: "c", Name: "ask", Arguments: json.RawMessage(`{}`)}}),
	}})
	run, err := d.runs.Start(t.Context(), runs.NewRun{
		Principal: d.principal, Agent: a.Slug, Mode: tool.Production, Input: json.RawMessage(`"go"`),
	})
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(run.WorkflowID, "."+string(d.principal.Tenant)+"/asker/"+run.ID), run.WorkflowID)
	asked := c.waiting(1)[0]
	for _, query := range []string{
		"ToolcribAgent = 'asker'", "ToolcribPhase = 'waiting' and ExecutionStatus = 'Running'",
		"ToolcribWaitingFor = 'result'",
	} {
		require.Eventually(t, func() bool { return d.finds(run.WorkflowID, query) }, time.Minute, 50*time.Millisecond, query)
	}
	_, err = c.submit(asked.ID, `{"n":1}`)
	require.NoError(t, err)
	require.NoError(t, d.temporal.GetWorkflow(t.Context(), run.WorkflowID, "").Get(t.Context(), nil))
	require.Eventually(t, func() bool {
		return d.finds(run.WorkflowID, "ToolcribAgent = 'asker' and ExecutionStatus = 'Completed'") &&
			!d.finds(run.WorkflowID, "ToolcribWaitingFor = 'result'")
	}, time.Minute, 50*time.Millisecond)
	requireReplays(t, historyOf(t.Context(), t, d.temporal, run.WorkflowID, ""), "")
}
