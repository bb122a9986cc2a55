package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// halted is a site whose run makes two calls of an upstream, one after the other. The first is
// answered when the test says so.
type halted struct {
	*site
	canary  *canary
	began   chan struct{}
	answer  chan struct{}
	service *runs.Service
	learned learned
}

func newHalted(t *testing.T, x tool.Execution) *halted {
	t.Helper()
	h := &halted{site: newSite(t), canary: newCanary(t), began: make(chan struct{}), answer: make(chan struct{})}
	h.service = h.site.service(h.temporal)
	h.canary.answer = func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			h.began <- struct{}{}
			select {
			case <-h.answer:
			case <-r.Context().Done():
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"ok":true}`))
	}
	h.publish("effect", httpTool(h.canary.URL, x), tool.Policy{EgressClass: tool.EgressReadOnly})
	return h
}

// work starts a worker process.
func (h *halted) work() (kill func()) {
	h.t.Helper()
	cfg := h.child(h.canary, "", 0)
	cfg.Calls = 2
	cmd := startChildTo(h.t, cfg, &h.learned)
	return func() {
		h.t.Helper()
		require.NoError(h.t, cmd.Process.Kill())
		requireKilled(h.t, cmd)
	}
}

// begin begins a run of a kind, and returns it with the workflow that makes its calls.
func (h *halted) begin(kind string) (runID string, w client.WorkflowRun, calling string) {
	h.t.Helper()
	switch kind {
	case "Agent", "AgentRegular":
		h.regular = kind == "AgentRegular"
		run, w := h.run(h.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(h.t, "effect")}), "go")
		return run.ID, w, w.GetID()
	case "Composition":
		h.publish("both", composition(`{"steps":[
			{"id":"first","tool":"effect","arguments":{"q":"1"},"on_error":"continue"},
			{"id":"second","tool":"effect","arguments":{"q":"2"}}],"output":"over"}`, tool.Execution{}), tool.Policy{})
	case "Graph", "GraphInPlace":
		lane := map[string]tool.Lane{"Graph": tool.LaneAuto, "GraphInPlace": tool.LaneFast}[kind]
		h.publish("both", graphTool(`{"nodes":[{"id":"each","kind":"map","over":["1","2"],"concurrency":1,"tolerate":1,"nodes":[
			{"id":"one","kind":"tool","tool":"effect","arguments":{"q":{"$from":"/item"}}}]}]}`,
			tool.Execution{Lane: lane}), tool.Policy{})
	}
	w, runID = (&everySite{&counter{site: h.site}}).beginCall("both", `{"name":"x"}`)
	return runID, w, ""
}

// A worker process is killed while a run is paused: in the middle of a call, or when nothing is in
// progress. Another worker begins nothing, until the run is resumed; then it goes on to its end. No
// call is sent twice, also where the first one was lost with the worker.
func TestKilledWorkerWhilePaused(t *testing.T) {
	t.Parallel()

	hidden := tool.Execution{TimeoutSeconds: 60, MaxAttempts: 10}
	visible := hidden
	visible.Lane = tool.LaneVisible
	for name, tt := range map[string]struct {
		kind string
		x    tool.Execution
	}{
		"Agent": {"Agent", hidden}, "AgentRegular": {"AgentRegular", hidden}, "AgentVisible": {"Agent", visible},
		"Composition": {"Composition", hidden}, "CompositionVisible": {"Composition", visible},
		"Graph": {"Graph", visible}, "GraphInPlace": {"GraphInPlace", hidden},
	} {
		for when, inCall := range map[string]bool{"InCall": true, "AtRest": false} {
			t.Run(name+when, func(t *testing.T) {
				t.Parallel()

				h := newHalted(t, tt.x)
				kill := h.work()
				run, w, calling := h.begin(tt.kind)
				<-h.began
				if calling == "" {
					calling = h.calling(w.GetID(), run, tt.kind)
				}
				request := runs.PauseRequest{Principal: h.principal, RunID: run}
				paused, err := h.service.Pause(t.Context(), request)
				require.NoError(t, err)
				h.learned.await(t, run, paused.PauseRound)
				h.heard(calling, paused.PauseRound)
				if !inCall {
					close(h.answer)
					h.still(calling)
				}
				kill()
				if inCall {
					h.work()
					h.still(calling)
				}
				h.requireSent(1)
				_, err = h.service.Resume(t.Context(), request)
				require.NoError(t, err)
				if !inCall {
					h.work()
				}
				require.NoError(t, w.Get(t.Context(), nil))
				h.requireSent(2)
				lost := 0
				for _, called := range h.invocations(run) {
					require.True(t, called.Status.Final(), called.CallID)
					if called.Status == tool.StatusUnknown {
						lost++
					}
				}
				require.Equal(t, inCall, lost == 1, "%d calls were lost", lost)
				requireReplays(t, historyOf(t.Context(), t, h.temporal, calling, ""), "")
			})
		}
	}
}

// calling returns the workflow that makes the calls of a single call's run.
func (h *halted) calling(workflowID, run, kind string) string {
	h.t.Helper()
	if kind == "Composition" {
		return workflowID
	}
	whole := h.invocations(run)[0]
	return wire.NamedWorkflowID(wire.SegmentOf(workflowID, h.principal.Tenant), whole.Slug, whole.InvocationID)
}

// requireSent checks that so many requests came, each for a call of its own.
func (h *halted) requireSent(n int) {
	h.t.Helper()
	requests, keys := h.canary.count()
	require.Equal(h.t, n, requests)
	require.Equal(h.t, n, keys)
}

// still waits until a workflow has nothing in progress: only a message takes it on.
func (s *site) still(workflowID string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		found, err := s.temporal.DescribeWorkflowExecution(s.t.Context(), workflowID, "")
		require.NoError(s.t, err)
		return len(found.GetPendingActivities()) == 0 && found.GetPendingWorkflowTask() == nil
	}, 2*time.Minute, 20*time.Millisecond)
}
