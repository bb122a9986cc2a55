package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// Calls of the visible lane that end at the same moment are all recorded: each is an
// activity of the workflow, and the run goes on in place.
func TestVisibleCallsEndAtOnce(t *testing.T) {
	t.Parallel()

	const width = 16
	s := newSite(t)
	var begun atomic.Int32
	together := make(chan struct{})
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "meet", "meet", func(ctx context.Context, in noteIn) (noteOut, error) {
		if begun.Add(1) == width {
			close(together)
		}
		select {
		case <-together:
			return noteOut(in), nil
		case <-ctx.Done():
			return noteOut{}, ctx.Err()
		}
	}, function.Pure()))
	d := functionTool("meet", tool.Execution{
		Pure: true, MaxConcurrency: width, Lane: tool.LaneVisible, TimeoutSeconds: 60,
	})
	d.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	s.publish("meet", d, tool.Policy{})
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", ToolMode: agent.ParallelSafe, Tools: refs(t, "meet"),
	})
	model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if req.Turn > 1 {
			return &agent.ModelResponse{Text: "done"}, nil
		}
		var calls []agent.Call
		for i := range width {
			calls = append(calls, call(fmt.Sprintf("c%d", i), "meet", noteIn{fmt.Sprint(i)}))
		}
		return &agent.ModelResponse{Calls: calls}, nil
	})
	s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": model}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	require.Len(t, s.invocations(run.ID), width)

	h := historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID())
	types := activityTypes(h)
	require.Len(t, types, width+2)
	require.Equal(t, []string{wire.AdvanceActivity, wire.AdvanceActivity}, []string{types[0], types[width+1]})
	requireReplays(t, h, "agentrun_visible")
}

// A worker that stops leaves a run between two of its steps: nothing fails, nothing is
// tried again, and another worker continues.
func TestStoppingWorkerHandsTheRunOver(t *testing.T) {
	t.Parallel()

	const turns = 30
	s := newSite(t)
	functions := greeter(t, s)
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", Tools: refs(t, "greet"), Limits: agent.Limits{MaxTurns: turns + 1},
	})
	var asked atomic.Int32
	model := agent.ModelFunc(func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		asked.Add(1)
		time.Sleep(20 * time.Millisecond)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if req.Turn > turns {
			return &agent.ModelResponse{Text: "done"}, nil
		}
		return &agent.ModelResponse{Calls: []agent.Call{call(fmt.Sprint(req.Turn), "greet", noteIn{"x"})}}, nil
	})
	start := func() (stop func()) {
		plugin, err := worker.New(t.Context(), worker.Config{
			Store: s.Store, Functions: functions, Models: map[string]agent.Model{"test": model},
		})
		require.NoError(t, err)
		c, err := dial(server.Address(), plugin)
		require.NoError(t, err)
		w := sdkworker.New(c, s.queue, sdkworker.Options{DisableRegistrationAliasing: true})
		require.NoError(t, w.Start())
		return func() {
			w.Stop()
			c.Close()
			require.NoError(t, plugin.Close())
		}
	}
	stop := start()
	run, w := s.run(a, "go")
	for range 3 { // Three deploys.
		from := asked.Load()
		require.Eventually(t, func() bool { return asked.Load() > from+3 }, time.Minute, time.Millisecond)
		next := start()
		stop()
		stop = next
	}
	defer func() { stop() }()
	out, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, turns+1, out.Turns)
	require.EqualValues(t, turns+1, asked.Load(), "no question was asked twice")
	for _, i := range s.invocations(run.ID) {
		require.Equal(t, tool.StatusCompleted, i.Status)
		require.Equal(t, 1, i.Attempt)
	}
	h := historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID())
	require.GreaterOrEqual(t, len(activityTypes(h)), 4)
	for _, e := range h.GetEvents() {
		require.NotEqual(t, enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED, e.GetEventType())
		require.NotEqual(t, enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, e.GetEventType())
		if started := e.GetActivityTaskStartedEventAttributes(); started != nil {
			require.EqualValues(t, 1, started.GetAttempt())
		}
	}
	requireReplays(t, h, "agentrun_deployed")
}
