package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
	"github.com/toolcrib/toolcrib/workflows/workflowstest"
)

// startSeveral starts a host's workflow that makes several calls at once.
func (s *site) startSeveral(all bool, arguments string, tools ...string) client.WorkflowRun {
	s.t.Helper()
	run, err := s.temporal.ExecuteWorkflow(s.t.Context(),
		client.StartWorkflowOptions{ID: "several/" + s.queue, TaskQueue: s.queue}, workflowstest.SeveralWorkflow,
		workflowstest.SeveralInput{Principal: s.principal, Tools: tools, All: all, Arguments: json.RawMessage(arguments)})
	require.NoError(s.t, err)
	return run
}

// calls returns the tenant's calls of several nodes, by their ids.
func (s *site) calls() map[string]tool.Invocation {
	s.t.Helper()
	list, err := s.ListInvocations(s.t.Context(), s.principal.Tenant, store.InvocationQuery{})
	require.NoError(s.t, err)
	out := make(map[string]tool.Invocation, len(list))
	for _, call := range list {
		out[call.CallID] = call
	}
	require.Len(s.t, out, len(list), "a call has two records")
	return out
}

// publishEffects publishes "effect", and a pure "other".
func (s *site) publishEffects(c *canary, x tool.Execution) {
	s.t.Helper()
	for name, x := range map[string]tool.Execution{"effect": x, "other": inPlacePurely} {
		s.publish(name, httpTool(c.URL, x), tool.Policy{EgressClass: tool.EgressReadOnly})
	}
}

// Short pure nodes are one marker, others one activity; each is a call of its own.
func TestSeveralNodes(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		all        bool
		x          tool.Execution
		tools      []string
		activities []string
		markers    int
		history    string
	}{
		"Sequence": {false, inPlacePurely, []string{"other", "effect", "other"}, nil, 2, "host_sequence"},
		"Effects": {
			false, onlyOnce, []string{"other", "effect", "effect"}, []string{wire.NodesActivity}, 1, "host_sequence_effects",
		},
		"Visible": {
			false, purely,
			[]string{"other", "effect", "other"},
			[]string{wire.InvokeActivity(tool.HTTP)},
			3,
			"host_sequence_visible",
		},
		"All": {true, inPlacePurely, []string{"other", "effect", "other"}, nil, 2, "host_all"},
		"AllEffects": {
			true, onlyOnce, []string{"other", "other", "effect", "other"}, []string{wire.NodesActivity}, 1, "host_all_effects",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			s := newSite(t)
			s.publishEffects(c, tt.x)
			t.Cleanup(s.host(worker.Config{Allow: allow(c)}, registerHosts))
			run := s.startSeveral(tt.all, `{}`, tt.tools...)
			var out workflowstest.SeveralOutput
			require.NoError(t, run.Get(t.Context(), &out))
			require.Len(t, out.Answers, len(tt.tools))
			requests, keys := c.count()
			require.Equal(t, []int{len(tt.tools), len(tt.tools)}, []int{requests, keys})
			calls := s.calls()
			require.Len(t, calls, len(tt.tools))
			for _, call := range calls {
				require.Equal(t, tool.StatusCompleted, call.Status)
			}
			h := historyOf(t.Context(), t, s.temporal, run.GetID(), run.GetRunID())
			require.Equal(t, tt.activities, activityTypes(h))
			require.Len(t, summaries(t, h, enumspb.EVENT_TYPE_MARKER_RECORDED), tt.markers)
			requireReplays(t, h, tt.history)
		})
	}
}

// A node whose tool fails once has its second attempt in the workflow, and those after it
// are made in place again.
func TestSeveralNodesAreRetried(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	c.answer = func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	s := newSite(t)
	s.publishEffects(c, inPlacePurely)
	t.Cleanup(s.host(worker.Config{Allow: allow(c)}, registerHosts))
	run := s.startSeveral(false, `{}`, "other", "effect", "other", "other")
	require.NoError(t, run.Get(t.Context(), nil))
	calls := s.calls()
	require.Equal(t, 2, calls["call/1"].Attempt)
	require.Equal(t, tool.StatusCompleted, calls["call/1"].Status)
	requests, keys := c.count()
	require.Equal(t, []int{5, 4}, []int{requests, keys})
	h := historyOf(t.Context(), t, s.temporal, run.GetID(), run.GetRunID())
	require.Equal(t, []string{wire.InvokeActivity(tool.HTTP)}, activityTypes(h))
	requireReplays(t, h, "host_sequence_retried")
}

// A node that gets no answer ends a sequence; what came before keeps its answer.
func TestSequenceStopsWhereANodeFails(t *testing.T) {
	t.Parallel()

	for name, all := range map[string]bool{"Sequence": false, "All": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			s := newSite(t)
			s.publishEffects(c, inPlacePurely)
			d := httpTool(c.URL, inPlacePurely)
			d.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
			s.publish("counted", d, tool.Policy{EgressClass: tool.EgressReadOnly})
			t.Cleanup(s.host(worker.Config{Allow: allow(c)}, registerHosts))
			run := s.startSeveral(all, `{}`, "other", "counted", "other")
			var out workflowstest.SeveralOutput
			err := run.Get(t.Context(), &out)
			calls := s.calls()
			require.Equal(t, tool.Invalid, calls["call/1"].ErrorKind)
			requests, _ := c.count()
			if all {
				require.NoError(t, err)
				require.Equal(t, []tool.Kind{"", tool.Invalid, ""}, out.Kinds)
				require.Equal(t, 2, requests)
				return
			}
			require.Equal(t, tool.Invalid, tool.KindOf(failure.Decode(err)))
			require.Equal(t, 1, requests)
			require.Len(t, calls, 2)
		})
	}
}

// A worker dies in the second of three calls. Another goes on: what was settled is not
// made again, and an effect is sent once at most.
func TestSeveralNodesSurviveKills(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		all      bool
		x        tool.Execution
		at       point
		requests int
		status   tool.InvocationStatus
	}{
		"PureBeforeAdmit":       {false, inPlacePurely, beforeAdmit, 3, tool.StatusCompleted},
		"PureAfterAdmit":        {false, inPlacePurely, afterAdmit, 3, tool.StatusCompleted},
		"PureAfterAnswer":       {false, inPlacePurely, afterAnswer, 4, tool.StatusCompleted},
		"PureAfterSettle":       {false, inPlacePurely, afterSettle, 3, tool.StatusCompleted},
		"IdempotentAfterAnswer": {false, inPlaceIdempotent, afterAnswer, 4, tool.StatusCompleted},
		"OnceAfterAdmit":        {false, onlyOnce, afterAdmit, 3, tool.StatusCompleted},
		"OnceAfterSent":         {false, onlyOnce, afterSent, 1, tool.StatusUnknown},
		"OnceAfterAnswer":       {false, onlyOnce, afterAnswer, 2, tool.StatusUnknown},
		"OnceAfterSettle":       {false, onlyOnce, afterSettle, 3, tool.StatusCompleted},
		"AllPureAfterSettle":    {true, inPlacePurely, afterSettle, 3, tool.StatusCompleted},
		"AllOnceAfterAnswer":    {true, onlyOnce, afterAnswer, 3, tool.StatusUnknown},
	} {
		for how, atOnce := range map[string]bool{"": false, "AtOnce": true} {
			t.Run(name+how, func(t *testing.T) {
				t.Parallel()

				c := newCanary(t)
				s := newSite(t)
				s.publishEffects(c, tt.x)
				first := s.child(c, tt.at, syscall.SIGKILL)
				first.AtOnce, first.Only = atOnce, "effect"
				killed := startChild(t, first)
				run := s.startSeveral(tt.all, `{}`, "other", "effect", "other")
				requireKilled(t, killed)
				next := s.child(c, "", 0)
				next.AtOnce = atOnce
				startChild(t, next)

				err := run.Get(t.Context(), nil)
				if tt.status == tool.StatusUnknown && !tt.all {
					require.Equal(t, tool.Unknown, tool.KindOf(failure.Decode(err)))
				} else {
					require.NoError(t, err)
				}
				calls := s.calls()
				require.Equal(t, tt.status, calls["call/1"].Status, calls["call/1"].Error)
				for id, call := range calls {
					require.True(t, call.Status.Final(), "%s is %s", id, call.Status)
				}
				requests, keys := c.count()
				want := tt.requests
				if atOnce && tt.at == beforeAdmit {
					want++ // The end of the call before it is in the same record.
				}
				if tt.all && tt.x.Pure { // Those beside it may have answered, and not been settled.
					require.GreaterOrEqual(t, requests, want)
				} else {
					require.Equal(t, want, requests)
				}
				require.LessOrEqual(t, keys, 3)
			})
		}
	}
}

// A worker that is frozen within a sequence, and wakes up when another has ended it,
// sends nothing and changes nothing.
func TestZombieOfASequence(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		x  tool.Execution
		at point
	}{
		"Pure": {inPlacePurely, afterAdmit},
		"Once": {onlyOnce, beforeSent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			s := newSite(t)
			s.publishEffects(c, tt.x)
			first := s.child(c, tt.at, syscall.SIGSTOP)
			first.AtOnce, first.Only = true, "effect"
			zombie := startChild(t, first)
			run := s.startSeveral(false, `{}`, "other", "effect", "other")
			requireStopped(t, zombie)
			next := s.child(c, "", 0)
			next.AtOnce = true
			startChild(t, next)
			require.NoError(t, run.Get(t.Context(), nil))
			settled := s.calls()
			before, _ := c.count()
			require.Equal(t, 3, before)
			require.NoError(t, zombie.Process.Signal(syscall.SIGCONT))
			require.Never(t, func() bool { now, _ := c.count(); return now != before }, 3*time.Second, 50*time.Millisecond)
			require.Equal(t, settled, s.calls(), "the zombie changed the record")
		})
	}
}

// A cancelled workflow settles the call in progress, and gets Temporal's cancellation.
func TestSeveralNodesAreCancelled(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		all     bool
		options []function.Option
		x       tool.Execution
		history string
	}{
		"Local":   {false, []function.Option{function.Pure()}, tool.Execution{Pure: true, TimeoutSeconds: 5}, ""},
		"Regular": {false, []function.Option{function.Pure()}, tool.Execution{Pure: true}, "host_sequence_cancelled"},
		"Once":    {false, nil, tool.Execution{}, ""},
		"All":     {true, nil, tool.Execution{}, "host_all_cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSite(t)
			functions := function.NewRegistry()
			var begun atomic.Int32
			require.NoError(t, function.Define(functions, "wait", "wait", func(ctx context.Context, in noteIn) (noteOut, error) {
				if begun.Add(1) == 1 {
					return noteOut(in), nil
				}
				<-ctx.Done()
				return noteOut{}, ctx.Err()
			}, tt.options...))
			s.publish("wait", functionTool("wait", tt.x), tool.Policy{})
			t.Cleanup(s.host(worker.Config{Functions: functions}, registerHosts))
			run := s.startSeveral(tt.all, `{"name":"x"}`, "wait", "wait", "wait")
			require.Eventually(t, func() bool { return begun.Load() == 2 }, time.Minute, 10*time.Millisecond)
			require.NoError(t, s.temporal.CancelWorkflow(t.Context(), run.GetID(), run.GetRunID()))
			err := run.Get(t.Context(), nil)
			var cancelled *temporal.CanceledError
			require.ErrorAs(t, err, &cancelled)
			calls := s.calls()
			require.Equal(t, tool.StatusCompleted, calls["call/0"].Status)
			require.True(t, slices.Contains([]tool.InvocationStatus{tool.StatusCancelled, tool.StatusUnknown},
				calls["call/1"].Status), calls["call/1"].Status)
			if tt.all {
				require.Equal(t, tool.StatusCancelled, calls["call/2"].Status)
			} else {
				require.Len(t, calls, 2)
			}
			require.EqualValues(t, 2, begun.Load())
			requireReplays(t, historyOf(t.Context(), t, s.temporal, run.GetID(), run.GetRunID()), tt.history)
		})
	}
}
