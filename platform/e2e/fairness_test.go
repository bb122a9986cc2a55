package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/schedule"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
	"github.com/toolcrib/toolcrib/workflows/workflowstest"
)

// Every workflow carries its tenant as Temporal's fairness key, however it begins: an agent's run, a
// single call, a time of a schedule, the run below a call, a graph, and the runs of its nodes.
func TestEveryWorkflowHasItsTenantsFairnessKey(t *testing.T) {
	t.Parallel()
	c := newClock(t, agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if len(req.Tools) > 0 && req.Turn == 1 {
			return &agent.ModelResponse{Calls: []agent.Call{
				{ID: "a", Name: "askDesk", Arguments: json.RawMessage(`{"message":"help"}`)},
				{ID: "b", Name: "both", Arguments: json.RawMessage(`{}`)},
			}}, nil
		}
		return &agent.ModelResponse{Text: "done"}, nil
	}))
	c.publish("askDesk", tool.Definition{
		Name: "Ask the desk", Implementation: tool.AgentCall, Config: json.RawMessage(`{"target_agent_slug":"desk"}`),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"message":{"type":"string"}}}`),
	}, tool.Policy{})
	c.publish("both", graphTool(`{"nodes":[{"id":"write","kind":"agent","agent":"desk","message":{"about":"x"}},
		{"id":"help","kind":"call_agent","tool":"askDesk","arguments":{"message":"help"}}]}`, tool.Execution{}), tool.Policy{})
	c.publishAgentAs("boss", agent.Definition{Name: "Boss", Model: "test/x", Tools: refs(t, "askDesk", "both")})

	resp, raw := c.post("/v1/runs", `{"agent":"boss","input":"go"}`)
	require.Equal(t, http.StatusAccepted, resp.StatusCode, string(raw))
	var asked v1.Run
	require.NoError(t, json.Unmarshal(raw, &asked))
	require.Equal(t, agent.RunCompleted, c.ended(asked.ID).Status)
	resp, raw = c.post("/v1/tools/both/call", `{"arguments":{}}`)
	require.Equal(t, http.StatusOK, resp.StatusCode, string(raw))
	c.make(yearly("report"))
	_, err := c.TriggerSchedule(t.Context(), "report")
	require.NoError(t, err)
	scheduled := c.ended(c.starts("report", 1)[0].RunID)

	want := map[string]int{
		wire.AgentRunWorkflow: 1 + 1 + 2*2, // The boss's, that of its call, and those of two graphs' two nodes.
		wire.ToolCallWorkflow: 1, wire.GraphRunWorkflow: 2,
	}
	var found map[string]int
	var executions []*commonpb.WorkflowExecution
	require.Eventually(t, func() bool {
		all, err := c.desk.temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: embedded.DefaultNamespace, Query: "ToolcribTenant = '" + string(c.principal.Tenant) + "'",
		})
		require.NoError(t, err)
		found, executions = map[string]int{}, nil
		for _, e := range all.GetExecutions() {
			found[e.GetType().GetName()]++
			executions = append(executions, e.GetExecution())
		}
		for kind, n := range want {
			if found[kind] < n {
				return false
			}
		}
		return true
	}, time.Minute, 100*time.Millisecond, "%v, of %v", &found, want)
	executions = append(executions, &commonpb.WorkflowExecution{WorkflowId: scheduled.WorkflowID})
	described, err := c.desk.temporal.DescribeWorkflowExecution(t.Context(), scheduled.WorkflowID, "")
	require.NoError(t, err)
	parent := described.GetWorkflowExecutionInfo().GetParentExecution()
	require.True(t, wire.IsScheduled(parent.GetWorkflowId()))
	for _, e := range append(executions, parent) {
		described, err := c.desk.temporal.DescribeWorkflowExecution(t.Context(), e.GetWorkflowId(), e.GetRunId())
		require.NoError(t, err)
		info := described.GetWorkflowExecutionInfo()
		require.Equal(t, string(c.principal.Tenant), info.GetPriority().GetFairnessKey(), "%s %s", info.GetType().GetName(),
			e.GetWorkflowId())
	}
}

// The activities of a call in a host's workflow wait for their turn as its tenant's, unless the workflow has
// a fairness key of the host's.
func TestCallsOfHostsHaveTheirTenantsFairnessKey(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := greeter(t, s)
	s.publish("charge", functionTool("refuse", tool.Execution{}), tool.Policy{})
	s.publish("look", functionTool("greet", tool.Execution{Pure: true, Lane: tool.LaneVisible}), tool.Policy{})
	t.Cleanup(s.host(worker.Config{Functions: functions}, registerHosts))
	for _, own := range []string{"", "the-hosts"} {
		for _, name := range []string{"look", "charge"} {
			w, err := s.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
				ID: "host/" + newID(t), TaskQueue: s.queue, Priority: temporal.Priority{FairnessKey: own},
			}, workflowstest.ChainWorkflow, workflowstest.ChainInput{
				Principal: s.principal, Tool: name, Calls: 1, Arguments: json.RawMessage(`{"name":"Ada"}`),
			})
			require.NoError(t, err)
			_ = w.Get(t.Context(), nil) // What refuses fails.
			h := historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID())
			scheduled := 0
			for _, e := range h.GetEvents() {
				a := e.GetActivityTaskScheduledEventAttributes()
				if a == nil {
					continue
				}
				scheduled++
				want := map[string]string{"": string(s.principal.Tenant), "the-hosts": ""}[own] // Empty inherits.
				require.Equal(t, want, a.GetPriority().GetFairnessKey(), a.GetActivityType().GetName())
			}
			require.Positive(t, scheduled, name)
			requireReplays(t, h, "")
		}
	}
}

// A time of a schedule that meets its tenant's limit of runs is recorded as refused, with the reason;
// the next one starts a run where there is room.
func TestAScheduleMeetsTheLimitOfRuns(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	c := newClock(t, agent.ModelFunc(func(ctx context.Context, _ *agent.ModelRequest) (*agent.ModelResponse, error) {
		select {
		case <-release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return &agent.ModelResponse{Text: "done"}, nil
	}))
	_, err := c.db.Platform.SetTenantMaxUnfinished(t.Context(), c.principal.Tenant, 1)
	require.NoError(t, err)
	first := c.ask()
	c.make(yearly("report"))
	_, err = c.TriggerSchedule(t.Context(), "report")
	require.NoError(t, err)
	start := c.starts("report", 1)[0]
	require.Equal(t, schedule.Refused, start.Status)
	require.Equal(t, tool.RateLimited, start.Code)
	require.Contains(t, start.Reason, "has 1 unfinished runs, and its limit is 1")
	close(release)
	c.ended(first.ID)
	time.Sleep(1100 * time.Millisecond) // Times have whole seconds.
	_, err = c.TriggerSchedule(t.Context(), "report")
	require.NoError(t, err)
	start = c.starts("report", 2)[0]
	require.Equal(t, schedule.Started, start.Status)
	require.Equal(t, agent.RunCompleted, c.ended(start.RunID).Status)
}
