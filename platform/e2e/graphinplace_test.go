package e2e_test

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// graphHistory returns the history of the run of a graph, whose call was the first of a run.
func (s *site) graphHistory(runID string) *historypb.History {
	s.t.Helper()
	whole := s.invocations(runID)[0]
	child := s.temporal.GetWorkflow(s.t.Context(),
		wire.NamedWorkflowID(string(s.principal.Tenant), whole.Slug, whole.InvocationID), "")
	return historyOf(s.t.Context(), s.t, s.temporal, child.GetID(), child.GetRunID())
}

// A graph in the fast lane whose calls may all be made in place is one activity; a call that
// needs another attempt has one of its own.
func TestGraphInPlace(t *testing.T) {
	t.Parallel()

	const nodes = `{"nodes":[
		{"id":"first","kind":"tool","tool":"greet","arguments":{"name":"a"}},
		{"id":"judge","kind":"branch","cases":[{"when":"nodes.first.result.name == 'hello a'","next":"each"}],"default":"each"},
		{"id":"each","kind":"map","over":["x","y","z"],"nodes":[{"id":"one","kind":"tool","tool":"greet","arguments":{"name":{"$from":"/item"}}}],
			"output":{"$from":"/nodes/one/result/name"}},
		{"id":"rest","kind":"wait","seconds":0.05},
		{"id":"no","kind":"tool","tool":"refuse","arguments":{"name":"x"},"retry":{"attempts":2,"delay_s":0.05},"on_error":"continue"},
		{"id":"shaky","kind":"tool","tool":"shaky","arguments":{"name":"x"}},
		{"id":"last","kind":"tool","tool":"greet","arguments":{"name":"b"}}],
		"output":{"$from":"/nodes/each/result"}}`
	for name, tt := range map[string]struct {
		shaky      bool
		activities []string
	}{
		"Whole": {false, []string{wire.AdvanceGraphActivity}},
		"Retry": {true, []string{wire.AdvanceGraphActivity, "toolcrib.InvokeFunction", wire.AdvanceGraphActivity}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSite(t)
			functions := greeter(t, s)
			var tries atomic.Int32
			require.NoError(t, function.Define(functions, "shaky", "shaky", func(context.Context, noteIn) (noteOut, error) {
				if tries.Add(1) == 1 && tt.shaky {
					return noteOut{}, &tool.Error{Kind: tool.Unavailable, Msg: "not yet"}
				}
				return noteOut{Name: "steady"}, nil
			}, function.Pure()))
			d := functionTool("shaky", tool.Execution{Pure: true, MaxAttempts: 3})
			s.publish("shaky", d, tool.Policy{})
			s.publish("quick", graphTool(nodes, tool.Execution{Lane: tool.LaneFast}), tool.Policy{})
			s.start(worker.Config{Functions: functions})
			_, id, result, err := s.toolCall("quick", `{}`)
			require.NoError(t, err)
			require.JSONEq(t, `["hello x","hello y","hello z"]`, string(result.Structured))
			h := s.graphHistory(id)
			require.Equal(t, tt.activities, activityTypes(h))
			requireReplays(t, h, map[bool]string{false: "graph_in_place", true: "graph_in_place_retry"}[tt.shaky])
			records := (&everySite{&counter{site: s}}).records(id)
			require.Equal(t, 2, records["no"].Attempts)
			require.Equal(t, graph.Completed, records["last"].Status)
		})
	}
}

// A graph in place that is cancelled, or whose time is over, leaves no call open, and begins no
// other; so does one whose worker died before it was cancelled.
func TestGraphInPlaceIsStopped(t *testing.T) {
	t.Parallel()

	const nodes = `{"nodes":[
		{"id":"first","kind":"tool","tool":"greet","arguments":{"name":"a"}},
		{"id":"fan","kind":"parallel","branches":[
			{"id":"l","nodes":[{"id":"held","kind":"tool","tool":"wait","arguments":{"name":"x"}}]},
			{"id":"r","nodes":[{"id":"done","kind":"tool","tool":"greet","arguments":{"name":"b"}},
				{"id":"also","kind":"tool","tool":"wait","arguments":{"name":"y"}}]}]},
		{"id":"never","kind":"tool","tool":"greet","arguments":{"name":"x"}}]}`
	for name, tt := range map[string]struct {
		timeout float64
		kind    tool.Kind
	}{"Cancelled": {0, tool.Cancelled}, "Timeout": {1, tool.Timeout}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &everySite{&counter{site: newSite(t)}}
			functions := greeter(t, s.site)
			s.publish("slow", graphTool(nodes, tool.Execution{TimeoutSeconds: tt.timeout, Lane: tool.LaneFast}), tool.Policy{})
			s.start(worker.Config{Functions: functions})
			w, id := s.beginCall("slow", `{}`)
			if tt.kind == tool.Cancelled {
				require.Eventually(t, func() bool { return len(s.invocations(id)) == 5 }, time.Minute, 20*time.Millisecond)
				require.NoError(t, s.temporal.CancelWorkflow(t.Context(), w.GetID(), w.GetRunID()))
			}
			err := w.Get(t.Context(), nil)
			require.Error(t, err)
			if tt.kind == tool.Timeout {
				require.Equal(t, tool.Timeout, tool.AsError(failure.Decode(err)).Kind, "%v", err)
			}
			for _, called := range s.invocations(id) {
				require.True(t, called.Status.Final(), called.CallID)
			}
			records := s.records(id)
			require.Equal(t, tt.kind, records[""].ErrorKind)
			require.Equal(t, graph.Completed, records["fan/r/done"].Status)
			require.NotContains(t, records, "never")
			h := s.graphHistory(id)
			require.Contains(t, activityTypes(h), wire.AdvanceGraphActivity)
			requireReplays(t, h, "graph_in_place_"+string(tt.kind))
		})
	}
}

// A call or a wait that is cut off, because its graph is late or cancelled, is neither a failure nor a
// success of its node.
func TestGraphInPlaceIsCutOff(t *testing.T) {
	t.Parallel()

	const stuck = `{"id":"stuck","kind":"tool","tool":"wait","arguments":{"name":"x"}`
	for name, tt := range map[string]struct {
		nodes string
		calls int // Until it is cancelled; zero for its time to be over.
		kind  tool.Kind
	}{
		"LateCall": {stuck + `}`, 0, tool.Timeout},
		"LateWait": {`{"id":"g","kind":"tool","tool":"greet","arguments":{"name":"a"}},
			{"id":"nap","kind":"wait","seconds":4}`, 0, tool.Timeout},
		"Continued": {stuck + `,"on_error":"continue"},{"id":"done","kind":"end"}`, 2, tool.Cancelled},
		"Handled":   {stuck + `,"on_error":"done"},{"id":"done","kind":"end"}`, 2, tool.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &everySite{&counter{site: newSite(t)}}
			functions := greeter(t, s.site)
			x := tool.Execution{Lane: tool.LaneFast}
			if tt.calls == 0 {
				x.TimeoutSeconds = 1
			}
			s.publish("slow", graphTool(`{"nodes":[`+tt.nodes+`]}`, x), tool.Policy{})
			s.start(worker.Config{Functions: functions})
			w, id := s.beginCall("slow", `{}`)
			if tt.calls > 0 {
				require.Eventually(t, func() bool { return len(s.invocations(id)) == tt.calls }, time.Minute, 20*time.Millisecond)
				require.NoError(t, s.temporal.CancelWorkflow(t.Context(), w.GetID(), w.GetRunID()))
			}
			require.Error(t, w.Get(t.Context(), nil))
			records := s.records(id)
			require.Equal(t, tt.kind, records[""].ErrorKind)
			require.NotContains(t, records, "done")
			require.NotContains(t, records, "nap")
			require.NotContains(t, records, "stuck")
			for _, called := range s.invocations(id) {
				require.True(t, called.Status.Final(), called.CallID)
			}
		})
	}
}

// A worker dies with a call of a graph in place, and the graph is cancelled before another one
// takes it up: the call is settled all the same.
func TestGraphInPlaceIsCancelledAfterCrash(t *testing.T) {
	t.Parallel()

	for _, at := range []point{afterAdmit, afterSent, afterAnswer} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			s := &everySite{&counter{site: newSite(t)}}
			s.publish("effect", httpTool(c.URL, onlyOnce), tool.Policy{EgressClass: tool.EgressReadOnly})
			s.publish("pair", graphTool(`{"nodes":[
				{"id":"a","kind":"tool","tool":"effect","arguments":{"q":"a"}},
				{"id":"b","kind":"tool","tool":"effect","arguments":{"q":"b"}}]}`, tool.Execution{Lane: tool.LaneFast}), tool.Policy{})
			first := s.child(c, at, syscall.SIGKILL)
			if at == afterAdmit {
				first.Only = "effect"
			}
			killed := startChild(t, first)
			w, id := s.beginCall("pair", `{}`)
			requireKilled(t, killed)
			require.NoError(t, s.temporal.CancelWorkflow(t.Context(), w.GetID(), w.GetRunID()))
			startChild(t, s.child(c, "", 0))
			require.Error(t, w.Get(t.Context(), nil))
			calls := s.invocations(id)
			require.Len(t, calls, 2, "the graph's and its first node's")
			for _, called := range calls {
				require.True(t, called.Status.Final(), called.CallID)
			}
			requests, keys := c.count()
			require.Equal(t, requests, keys, "nothing is sent twice")
			require.LessOrEqual(t, requests, 1)
		})
	}
}
