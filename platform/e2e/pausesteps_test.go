package e2e_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// While a graph is paused, its map begins no further item.
func TestPauseOfAGraph(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		lane    tool.Lane
		history string
	}{"InPlace": {tool.LaneFast, "graph_in_place_paused"}, "Visible": {tool.LaneAuto, "graph_paused"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStepping(t, tool.LaneAuto)
			s.publish("each", graphTool(`{"nodes":[{"id":"each","kind":"map","over":["1","2","3","4"],"concurrency":1,"nodes":[
				{"id":"one","kind":"tool","tool":"step","arguments":{"name":{"$from":"/item"}}}],
				"output":{"$from":"/nodes/one/result/name"}}],"output":{"$from":"/nodes/each/result"}}`,
				tool.Execution{Lane: tt.lane}), tool.Policy{})
			s.start(s.config())
			c, err := s.service.Call(t.Context(), runs.NewCall{
				Principal: s.principal, Node: wire.Node{Tool: refs(t, "each")[0], Arguments: json.RawMessage(`{}`)},
			})
			require.NoError(t, err)
			require.Equal(t, "1", <-s.began)
			whole := s.invocations(c.RunID)[0]
			child := wire.NamedWorkflowID(wire.SegmentOf(c.WorkflowID, s.principal.Tenant), whole.Slug, whole.InvocationID)
			s.pauseInCall(c.RunID, c.RunID, child)
			s.release <- struct{}{}
			require.Eventually(t, func() bool {
				calls := s.invocations(c.RunID)
				return len(calls) == 2 && calls[1].Status == tool.StatusCompleted
			}, time.Minute, 20*time.Millisecond)
			s.still(child)
			require.Equal(t, []string{"1"}, s.steps())
			close(s.release)
			s.resume(c.RunID)
			result, ended, err := s.service.Wait(t.Context(), c, time.Minute, nil)
			require.NoError(t, err)
			require.True(t, ended)
			require.JSONEq(t, `["1","2","3","4"]`, string(result.Structured))
			require.Equal(t, []string{"1", "2", "3", "4"}, s.steps())
			h := historyOf(t.Context(), t, s.temporal, child, s.temporal.GetWorkflow(t.Context(), child, "").GetRunID())
			requireReplays(t, h, tt.history)
		})
	}
}

// While a composition is paused, it begins no further step.
func TestPauseOfAComposition(t *testing.T) {
	t.Parallel()

	for name, lane := range map[string]tool.Lane{"InPlace": tool.LaneAuto, "Visible": tool.LaneVisible} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStepping(t, lane)
			s.publish("both", composition(`{"steps":[
				{"id":"first","tool":"step","arguments":{"name":{"$from":"/input/name"}}},
				{"id":"second","tool":"step","arguments":{"name":"2"}}],
				"output":{"names":[{"$from":"/steps/first/result/name"},{"$from":"/steps/second/result/name"}]}}`,
				tool.Execution{}), tool.Policy{})
			s.start(s.config())
			c, err := s.service.Call(t.Context(), runs.NewCall{
				Principal: s.principal, Node: wire.Node{Tool: refs(t, "both")[0], Arguments: json.RawMessage(`{"name":"1"}`)},
			})
			require.NoError(t, err)
			require.Equal(t, "1", <-s.began)
			s.pauseInCall(c.RunID, c.RunID, c.WorkflowID)
			s.release <- struct{}{}
			require.Eventually(t, func() bool {
				calls := s.invocations(c.RunID)
				return len(calls) == 2 && calls[1].Status == tool.StatusCompleted
			}, time.Minute, 20*time.Millisecond)
			s.still(c.WorkflowID)
			require.Equal(t, []string{"1"}, s.steps())
			close(s.release)
			s.resume(c.RunID)
			result, ended, err := s.service.Wait(t.Context(), c, time.Minute, nil)
			require.NoError(t, err)
			require.True(t, ended)
			require.JSONEq(t, `{"names":["1","2"]}`, string(composedOf(t, result).Output))
			require.Equal(t, []string{"1", "2"}, s.steps())
			h := historyOf(t.Context(), t, s.temporal, c.WorkflowID, "")
			histories := map[string]string{"InPlace": "composition_in_place_paused", "Visible": "composition_paused"}
			requireReplays(t, h, histories[name])
		})
	}
}
