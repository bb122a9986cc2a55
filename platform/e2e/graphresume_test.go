package e2e_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// A graph that failed is continued from the node that did, with other arguments: what came before is
// not done again, and its results and state are there.
func TestGraphResumes(t *testing.T) {
	t.Parallel()
	inLanes(t, graphResumes)
}

func graphResumes(t *testing.T, lane tool.Lane) {
	t.Helper()
	s := &everySite{&counter{site: newSite(t)}}
	functions := function.NewRegistry()
	var made atomic.Int32
	require.NoError(t, function.Define(functions, "once", "once", func(_ context.Context, in noteIn) (noteOut, error) {
		made.Add(1)
		if in.Name == "bad" {
			return noteOut{}, &tool.Error{Kind: tool.Invalid, Msg: "no such name"}
		}
		return noteOut{Name: "made " + in.Name}, nil
	}))
	s.publish("once", functionTool("once", onlyOnce), tool.Policy{})
	s.publish("resumable", graphTool(`{"state":{"n":0},"nodes":[
		{"id":"first","kind":"tool","tool":"once","arguments":{"name":"first"},"set":{"n":1}},
		{"id":"each","kind":"map","over":["x","y"],"nodes":[{"id":"one","kind":"tool","tool":"once","arguments":{"name":{"$from":"/item"}}}]},
		{"id":"again","kind":"loop","while":"iteration < 2","max":3,"nodes":[
			{"id":"more","kind":"tool","tool":"once","arguments":{"name":"loop"},"set":{"n":{"$from":"/iteration"}}}]},
		{"id":"last","kind":"tool","tool":"once","arguments":{"name":{"$from":"/input/name"}}}],
		"output":{"first":{"$from":"/nodes/first/result/name"},"each":{"$from":"/nodes/each/result"},"n":{"$from":"/state/n"},
			"last":{"$from":"/nodes/last/result/name"}}}`, tool.Execution{Lane: lane}), tool.Policy{})
	s.start(worker.Config{Functions: functions})
	_, id, _, err := s.toolCall("resumable", `{"name":"bad"}`)
	require.ErrorContains(t, err, "no such name")
	require.EqualValues(t, 6, made.Load())
	whole := s.invocations(id)[0]

	resume := func(from wire.GraphFrom, args string) (string, *tool.Result, error) {
		next := newID(t)
		w, err := s.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: wire.RunWorkflowID(s.principal.Tenant, next), TaskQueue: s.queue,
		}, wire.ToolCallWorkflow, wire.NewToolCall(s.principal, next, wire.Node{
			ID: "call", Tool: refs(t, "resumable")[0], Arguments: json.RawMessage(args), Mode: tool.Production, From: &from,
		}))
		require.NoError(t, err)
		var result *tool.Result
		err = w.Get(t.Context(), &result)
		requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "")
		return next, result, err
	}
	next, result, err := resume(wire.GraphFrom{EffectID: whole.EffectID, RunID: id}, `{"name":"good"}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"first":"made first","each":[{"name":"made x"},{"name":"made y"}],"n":1,"last":"made good"}`,
		string(result.Structured))
	require.EqualValues(t, 7, made.Load())
	require.Len(t, s.invocations(next), 2, "the graph's call, and that of the node")
	records := s.records(next)
	require.Equal(t, graph.Completed, records["last"].Status)
	require.Contains(t, records, "each/1/one")

	_, result, err = resume(wire.GraphFrom{EffectID: whole.EffectID, RunID: id, Node: "again"}, `{"name":"other"}`)
	require.NoError(t, err)
	require.Contains(t, string(result.Structured), "made other")
	require.EqualValues(t, 10, made.Load())

	_, _, err = resume(wire.GraphFrom{EffectID: whole.EffectID, RunID: id, Node: "one"}, `{"name":"other"}`)
	require.ErrorContains(t, err, `node "one" is in a body of "each"`)
}
