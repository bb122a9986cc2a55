package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
	"github.com/toolcrib/toolcrib/workflows"
)

// Markers that tests plant, and that no history may show.
const (
	plantedArgument = "marker-of-an-argument"
	plantedResult   = "marker-of-a-result"
	plantedFailure  = "marker-of-a-failure"
	plantedPanic    = "marker-of-a-panic"
)

func newPayloadKeys(t *testing.T, keys ...string) *payload.Keyring {
	t.Helper()
	ring, err := payload.ParseKeys(strings.Join(keys, ","))
	require.NoError(t, err)
	return ring
}

// histories returns those of all executions of the site's queue.
func (s *site) histories() map[string]*historypb.History {
	s.t.Helper()
	out := map[string]*historypb.History{}
	require.Eventually(s.t, func() bool {
		page, err := s.temporal.ListWorkflow(s.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: embedded.DefaultNamespace, Query: "TaskQueue = '" + s.queue + "'",
		})
		require.NoError(s.t, err)
		for _, w := range page.GetExecutions() {
			if w.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
				return false // Closed in the meantime, but not in the list yet.
			}
			out[w.GetExecution().GetRunId()] = historyOf(
				s.t.Context(), s.t, s.temporal, w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId())
		}
		return true
	}, time.Minute, 100*time.Millisecond)
	return out
}

// requireSealed fails where a history shows a marker, or what only a payload has, and returns the ids
// of the keys that it has.
func requireSealed(t *testing.T, h *historypb.History, markers ...string) map[string]int {
	t.Helper()
	raw, err := proto.Marshal(h)
	require.NoError(t, err)
	for _, marker := range append(markers, "json/plain", "goroutine ", "binary/null") {
		require.NotContains(t, string(raw), marker)
	}
	keys := map[string]int{}
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, v := range value {
				walk(v)
			}
		case map[string]any:
			if fields, ok := value["metadata"].(map[string]any); ok {
				text, ok := fields[payload.KeyField].(string)
				require.True(t, ok, "a payload without encryption: %v", value)
				keys[text]++
			}
			for _, v := range value {
				walk(v)
			}
		}
	}
	var document any
	require.NoError(t, json.Unmarshal(historyJSON(t, h), &document))
	walk(document)
	return keys
}

// Nothing that tools, agents and people say is readable in any history of a run: neither in its own,
// nor in those of its calls and graphs. The histories replay, and the record is the same as without.
func TestPayloadsAreEncrypted(t *testing.T) {
	t.Parallel()

	for _, lane := range []tool.Lane{tool.LaneVisible, tool.LaneAuto} {
		t.Run(string(lane), func(t *testing.T) {
			t.Parallel()

			keys := newPayloadKeys(t, payload.GenerateKey())
			s := newSiteWith(t, keys)
			c := &counter{site: s, runs: s.service(s.temporal)}
			c.answer = (&office{site: s}).key("executor", wait.SubmitPermission)
			functions := function.NewRegistry()
			require.NoError(t, function.Define(functions, "greet", "Greets.",
				func(context.Context, noteIn) (noteOut, error) { return noteOut{plantedResult}, nil }, function.Pure()))
			require.NoError(t, function.Define(functions, "refuse", "Refuses.",
				func(context.Context, noteIn) (noteOut, error) {
					return noteOut{}, &tool.Error{Kind: tool.Unavailable, Msg: plantedFailure, Sent: true, Answered: true}
				}, function.Pure()))
			require.NoError(t, function.Define(functions, "panics", "Panics.",
				func(context.Context, noteIn) (noteOut, error) { panic(plantedPanic) }))
			for _, name := range []string{"greet", "refuse", "panics"} {
				d := functionTool(name, tool.Execution{Lane: lane, Pure: name != "panics", MaxAttempts: 2})
				d.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
				s.publish(name, d, tool.Policy{})
			}
			s.publish("awaitSignal", builtin("awaitSignal"), tool.Policy{})
			s.publish("chart", graphTool(`{"nodes":[
				{"id":"one","kind":"tool","tool":"greet","arguments":{"name":{"$from":"/input/name"}}},
				{"id":"nudge","kind":"wait","signal":"go","timeout_s":600},
				{"id":"two","kind":"tool","tool":"refuse","arguments":{"name":"x"},"on_error":"continue"}],
				"output":{"said":{"$from":"/nodes/one/result/name"},"nudged":{"$from":"/nodes/nudge/result"}}}`,
				tool.Execution{TimeoutSeconds: 600}), tool.Policy{})
			a := s.publishAgent(agent.Definition{
				Name: "Desk", Model: "test/x", Tools: refs(t, "greet", "refuse", "panics", "chart"),
			})
			calls := json.RawMessage(`{"name":"` + plantedArgument + `"}`)
			s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": agent.ModelFunc(
				func(_ context.Context, in *agent.ModelRequest) (*agent.ModelResponse, error) {
					asked := []string{"greet", "refuse", "panics", "chart"}
					said := 0
					for _, m := range in.Messages {
						if m.Role == agent.RoleAssistant {
							said++
						}
					}
					if said < len(asked) {
						return &agent.ModelResponse{Calls: []agent.Call{{ID: "c", Name: asked[said], Arguments: calls}}}, nil
					}
					return &agent.ModelResponse{Text: plantedResult}, nil
				})}})
			run, w := s.run(a, plantedArgument)
			called := c.waiting(1)[0]
			_, err := c.submit(called.ID, `{"n":"`+plantedResult+`"}`)
			require.NoError(t, err)
			out, err := s.wait(w)
			require.NoError(t, err)
			require.Equal(t, plantedResult, out.Answer)
			ends := map[string]tool.Invocation{}
			for _, i := range s.invocations(run.ID) {
				ends[i.Slug] = i
			}
			require.Equal(t, tool.StatusCompleted, ends["chart"].Status, ends["chart"].Error)
			require.Equal(t, []any{tool.StatusFailed, tool.Unavailable}, []any{ends["refuse"].Status, ends["refuse"].ErrorKind})
			require.Contains(t, ends["refuse"].Error, plantedFailure, "the record has what the history hides")
			require.NotEqual(t, tool.StatusCompleted, ends["panics"].Status)

			single, err := s.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
				ID: wire.RunWorkflowID(s.principal.Tenant, newID(t)), TaskQueue: s.queue,
				StaticSummary: plantedArgument, Memo: map[string]any{"about": plantedArgument},
			}, wire.ToolCallWorkflow, wire.NewToolCall(s.principal, newID(t),
				wire.Node{ID: "call", Tool: refs(t, "refuse")[0], Arguments: calls, Mode: tool.Production}))
			require.NoError(t, err)
			e := tool.AsError(failure.Decode(single.Get(t.Context(), nil)))
			require.Equal(t, []any{tool.Unavailable, plantedFailure}, []any{e.Kind, e.Msg})

			all := s.histories()
			require.GreaterOrEqual(t, len(all), 3, "the run, its graph and the single call")
			replayer := newReplayer(t, keys)
			total := 0
			for _, h := range all {
				used := requireSealed(t, h, plantedArgument, plantedResult, plantedFailure, plantedPanic)
				require.Len(t, used, 1)
				for _, n := range used {
					total += n
				}
				for range replays {
					require.NoError(t, replayer.ReplayWorkflowHistory(nil, h))
				}
				require.Error(t, newReplayer(t, nil).ReplayWorkflowHistory(nil, h), "without the key")
			}
			require.Greater(t, total, 15)
		})
	}
}

// A new key takes over in the middle of a run that continues as new, and the old one goes when the run
// is over. A worker that lacks a key refuses to start, and one that started anyway loses no run.
func TestPayloadKeysRotate(t *testing.T) {
	t.Parallel()

	old, next := payload.GenerateKey(), payload.GenerateKey()
	s := newSiteWith(t, newPayloadKeys(t, old))
	c := &counter{site: s, runs: s.service(s.temporal)}
	c.answer = (&office{site: s}).key("executor", wait.SubmitPermission)
	s.publish("ask", outsideTool(600, tool.Interaction{}), tool.Policy{})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "ask")})
	var turns atomic.Int64
	models := map[string]agent.Model{"test": agent.ModelFunc(
		func(_ context.Context, in *agent.ModelRequest) (*agent.ModelResponse, error) {
			turns.Add(1)
			said := 0
			for _, m := range in.Messages {
				if m.Role == agent.RoleAssistant {
					said++
				}
			}
			if said < 2 {
				return &agent.ModelResponse{Calls: []agent.Call{{ID: "c", Name: "ask", Arguments: json.RawMessage(`{}`)}}}, nil
			}
			return &agent.ModelResponse{Text: "done"}, nil
		})}
	stop := s.startStoppable(worker.Config{Models: models})
	run, err := c.runs.Start(t.Context(), runs.NewRun{
		Principal: s.principal, Agent: a.Slug, Input: json.RawMessage(`"` + plantedArgument + `"`),
	})
	require.NoError(t, err)
	w := s.temporal.GetWorkflow(t.Context(), run.WorkflowID, "")
	first := c.waiting(1)[0]
	stop()

	oldID := newPayloadKeys(t, old).IDs()[0]
	s.requireKeyUse([]string{old}, oldID, "encrypts", "ok")
	s.requireKeyUse([]string{next, old}, oldID, "decrypts", "ok")
	s.requireKeyUse([]string{next}, oldID, "missing", "fail")

	// Without the key the platform's worker does not start; a host's fails the run's tasks, not the run.
	for _, wrong := range []*payload.Keyring{nil, newPayloadKeys(t, next)} {
		require.Eventually(t, func() bool {
			_, err := serve.StartWorker(t.Context(), serve.WorkerConfig{
				Plugin: worker.Config{Store: s.Store, PayloadKeys: wrong}, TaskQueue: s.queue, Environ: []string{},
				Temporal: client.Options{HostPort: server.Address(), Namespace: embedded.DefaultNamespace, Logger: quietTemporal()},
			})
			return err != nil && tool.KindOf(err) == tool.Unavailable &&
				strings.Contains(err.Error(), newPayloadKeys(t, old).IDs()[0])
		}, time.Minute, 200*time.Millisecond)
	}
	lacking := s.startStoppable(worker.Config{Models: models, PayloadKeys: newPayloadKeys(t, next)})
	_, err = c.submit(first.ID, `{"n":1}`)
	require.NoError(t, err, "the answer is recorded, and reaches the run later")
	require.Eventually(t, func() bool {
		_, _ = c.runs.Deliver(t.Context(), 10) // As a server does, where the first Update was lost.
		for _, e := range historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()).GetEvents() {
			if e.GetWorkflowTaskFailedEventAttributes() != nil {
				return true
			}
		}
		return false
	}, 3*time.Minute, 100*time.Millisecond) // Who delivers it first may hold it for a while.
	lacking()
	described, err := s.temporal.DescribeWorkflowExecution(t.Context(), w.GetID(), "")
	require.NoError(t, err)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, described.GetWorkflowExecutionInfo().GetStatus())

	// With both keys, the new one first, the run goes on.
	both := newPayloadKeys(t, next, old)
	s.payloads = both
	rotated, err := dialWith(server.Address(), both)
	require.NoError(t, err)
	t.Cleanup(rotated.Close)
	s.temporal = rotated
	c.runs = s.service(rotated)
	s.start(worker.Config{Models: models})
	second := first
	require.Eventually(t, func() bool {
		_, err := c.runs.Deliver(t.Context(), 10)
		require.NoError(t, err)
		second = c.waiting(1)[0]
		return second.ID != first.ID
	}, time.Minute, 200*time.Millisecond)
	_, err = c.submit(second.ID, `{"n":2}`)
	require.NoError(t, err)
	out, err := s.wait(s.temporal.GetWorkflow(t.Context(), w.GetID(), ""))
	require.NoError(t, err)
	require.Equal(t, "done", out.Answer)
	require.Len(t, s.invocations(run.ID), 2)

	h := historyOf(t.Context(), t, rotated, w.GetID(), w.GetRunID())
	used := requireSealed(t, h, plantedArgument)
	require.Len(t, used, 2, "payloads of both keys")
	replayer := newReplayer(t, both)
	for range replays {
		require.NoError(t, replayer.ReplayWorkflowHistory(nil, h))
	}
}

// A host's workflow is encrypted by the platform's key, and so is what it continues as new with; the
// failure of a tool that it returns keeps its kind. Its own data converter stays in use.
func TestHostsPayloadsAreEncrypted(t *testing.T) {
	t.Parallel()

	s := newSiteWith(t, newPayloadKeys(t, payload.GenerateKey()))
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "refuse", "Refuses.",
		func(context.Context, noteIn) (noteOut, error) {
			return noteOut{}, &tool.Error{Kind: tool.RateLimited, Msg: plantedFailure, Sent: true, Answered: true}
		}, function.Pure()))
	d := functionTool("refuse", tool.Execution{Pure: true, MaxAttempts: 1})
	d.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	s.publish("refuse", d, tool.Policy{})
	continues := func(ctx workflow.Context, text string, left int) (string, error) {
		_, err := workflows.Execute(ctx, workflows.Node{
			ID: "call", Principal: s.principal, Tool: "refuse",
			Arguments: map[string]any{"name": plantedArgument},
		})
		if left == 0 {
			return "", err
		}
		return "", workflow.NewContinueAsNewError(ctx, "continues", text, left-1)
	}
	t.Cleanup(s.host(worker.Config{Functions: functions, PayloadKeys: s.payloads}, func(r sdkworker.Registry) {
		r.RegisterWorkflowWithOptions(continues, workflow.RegisterOptions{Name: "continues"})
	}))
	w, err := s.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "orders/" + s.queue, TaskQueue: s.queue, Memo: map[string]any{"about": plantedArgument},
	}, "continues", plantedResult, 1)
	require.NoError(t, err)
	e := tool.AsError(failure.Decode(w.Get(t.Context(), nil)))
	require.Equal(t, []any{tool.RateLimited, plantedFailure}, []any{e.Kind, e.Msg})
	all := s.histories()
	require.Len(t, all, 2)
	replayer := newReplayer(t, s.payloads)
	replayer.RegisterWorkflowWithOptions(continues, workflow.RegisterOptions{Name: "continues"})
	for _, h := range all {
		requireSealed(t, h, plantedArgument, plantedResult, plantedFailure)
		require.NotContains(t, string(historyJSON(t, h)), payload.TenantField, "the platform's key")
		for range replays {
			require.NoError(t, replayer.ReplayWorkflowHistory(nil, h))
		}
	}
}
