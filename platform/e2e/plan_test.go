package e2e_test

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
	"github.com/toolcrib/toolcrib/workflows/workflowstest"
)

// startChain starts a host's workflow that calls a tool in a row.
func (s *site) startChain(in workflowstest.ChainInput) client.WorkflowRun {
	s.t.Helper()
	in.Principal = s.principal
	run, err := s.temporal.ExecuteWorkflow(s.t.Context(),
		client.StartWorkflowOptions{ID: "chain/" + s.queue, TaskQueue: s.queue}, workflowstest.ChainWorkflow, in)
	require.NoError(s.t, err)
	return run
}

// A host's plan is loaded once; its calls are a marker each, with their
// arguments coerced, on record, and each its own effect.
func TestHostPlan(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	s := newSite(t)
	d := httpTool(c.URL, tool.Execution{Pure: true, TimeoutSeconds: 5})
	d.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	s.publish("effect", d, tool.Policy{EgressClass: tool.EgressReadOnly})
	t.Cleanup(s.host(worker.Config{Allow: allow(c)}, registerHosts))
	run := s.startChain(workflowstest.ChainInput{Tool: "effect", Calls: 4, Arguments: json.RawMessage(`{"n":"7"}`)})
	var answers []json.RawMessage
	require.NoError(t, run.Get(t.Context(), &answers))
	require.Len(t, answers, 4)
	requests, keys := c.count()
	require.Equal(t, []int{4, 4}, []int{requests, keys})

	h := historyOf(t.Context(), t, s.temporal, run.GetID(), run.GetRunID())
	require.Empty(t, activityTypes(h))
	require.Len(t, summaries(t, h, enumspb.EVENT_TYPE_MARKER_RECORDED), 1+4, "the plan, and each call")
	requireReplays(t, h, "host_plan")

	calls, err := s.ListInvocations(t.Context(), s.principal.Tenant, store.InvocationQuery{Tool: "effect"})
	require.NoError(t, err)
	require.Len(t, calls, 4)
	for _, call := range calls {
		require.Equal(t, tool.StatusCompleted, call.Status)
		require.JSONEq(t, `{"n":7}`, string(call.Input), "the arguments were not coerced")
	}
}

// Arguments that cannot be coerced end the call before anything is sent, with
// the reason, in either lane and for a tool that must not be repeated.
func TestHostPlanRefusesBadArguments(t *testing.T) {
	t.Parallel()

	for name, x := range map[string]tool.Execution{"Fast": inPlacePurely, "Visible": purely, "Once": onlyOnce} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			s := newSite(t)
			d := httpTool(c.URL, x)
			d.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
			s.publish("effect", d, tool.Policy{EgressClass: tool.EgressReadOnly})
			t.Cleanup(s.host(worker.Config{Allow: allow(c)}, registerHosts))
			run := s.startChain(workflowstest.ChainInput{Tool: "effect", Calls: 1, Arguments: json.RawMessage(`{"n":"seven"}`)})
			err := run.Get(t.Context(), nil)
			require.Equal(t, tool.Invalid, tool.KindOf(failure.Decode(err)))
			require.ErrorContains(t, err, "/n")
			requests, _ := c.count()
			require.Zero(t, requests)
			calls, err := s.ListInvocations(t.Context(), s.principal.Tenant, store.InvocationQuery{Tool: "effect"})
			require.NoError(t, err)
			require.Len(t, calls, 1)
			require.Equal(t, tool.StatusFailed, calls[0].Status)
			require.Equal(t, tool.Invalid, calls[0].ErrorKind)
		})
	}
}

// A worker dies while it makes a call of a plan. Another goes on with the
// workflow, under the same effect, whose arguments were coerced twice.
func TestHostPlanSurvivesKills(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		x        tool.Execution
		at       point
		requests int
		kind     tool.Kind
	}{
		"FastAfterAnswer": {inPlacePurely, afterAnswer, 2, ""},
		"FastAfterSettle": {inPlacePurely, afterSettle, 1, ""},
		// An effect waits until the plan and the call are in the history.
		"IdempotentAfterAnswer": {inPlaceIdempotent, afterAnswer, 2, ""},
		"OnceAfterAdmit":        {onlyOnce, afterAdmit, 1, ""},
		"OnceAfterSent":         {onlyOnce, afterSent, 0, tool.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			s := newSite(t)
			d := httpTool(c.URL, tt.x)
			d.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
			s.publish("effect", d, tool.Policy{EgressClass: tool.EgressReadOnly})
			first := startChild(t, s.child(c, tt.at, syscall.SIGKILL))
			run := s.startChain(workflowstest.ChainInput{Tool: "effect", Calls: 1, Arguments: json.RawMessage(`{"n":"7"}`)})
			requireKilled(t, first)
			startChild(t, s.child(c, "", 0))
			if err := run.Get(t.Context(), nil); tt.kind == "" {
				require.NoError(t, err)
			} else {
				require.Equal(t, tt.kind, tool.KindOf(failure.Decode(err)))
			}
			requests, keys := c.count()
			require.Equal(t, tt.requests, requests)
			require.LessOrEqual(t, keys, 1)
			calls, err := s.ListInvocations(t.Context(), s.principal.Tenant, store.InvocationQuery{Tool: "effect"})
			require.NoError(t, err)
			require.Len(t, calls, 1)
			require.True(t, calls[0].Status.Final())
		})
	}
}

// The workflow settles what its worker could not. The effect that it closes is
// of the coerced arguments, and the call has one end.
func TestHostPlanSettlesForItsWorker(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	var sent atomic.Int32
	c.answer = func(_ int, _ http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		<-r.Context().Done()
	}
	s := newSite(t)
	d := httpTool(c.URL, tool.Execution{TimeoutSeconds: 60})
	d.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	s.publish("effect", d, tool.Policy{EgressClass: tool.EgressReadOnly})
	first := startChild(t, s.child(c, "", 0))
	run := s.startChain(workflowstest.ChainInput{Tool: "effect", Calls: 1, Arguments: json.RawMessage(`{"n":"7"}`)})
	require.Eventually(t, func() bool { return sent.Load() == 1 }, time.Minute, 20*time.Millisecond)
	require.NoError(t, first.Process.Kill())
	requireKilled(t, first)
	require.NoError(t, s.temporal.CancelWorkflow(t.Context(), run.GetID(), run.GetRunID()))
	startChild(t, s.child(c, "", 0))
	require.Error(t, run.Get(t.Context(), nil))
	calls, err := s.ListInvocations(t.Context(), s.principal.Tenant, store.InvocationQuery{Tool: "effect"})
	require.NoError(t, err)
	require.Len(t, calls, 1, "the effect and the call that settled it are one")
	require.True(t, calls[0].Status.Final())
	require.EqualValues(t, 1, sent.Load())
}

func registerHosts(r sdkworker.Registry) { workflowstest.Register(r) }
