package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// composition defines a tool of steps.
func composition(config string, x tool.Execution) tool.Definition {
	return tool.Definition{
		Name: "composition", Implementation: tool.Composition, Execution: x, Config: json.RawMessage(config),
		InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`),
	}
}

const inOrder = `{
  "steps": [
    {"id": "first", "tool": "greet", "arguments": {"name": {"$from": "/input/name"}}},
    {"id": "second", "tool": "greet", "arguments": {"name": {"$from": "/steps/first/result/name"}}}
  ],
  "output": {"greeting": {"$from": "/steps/second/result/name"}}
}`

type composed struct {
	Status string `json:"status"`
	Steps  []struct {
		ID           string                `json:"id"`
		Tool         string                `json:"tool"`
		Status       tool.InvocationStatus `json:"status"`
		InvocationID string                `json:"invocation_id"`
		IsError      bool                  `json:"is_error"`
	} `json:"steps"`
	Output json.RawMessage `json:"output"`
	Error  *struct {
		Kind    tool.Kind `json:"kind"`
		Message string    `json:"message"`
	} `json:"error"`
}

func composedOf(t *testing.T, r *tool.Result) composed {
	t.Helper()
	var out composed
	require.NoError(t, json.Unmarshal(r.Structured, &out))
	return out
}

// greeter registers the functions of these tests, and publishes tools of them.
func greeter(t *testing.T, s *site) *function.Registry {
	t.Helper()
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "greet", "greet", func(_ context.Context, in noteIn) (noteOut, error) {
		return noteOut{Name: "hello " + in.Name}, nil
	}, function.Pure()))
	require.NoError(t, function.Define(functions, "refuse", "refuse", func(context.Context, noteIn) (noteOut, error) {
		return noteOut{}, errors.New("nobody is here")
	}))
	require.NoError(t, function.Define(functions, "wait", "wait", func(ctx context.Context, _ noteIn) (noteOut, error) {
		<-ctx.Done()
		return noteOut{}, ctx.Err()
	}))
	for _, name := range []string{"greet", "refuse", "wait"} {
		d := functionTool(name, tool.Execution{Pure: name == "greet"})
		d.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
		s.publish(name, d, tool.Policy{})
	}
	return functions
}

// The steps of a composition are calls of their own: pinned, recorded as parts
// of it, bound to what was before them, and given together as one answer.
func TestCompositionRunsItsSteps(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := greeter(t, s)
	s.publish("greetTwice", composition(inOrder, tool.Execution{}), tool.Policy{})
	nested := `{"steps":[{"id":"inner","tool":"greetTwice","arguments":{"name":{"$from":"/input/name"}}}],
		"output":{"$from":"/steps/inner/result/output/greeting"}}`
	s.publish("greetOnceMore", composition(nested, tool.Execution{}), tool.Policy{})
	s.start(worker.Config{
		Functions: functions,
		Models:    map[string]agent.Model{"test": play([]agent.Call{call("c1", "greetTwice", noteIn{"Ada"})})},
	})

	w, id, result, err := s.toolCall("greetTwice", `{"name":"Ada"}`)
	require.NoError(t, err)
	require.False(t, result.IsError, result.Content)
	out := composedOf(t, result)
	require.Equal(t, "completed", out.Status)
	require.JSONEq(t, `{"greeting":"hello hello Ada"}`, string(out.Output))
	calls := s.invocations(id)
	require.Len(t, calls, 3)
	whole := calls[0]
	require.Equal(t, "greetTwice", whole.Slug)
	require.Empty(t, whole.ParentID)
	for i, step := range calls[1:] {
		require.Equal(t, whole.InvocationID, step.ParentID)
		require.Equal(t, out.Steps[i].InvocationID, step.InvocationID)
		require.Equal(t, "call/"+out.Steps[i].ID, step.CallID)
		require.Equal(t, tool.StatusCompleted, step.Status)
	}
	require.JSONEq(t, `{"name":"hello Ada"}`, string(calls[2].Input))
	parts, err := s.ListInvocations(t.Context(), s.principal.Tenant, store.InvocationQuery{Parent: whole.InvocationID})
	require.NoError(t, err)
	require.Len(t, parts, 2)
	requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "composition")

	_, id, result, err = s.toolCall("greetOnceMore", `{"name":"Ada"}`)
	require.NoError(t, err)
	require.JSONEq(t, `"hello hello Ada"`, string(composedOf(t, result).Output))
	require.Len(t, s.invocations(id), 4)

	run, started := s.run(s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "greetTwice")}),
		"go")
	ended, err := s.wait(started)
	require.NoError(t, err)
	require.Equal(t, 3, ended.Calls, "steps are calls")
	requireAnswered(t, s, run.ID)
	requireReplays(t, historyOf(t.Context(), t, s.temporal, started.GetID(), started.GetRunID()), "composition_run")
}

// A step that fails ends the composition, which says what was done, what failed
// and what was not run; one that may fail does not.
func TestCompositionTellsWhatWasDone(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := greeter(t, s)
	s.start(worker.Config{Functions: functions})
	steps := func(onError string) string {
		return `{"steps":[
			{"id":"one","tool":"greet","arguments":{"name":"a"}},
			{"id":"two","tool":"refuse","arguments":{"name":"b"},"on_error":"` + onError + `"},
			{"id":"three","tool":"greet","arguments":{"name":{"$from":"/steps/two/text"}}}],
			"output":{"$from":"/steps/three/result/name"}}`
	}
	s.publish("stops", composition(steps("stop"), tool.Execution{}), tool.Policy{})
	s.publish("goesOn", composition(steps("continue"), tool.Execution{}), tool.Policy{})

	_, id, result, err := s.toolCall("stops", `{"name":"x"}`)
	require.NoError(t, err)
	require.True(t, result.IsError)
	out := composedOf(t, result)
	require.Equal(t, "partial", out.Status)
	require.Equal(t, []tool.InvocationStatus{tool.StatusCompleted, tool.StatusCompleted, "not_run"},
		[]tool.InvocationStatus{out.Steps[0].Status, out.Steps[1].Status, out.Steps[2].Status})
	require.True(t, out.Steps[1].IsError)
	require.Contains(t, result.Content[0].Text, "nobody is here")
	require.Contains(t, result.Content[0].Text, "three")
	require.Len(t, s.invocations(id), 3)

	_, _, result, err = s.toolCall("goesOn", `{"name":"x"}`)
	require.NoError(t, err)
	require.False(t, result.IsError, result.Content)
	require.JSONEq(t, `"hello nobody is here"`, string(composedOf(t, result).Output))

	// A step that cannot be called is refused, and reported as a failed step.
	s.publish(
		"guarded",
		composition(
			`{"steps":[{"id":"one","tool":"greet","arguments":{"name":"a"}},{"id":"two","tool":"greet","arguments":{"name":{"$from":"/steps/one/result/missing"}}}]}`,
			tool.Execution{},
		),
		tool.Policy{},
	)
	_, id, result, err = s.toolCall("guarded", `{"name":"x"}`)
	require.NoError(t, err)
	require.True(t, result.IsError)
	calls := s.invocations(id)
	require.Equal(t, tool.StatusFailed, calls[2].Status)
	require.Equal(t, tool.Invalid, calls[2].ErrorKind)
	require.Contains(t, calls[2].Error, "/steps/one/result/missing")

	// One that does not end in the composition's time is stopped.
	s.publish("late", composition(`{"steps":[{"id":"one","tool":"greet","arguments":{"name":"a"}},{"id":"two","tool":"wait","arguments":{"name":"b"}}]}`,
		tool.Execution{TimeoutSeconds: 20}), tool.Policy{}) // Time enough for the first on a busy machine.
	w, id, _, err := s.toolCall("late", `{"name":"x"}`)
	require.Error(t, err)
	calls = s.invocations(id)
	require.Equal(t, tool.Timeout, calls[0].ErrorKind, calls[0].Error)
	require.Contains(t, calls[0].Error, "one (greet@1.0.0)")
	require.Equal(t, tool.StatusCancelled, calls[2].Status)
	requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "composition_late")
}

// Authority is asked for each step: one that was disabled meanwhile is refused,
// though the plan pins it.
func TestCompositionAsksForEachStep(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := greeter(t, s)
	var stop atomic.Pointer[func()]
	require.NoError(t, function.Define(functions, "stopper", "stopper", func(context.Context, struct{}) (noteOut, error) {
		(*stop.Load())()
		return noteOut{Name: "x"}, nil
	}))
	s.publish("stopper", functionTool("stopper", tool.Execution{}), tool.Policy{})
	s.publish(
		"both",
		composition(`{"steps":[{"id":"one","tool":"stopper"},{"id":"two","tool":"greet","arguments":{"name":"b"}}]}`,
			tool.Execution{}),
		tool.Policy{},
	)
	disable := func() {
		greet, err := s.FindTool(t.Context(), s.principal.Tenant, refs(t, "greet")[0])
		if err == nil {
			greet.Status = tool.Disabled
			_, err = s.UpdateTool(t.Context(), greet)
		}
		if err != nil {
			t.Error(err)
		}
	}
	stop.Store(&disable)
	s.start(worker.Config{Functions: functions})
	_, id, result, err := s.toolCall("both", `{"name":"x"}`)
	require.NoError(t, err)
	require.True(t, result.IsError)
	calls := s.invocations(id)
	require.Equal(t, tool.Conflict, calls[2].ErrorKind)
	require.Contains(t, calls[2].Error, "disabled")
}

// A composition goes on after the worker that was at one of its steps was
// killed: what was done is not done again.
func TestCompositionOutlivesItsWorker(t *testing.T) {
	t.Parallel()

	for name, at := range map[string]struct {
		point point
		only  string
		x     tool.Execution
		keys  int
	}{
		"OpeningIt":       {afterAdmit, "both", inPlaceIdempotent, 2},
		"InAStep":         {afterSent, "", inPlaceIdempotent, 2},
		"InAStepOnce":     {afterSent, "", onlyOnce, 0}, // It is unknown whether it was sent, so nothing follows.
		"BetweenItsCalls": {afterSettle, "effect", inPlaceIdempotent, 2},
		"ClosingIt":       {afterSettle, "both", inPlaceIdempotent, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			s := newSite(t)
			s.publish("effect", httpTool(c.URL, at.x), tool.Policy{EgressClass: tool.EgressReadOnly})
			s.publish("both", composition(`{"steps":[
				{"id":"one","tool":"effect","arguments":{"q":{"$from":"/input/name"}}},
				{"id":"two","tool":"effect","arguments":{"q":{"$from":"/steps/one/text"}}}]}`, tool.Execution{}), tool.Policy{})
			first := s.child(c, at.point, syscall.SIGKILL)
			first.Only = at.only
			cmd := startChild(t, first)
			ended := make(chan *tool.Result, 1)
			go func() {
				_, _, result, err := s.toolCall("both", `{"name":"x"}`)
				if err != nil {
					t.Error(err)
				}
				ended <- result
			}()
			requireKilled(t, cmd)
			startChild(t, s.child(c, "", 0))
			select {
			case result := <-ended:
				out := composedOf(t, result)
				if at.keys == 0 {
					require.True(t, result.IsError)
					require.Equal(t, tool.StatusUnknown, out.Steps[0].Status)
					require.EqualValues(t, "not_run", out.Steps[1].Status)
					break
				}
				require.False(t, result.IsError, result.Content)
				require.Equal(t, "completed", out.Status)
			case <-time.After(2 * time.Minute):
				require.Fail(t, "the composition did not end")
			}
			_, keys := c.count()
			require.Equal(t, at.keys, keys, strings.Join(c.requests, " "))
		})
	}
}
