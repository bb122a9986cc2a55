package storetest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// graphCall is the run of a graph, of the fixture's run.
func (f *Fixture) graphCall() graph.Run {
	return graph.Run{Tenant: f.Tenant, RunID: f.Run.ID, CallID: "call", EffectID: "graph-effect-" + f.Run.ID}
}

func (f *Fixture) readNodes(t *testing.T, needs graph.Needs) map[string]*graph.Record {
	t.Helper()
	got, err := f.Store.ReadNodes(t.Context(), f.graphCall(), needs)
	require.NoError(t, err)
	return got
}

func testGraphs(t *testing.T, d *Database) {
	t.Helper()

	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	t.Run("FirstRecordStays", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		first := graph.Record{
			Path: "a", Node: "a", Kind: flow.Tool, Status: graph.Completed, Result: json.RawMessage(`{"n": 9007199254740993}`),
			Text: "nul \x00 and …", State: json.RawMessage(`{"x":1}`), EffectID: "e1", Attempts: 2, EndedAt: at,
		}
		second := first
		second.Status, second.ErrorKind, second.Error = graph.Failed, tool.Timeout, "late"
		for _, r := range []graph.Record{first, second} {
			require.NoError(t, f.Store.WriteNodes(t.Context(), f.graphCall(), []graph.Record{r}))
		}
		got := f.readNodes(t, graph.Needs{Paths: []string{"a", "none"}})
		require.Len(t, got, 1)
		require.Equal(t, graph.Completed, got["a"].Status)
		require.JSONEq(t, string(first.Result), string(got["a"].Result))
		require.JSONEq(t, `{"x":1}`, string(got["a"].State))
		require.Equal(t, 2, got["a"].Attempts)
		require.WithinDuration(t, at, got["a"].EndedAt, time.Millisecond)
		events, err := f.Store.ListEvents(t.Context(), f.Tenant, f.Run.ID, 0, 100)
		require.NoError(t, err)
		ended := 0
		for _, e := range events {
			if e.Type == agent.EventNodeEnded {
				ended++
				require.JSONEq(t, `{"path":"a","node":"a","kind":"tool","status":"completed","call_id":"call"}`, string(e.Data))
			}
		}
		require.Equal(t, 1, ended)
	})

	t.Run("ItemsArePendingFirst", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		var items []graph.Record
		for i := range 1200 { // More than one statement takes.
			items = append(items, graph.Record{
				Path: fmt.Sprintf("each/%d", i), Node: "each", Status: graph.Pending, Item: json.RawMessage(strconv.Itoa(i)),
			})
		}
		require.NoError(t, f.Store.WriteNodes(t.Context(), f.graphCall(), items))
		done := graph.Record{Path: "each/7", Node: "each", Status: graph.Completed, Result: json.RawMessage(`"x"`), EndedAt: at}
		below := graph.Record{Path: "each/7/one", Node: "one", Kind: flow.Tool, Status: graph.Completed, EndedAt: at}
		require.NoError(t, f.Store.WriteNodes(t.Context(), f.graphCall(), []graph.Record{done, below}))
		require.NoError(t, f.Store.WriteNodes(t.Context(), f.graphCall(), items[:10]))
		got := f.readNodes(t, graph.Needs{Below: "each"})
		require.Len(t, got, 1200)
		require.Equal(t, graph.Completed, got["each/7"].Status)
		require.JSONEq(t, `7`, string(got["each/7"].Item))
		require.Equal(t, graph.Pending, got["each/8"].Status)

		var listed []graph.Record
		for after := int64(0); ; {
			page, err := f.Store.ListNodes(t.Context(), f.Tenant, f.Run.ID, after, 500)
			require.NoError(t, err)
			if len(page) == 0 {
				break
			}
			listed, after = append(listed, page...), page[len(page)-1].Place
		}
		require.Len(t, listed, 1201)
		require.Equal(t, "each/0", listed[0].Path)
		require.Equal(t, "each/7/one", listed[1200].Path)
	})

	t.Run("Resumed", func(t *testing.T) {
		t.Parallel()
		testResumedGraphs(t, d)
	})
}

// testResumedGraphs tests what runs of graphs that continue others are made of.
func testResumedGraphs(t *testing.T, d *Database) {
	t.Helper()
	f := NewFixture(t, d)
	at := time.Now()
	ended := func(path string, k flow.Kind, sets string) graph.Record {
		r := graph.Record{
			Path: path, Node: path, Kind: k, Status: graph.Completed, EndedAt: at, Result: json.RawMessage(`1`),
		}
		if sets != "" {
			r.State = json.RawMessage(sets)
		}
		return r
	}
	require.NoError(t, f.Store.WriteNodes(t.Context(), f.graphCall(), []graph.Record{
		ended("a", flow.Tool, `{"n":1}`), ended("m/0/x", flow.Tool, `{"n":2}`), ended("m/0/y", flow.Tool, ""),
		ended("m/0", "", ""),
		ended("m", flow.Map, ""),
		ended("l/0/z", flow.Tool, ""), ended("l/0", "", ""), ended("l", flow.Loop, ""), ended("", "", ""),
	}))
	passed, err := f.Store.ListPath(t.Context(), f.graphCall())
	require.NoError(t, err)
	require.Equal(t, []graph.Passed{
		{Path: "a", Kind: flow.Tool, Status: graph.Completed, Sets: true},
		{Path: "m/0/x", Kind: flow.Tool, Status: graph.Completed, Sets: true},
		{Path: "m", Kind: flow.Map, Status: graph.Completed},
		{Path: "l", Kind: flow.Loop, Status: graph.Completed},
	}, passed)
	to := f.graphCall()
	to.EffectID += "-again"
	for range 2 { // It is idempotent.
		require.NoError(t, f.Store.CopyNodes(t.Context(), f.graphCall(), to, "l"))
	}
	copied, err := f.Store.ReadNodes(t.Context(), to, graph.Needs{Paths: []string{
		"a", "m/0/x", "m/0/y", "m/0", "m", "l/0/z", "l/0", "l", "",
	}})
	require.NoError(t, err)
	require.Len(t, copied, 5, "not the node itself, nothing below it, and not the graph's end")
	require.JSONEq(t, `{"n":1}`, string(copied["a"].State))
	to.EffectID += "-open"
	require.NoError(t, f.Store.CopyNodes(t.Context(), f.graphCall(), to, "next"), "a node that has not ended")
	copied, err = f.Store.ReadNodes(t.Context(), to, graph.Needs{Paths: []string{"l", ""}})
	require.NoError(t, err)
	require.Len(t, copied, 1)
}

// graphCases are the foreign-tenant cases of graphs.
var graphCases = map[string]func(t *testing.T, f foreign){
	"WriteNodes": func(t *testing.T, f foreign) {
		t.Helper()
		of := f.graphCall()
		of.Tenant = f.stranger
		record := graph.Record{Path: "x", Node: "x", Kind: flow.Tool, Status: graph.Completed, EndedAt: time.Now()}
		RequireKind(t, tool.NotFound, f.Store.WriteNodes(t.Context(), of, []graph.Record{record}))
		require.Empty(t, f.readNodes(t, graph.Needs{Paths: []string{"x"}}))
	},
	"ReadNodes": func(t *testing.T, f foreign) {
		t.Helper()
		record := graph.Record{Path: "x", Node: "x", Kind: flow.Tool, Status: graph.Completed, EndedAt: time.Now()}
		require.NoError(t, f.Store.WriteNodes(t.Context(), f.graphCall(), []graph.Record{record}))
		of := f.graphCall()
		of.Tenant = f.stranger
		got, err := f.Store.ReadNodes(t.Context(), of, graph.Needs{Paths: []string{"x"}})
		require.NoError(t, err)
		require.Empty(t, got)
	},
	"ListPath": func(t *testing.T, f foreign) {
		t.Helper()
		record := graph.Record{Path: "p", Node: "p", Kind: flow.Tool, Status: graph.Completed, EndedAt: time.Now()}
		require.NoError(t, f.Store.WriteNodes(t.Context(), f.graphCall(), []graph.Record{record}))
		of := f.graphCall()
		of.Tenant = f.stranger
		got, err := f.Store.ListPath(t.Context(), of)
		require.NoError(t, err)
		require.Empty(t, got)
	},
	"CopyNodes": func(t *testing.T, f foreign) {
		t.Helper()
		record := graph.Record{Path: "c", Node: "c", Kind: flow.Tool, Status: graph.Completed, EndedAt: time.Now()}
		require.NoError(t, f.Store.WriteNodes(t.Context(), f.graphCall(), []graph.Record{record}))
		from, to := f.graphCall(), f.graphCall()
		from.Tenant, to.EffectID = f.stranger, to.EffectID+"-stolen"
		require.NoError(t, f.Store.CopyNodes(t.Context(), from, to, "z"))
		got, err := f.Store.ReadNodes(t.Context(), to, graph.Needs{Paths: []string{"c"}})
		require.NoError(t, err)
		require.Empty(t, got)
	},
	"ListNodes": func(t *testing.T, f foreign) {
		t.Helper()
		record := graph.Record{Path: "y", Node: "y", Kind: flow.Tool, Status: graph.Completed, EndedAt: time.Now()}
		require.NoError(t, f.Store.WriteNodes(t.Context(), f.graphCall(), []graph.Record{record}))
		got, err := f.Store.ListNodes(t.Context(), f.stranger, f.Run.ID, 0, 10)
		require.NoError(t, err)
		require.Empty(t, got)
	},
}
