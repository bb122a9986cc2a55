package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

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
	meet := func(ctx context.Context, in noteIn) (noteOut, error) {
		if begun.Add(1) == width {
			close(together)
		}
		select {
		case <-together:
			return noteOut(in), nil
		case <-ctx.Done():
			return noteOut{}, ctx.Err()
		}
	}
	require.NoError(t, function.Define(functions, "meet", "meet", meet, function.Pure()))
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
			calls = append(calls, call(fmt.Sprintf("c%d", i), "meet", noteIn{strconv.Itoa(i)}))
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
	requireReplays(t, h, "agentrun_inline_visible")
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
		return &agent.ModelResponse{Calls: []agent.Call{call(strconv.Itoa(req.Turn), "greet", noteIn{"x"})}}, nil
	})
	start := func() (stop func()) {
		return s.deploy(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": model}}, "", "")
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
	requireReplays(t, h, "agentrun_inline_deployed")
}

// A tool that runs an agent is left to the workflow, whatever its implementation type.
func TestPromptOfAnAgentIsNotMadeInPlace(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.publishAgentAs("clerk", agent.Definition{Name: "clerk", Model: "test/x"})
	s.publish("askClerk", tool.Definition{
		Name: "askClerk", Description: "Asks the clerk.", Implementation: tool.Prompt,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`),
		Config:      json.RawMessage(`{"mode":"agent","agent":"clerk","prompt_template":"Say {{q}}"}`),
	}, tool.Policy{EgressClass: tool.EgressReadOnly})
	a := s.publishAgentAs("boss", agent.Definition{Name: "boss", Model: "test/x", Tools: refs(t, "askClerk")})
	model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if req.Turn > 1 || len(req.Tools) == 0 {
			return &agent.ModelResponse{Text: "done"}, nil
		}
		return &agent.ModelResponse{
			Calls: []agent.Call{{ID: "call_1", Name: "askClerk", Arguments: json.RawMessage(`{"q":"x"}`)}},
		}, nil
	})
	s.start(worker.Config{Models: map[string]agent.Model{"test": model}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	calls := s.invocations(run.ID)
	require.Len(t, calls, 1)
	require.Equal(t, tool.StatusCompleted, calls[0].Status, calls[0].Error)
	require.Equal(t, "completed", compactOf(t, calls[0]).Status)
}

// A run that is cancelled when its worker has died ends behind the turns that were
// stored, and the calls of the last one end with it.
func TestCancelledAfterADeathKeepsItsTurns(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	s := newSite(t)
	s.publish("effect", httpTool(c.URL, onlyOnce), tool.Policy{EgressClass: tool.EgressReadOnly})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})
	first := startChild(t, s.child(c, afterAdmit, syscall.SIGKILL))
	run, w := s.run(a, "go")
	requireKilled(t, first)
	require.NoError(t, s.temporal.CancelWorkflow(t.Context(), w.GetID(), w.GetRunID()))
	startChild(t, s.child(c, "", 0))
	_, err := s.wait(w)
	require.Error(t, err)
	ended, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCancelled, ended.Status)
	require.Equal(t, 1, ended.Turns)
	require.NotEqual(t, run.HeadMessageID, ended.HeadMessageID)
	calls := s.invocations(run.ID)
	require.Len(t, calls, 1)
	require.Equal(t, tool.StatusCancelled, calls[0].Status)
	requests, _ := c.count()
	require.Zero(t, requests)
}
