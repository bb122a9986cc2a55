package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// graphTool defines a tool that is a graph.
func graphTool(config string, x tool.Execution) tool.Definition {
	return tool.Definition{
		Name: "graph", Implementation: tool.Graph, Execution: x, Config: json.RawMessage(config),
		InputSchema: json.RawMessage(`{"type":"object"}`),
	}
}

// builtin is the definition of a built-in, for a tenant to publish.
func builtin(key string) tool.Definition {
	for _, s := range builtins.Described(nil).Specs() {
		if s.Key == key {
			return s.Definition
		}
	}
	panic("there is no built-in " + key)
}

// everyKind is a graph with a node of every kind.
const everyKind = `{
  "state": {"count": 0},
  "nodes": [
    {"id": "begin", "kind": "start", "set": {"who": {"$from": "/input/name", "$default": "Ada"}}},
    {"id": "fetch", "kind": "tool", "tool": "greet", "arguments": {"name": {"$from": "/state/who"}}, "set": {"count": 1}},
    {"id": "skipped", "kind": "tool", "tool": "greet", "when": "state.count > 5", "arguments": {"name": "nobody"}},
    {"id": "judge", "kind": "branch", "cases": [{"when": "nodes.fetch.result.name.startsWith('hello')", "next": "fan"}], "default": "never"},
    {"id": "never", "kind": "tool", "tool": "refuse", "arguments": {"name": "x"}},
    {"id": "fan", "kind": "parallel", "branches": [
      {"id": "left", "nodes": [{"id": "l", "kind": "tool", "tool": "greet", "arguments": {"name": "left"}}]},
      {"id": "right", "nodes": [{"id": "r", "kind": "tool", "tool": "refuse", "arguments": {"name": "right"}, "on_error": "continue"}],
        "output": {"$from": "/nodes/r/is_error"}}]},
    {"id": "each", "kind": "map", "over": ["a", "b", "c"], "concurrency": 2, "nodes": [
      {"id": "one", "kind": "tool", "tool": "greet", "arguments": {"name": {"$from": "/item"}}}], "output": {"$from": "/nodes/one/result/name"}},
    {"id": "again", "kind": "loop", "while": "iteration < 2", "max": 5, "nodes": [
      {"id": "more", "kind": "tool", "tool": "greet", "arguments": {"name": {"$from": "/last/name", "$default": "loop"}}}]},
    {"id": "write", "kind": "agent", "agent": "desk", "message": {"about": {"$from": "/nodes/each/result"}}},
    {"id": "ask", "kind": "human", "form": {"title": "Fine?", "approve": {}}},
    {"id": "rest", "kind": "wait", "seconds": 0.2},
    {"id": "nudge", "kind": "wait", "signal": "go", "timeout_s": 600},
    {"id": "sub", "kind": "graph", "tool": "inner", "arguments": {"name": "sub"}},
    {"id": "help", "kind": "call_agent", "tool": "askDesk", "arguments": {"message": "help"}},
    {"id": "done", "kind": "end", "output": {
      "fan": {"$from": "/tool_outputs/fan"}, "each": {"$from": "/nodes/each/result"}, "loop": {"$from": "/nodes/again/result/name"},
      "wrote": {"$from": "/nodes/write/text"}, "asked": {"$from": "/nodes/ask/result/answer/approved"},
      "nudged": {"$from": "/nodes/nudge/result/n"}, "sub": {"$from": "/nodes/sub/result"}, "state": {"$from": "/state"}}}
  ]
}`

const everyKindOutput = `{
  "fan": {"left": {"name": "hello left"}, "right": true}, "each": ["hello a", "hello b", "hello c"], "loop": "hello hello loop",
  "wrote": "written", "asked": true, "nudged": 7, "sub": {"inside": "hello sub"}}`

// writes is a model that answers at once.
var writes = agent.ModelFunc(func(context.Context, *agent.ModelRequest) (*agent.ModelResponse, error) {
	return &agent.ModelResponse{Text: "written"}, nil
})

// everySite is a site whose tenant has the graph of every kind.
type everySite struct{ *counter }

func newEverySite(t *testing.T) *everySite {
	t.Helper()
	c := newCounter(t)
	s := &everySite{c}
	s.publish("request_input", builtin("request_input"), tool.Policy{})
	s.publish("awaitSignal", builtin("awaitSignal"), tool.Policy{})
	s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x"})
	s.publish("askDesk", tool.Definition{
		Name: "Ask the desk", Implementation: tool.AgentCall, Config: json.RawMessage(`{"target_agent_slug":"desk"}`),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"message":{"type":"string"}}}`),
	}, tool.Policy{})
	return s
}

func (s *everySite) publishGraphs(lane tool.Lane) {
	s.publish("inner", graphTool(`{"nodes":[{"id":"in","kind":"tool","tool":"greet","arguments":{"name":{"$from":"/input/name"}}}],
		"output":{"inside":{"$from":"/nodes/in/result/name"}}}`, tool.Execution{Lane: lane}), tool.Policy{})
	s.publish("everyKind", graphTool(everyKind, tool.Execution{TimeoutSeconds: 600, Lane: lane}), tool.Policy{})
}

// begin starts a call without waiting for it.
func (s *everySite) beginCall(name, args string) (client.WorkflowRun, string) {
	s.t.Helper()
	id := newID(s.t)
	w, err := s.temporal.ExecuteWorkflow(s.t.Context(), client.StartWorkflowOptions{
		ID: wire.RunWorkflowID(s.principal.Tenant, id), TaskQueue: s.queue,
	}, wire.ToolCallWorkflow, wire.NewToolCall(s.principal, id,
		wire.Node{ID: "call", Tool: refs(s.t, name)[0], Arguments: json.RawMessage(args), Mode: tool.Production}))
	require.NoError(s.t, err)
	return w, id
}

// answerAll answers the person's question and gives the signal, as they come.
func (s *everySite) answerAll() {
	s.t.Helper()
	called := s.waiting(1)[0]
	_, err := s.submit(called.ID, `{"approved":true}`)
	require.NoError(s.t, err)
	require.Eventually(s.t, func() bool {
		open := s.waiting(1)
		called = open[0]
		return called.Slug == "awaitSignal"
	}, time.Minute, 20*time.Millisecond)
	require.JSONEq(s.t, `{"signal":"go"}`, string(called.Arguments))
	_, err = s.submit(called.ID, `{"n":7}`)
	require.NoError(s.t, err)
}

func (s *everySite) records(runID string) map[string]graph.Record {
	s.t.Helper()
	out := map[string]graph.Record{}
	var after int64
	for {
		page, err := s.ListNodes(s.t.Context(), s.principal.Tenant, runID, after, 50)
		require.NoError(s.t, err)
		for _, r := range page {
			key := r.Path
			if _, ok := out[key]; ok { // Of the sub-graph.
				key = fmt.Sprintf("%s (%d)", key, r.Place)
			}
			out[key] = r
		}
		if len(page) == 0 {
			return out
		}
		after = page[len(page)-1].Place
	}
}

// inLanes runs a test of graphs whose nodes are visible, and of graphs that ask for the fast lane.
func inLanes(t *testing.T, test func(t *testing.T, lane tool.Lane)) {
	t.Helper()
	for _, lane := range []tool.Lane{tool.LaneAuto, tool.LaneFast} {
		t.Run(string(lane), func(t *testing.T) {
			t.Parallel()
			test(t, lane)
		})
	}
}

// A graph with a node of every kind runs to its end: each node has a record and an event, each
// call is in the ledger, and the histories replay.
func TestGraphOfEveryKind(t *testing.T) {
	t.Parallel()
	inLanes(t, graphOfEveryKind)
}

func graphOfEveryKind(t *testing.T, lane tool.Lane) {
	t.Helper()
	s := newEverySite(t)
	functions := greeter(t, s.site)
	s.publishGraphs(lane)
	s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": writes}})
	w, id := s.beginCall("everyKind", `{}`)
	s.answerAll()
	var result *tool.Result
	require.NoError(t, w.Get(t.Context(), &result))
	var got map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(result.Structured, &got))
	var state map[string]any
	require.NoError(t, json.Unmarshal(got["state"], &state))
	require.Equal(t, "Ada", state["who"])
	require.Contains(t, state, "last_agent_output")
	delete(got, "state")
	raw, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, everyKindOutput, string(raw))

	records := s.records(id)
	for path, status := range map[string]graph.Status{
		"": graph.Completed, "begin": graph.Completed, "fetch": graph.Completed, "skipped": graph.Skipped,
		"judge":      graph.Completed,
		"fan/left/l": graph.Completed, "fan/right/r": graph.Failed, "each/2/one": graph.Completed, "each/2": graph.Completed,
		"again/1/more": graph.Completed, "write": graph.Completed, "ask": graph.Completed, "nudge": graph.Completed,
		"sub": graph.Completed, "help": graph.Completed, "done": graph.Completed,
	} {
		require.Equal(t, status, records[path].Status, "%q: %+v", path, records[path])
	}
	require.NotContains(t, records, "never")
	events := 0
	for _, kind := range s.kinds(id) {
		if kind == agent.EventNodeEnded {
			events++
		}
	}
	require.Equal(t, 22, events)
	for _, called := range s.invocations(id) {
		require.True(t, called.Status.Final(), called.CallID)
	}
	call := map[tool.Lane]string{tool.LaneAuto: "graph_call"}[lane]
	requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), call)
	whole := s.invocations(id)[0]
	child := s.temporal.GetWorkflow(t.Context(),
		wire.NamedWorkflowID(string(s.principal.Tenant), whole.Slug, whole.InvocationID), "")
	of := historyOf(t.Context(), t, s.temporal, child.GetID(), child.GetRunID())
	requireReplays(t, of, "graph_every_kind_"+string(lane))
}
