package e2e_test

import (
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// A run that leaves nothing to the workflow is one local activity in the history, whose result
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
	out := firstAdvance(t, h)
	require.Equal(t, []int{2, 1, 1}, []int{out.Turns, out.Calls, len(out.Made)})
	require.Equal(t, "effect@1.0.0", out.Made[0].Tool)
	require.Equal(t, tool.StatusCompleted, out.Made[0].Status)
	requireReplays(t, h, "agentrun_inline")

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
	requireReplays(t, h, "agentrun_inline_handed_over")

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

// activityTypes returns the types of the activities that were scheduled, and that of the one
// which took a run's first steps in the workflow's own task.
func activityTypes(h *historypb.History) []string {
	var out []string
	for _, e := range h.GetEvents() {
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			out = append(out, a.GetActivityType().GetName())
		} else if inline(e) != nil {
			out = append(out, wire.AdvanceActivity)
		}
	}
	return out
}

// inline returns the result of the activity that took a run's first steps in the workflow's own
// task, if the event is its end, and there is one.
func inline(e *historypb.HistoryEvent) *commonpb.Payloads {
	details := e.GetMarkerRecordedEventAttributes().GetDetails()
	var about struct{ ActivityType string }
	if converter.GetDefaultDataConverter().FromPayloads(details["data"], &about) != nil ||
		about.ActivityType != wire.AdvanceActivity {
		return nil
	}
	return details["result"]
}

// advances returns how far each activity of a history took its run, by the event of its end.
func advances(t *testing.T, h *historypb.History) map[int64]wire.AdvanceOutput {
	t.Helper()
	ours, ends := map[int64]bool{}, map[int64]wire.AdvanceOutput{}
	for _, e := range h.GetEvents() {
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			ours[e.GetEventId()] = a.GetActivityType().GetName() == wire.AdvanceActivity
		}
		result := inline(e)
		if done := e.GetActivityTaskCompletedEventAttributes(); done != nil && ours[done.GetScheduledEventId()] {
			result = done.GetResult()
		}
		if result != nil {
			var out wire.AdvanceOutput
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(result, &out))
			ends[e.GetEventId()] = out
		}
	}
	return ends
}

// firstAdvance returns how far the first activity of a history took its run.
func firstAdvance(t *testing.T, h *historypb.History) wire.AdvanceOutput {
	t.Helper()
	ends := advances(t, h)
	require.NotEmpty(t, ends)
	return ends[slices.Min(slices.Collect(maps.Keys(ends)))]
}
