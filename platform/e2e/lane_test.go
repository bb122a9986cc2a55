package e2e_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// A run that leaves nothing to the workflow is one activity in the history, whose result
// lists the calls, and their records are those of any call.
func TestInPlace(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	s := newSite(t)
	s.publish("effect", httpTool(c.URL, tool.Execution{Idempotent: true, TimeoutSeconds: 5}), tool.Policy{
		EgressClass: tool.EgressReadOnly,
	})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})
	s.start(worker.Config{Allow: allow(c), Models: map[string]agent.Model{"test": callOnce("effect")}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)

	h := historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID())
	require.Equal(t, []string{wire.AdvanceActivity}, activityTypes(h))
	var out wire.AdvanceOutput
	for _, e := range h.GetEvents() {
		if done := e.GetActivityTaskCompletedEventAttributes(); done != nil {
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(done.GetResult(), &out))
		}
	}
	require.Equal(t, []int{2, 1, 1}, []int{out.Turns, out.Calls, len(out.Made)})
	require.Equal(t, "effect@1.0.0", out.Made[0].Tool)
	require.Equal(t, tool.StatusCompleted, out.Made[0].Status)
	requireReplays(t, h, "agentrun_in_place")

	calls := s.invocations(run.ID)
	require.Len(t, calls, 1)
	require.Equal(t, tool.StatusCompleted, calls[0].Status)
	requests, keys := c.count()
	require.Equal(t, []int{1, 1}, []int{requests, keys})
	requireAnswered(t, s, run.ID)
}

// An attempt in the fast lane that fails is the first of as many as the tool
// may have: the others are ordinary activities, with the same idempotency key.
func TestCallsInPlaceAreHandedOver(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	var n atomic.Int32
	c.answer = func(_ int, w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"ok":true}`))
	}
	s := newSite(t)
	s.publish("effect", httpTool(c.URL, tool.Execution{Idempotent: true, TimeoutSeconds: 5}), tool.Policy{
		EgressClass: tool.EgressReadOnly,
	})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})
	s.start(worker.Config{Allow: allow(c), Models: map[string]agent.Model{"test": callOnce("effect")}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)

	h := historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID())
	require.Equal(t, []string{wire.AdvanceActivity, wire.InvokeActivity(tool.HTTP), wire.AdvanceActivity},
		activityTypes(h))
	requireReplays(t, h, "agentrun_handed_over")

	calls := s.invocations(run.ID)
	require.Len(t, calls, 1)
	require.Equal(t, tool.StatusCompleted, calls[0].Status)
	require.Equal(t, 3, calls[0].Attempt)
	requests, keys := c.count()
	require.Equal(t, []int{3, 1}, []int{requests, keys})
}

// A tool that failed as often as it may has one end in the ledger, whichever
// lane it came in.
func TestLanesGiveUp(t *testing.T) {
	t.Parallel()

	for name, attempts := range map[string]int{"AtOnce": 1, "AfterTheOthers": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			c.answer = func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
			s := newSite(t)
			x := tool.Execution{Pure: true, TimeoutSeconds: 5, MaxAttempts: attempts}
			s.publish("effect", httpTool(c.URL, x), tool.Policy{EgressClass: tool.EgressReadOnly})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})
			s.start(worker.Config{Allow: allow(c), Models: map[string]agent.Model{"test": callOnce("effect")}})
			run, w := s.run(a, "go")
			_, err := s.wait(w)
			require.NoError(t, err)
			calls := s.invocations(run.ID)
			require.Len(t, calls, 1)
			require.Equal(t, tool.StatusFailed, calls[0].Status)
			require.Equal(t, tool.Unavailable, calls[0].ErrorKind)
			requests, _ := c.count()
			require.Equal(t, attempts, requests)
		})
	}
}

// summaries returns what events of a type say of themselves in the UI.
func summaries(t *testing.T, h *historypb.History, of enumspb.EventType) []string {
	t.Helper()
	var out []string
	for _, e := range h.GetEvents() {
		if e.GetEventType() != of {
			continue
		}
		var s string
		require.NoError(t, converter.GetDefaultDataConverter().FromPayload(e.GetUserMetadata().GetSummary(), &s))
		out = append(out, s)
	}
	return out
}

// activityTypes returns the types of the activities that were scheduled.
func activityTypes(h *historypb.History) []string {
	var out []string
	for _, e := range h.GetEvents() {
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			out = append(out, a.GetActivityType().GetName())
		}
	}
	return out
}
