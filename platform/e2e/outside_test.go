package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// counter is a site with a tool that is answered from outside, and somebody who answers.
type counter struct {
	*site
	runs   *runs.Service
	answer tool.Principal
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	s := newSite(t)
	c := &counter{site: s, runs: s.service(s.temporal)}
	c.answer = (&office{site: s}).key("executor", wait.SubmitPermission)
	return c
}

func outsideTool(timeout float64, i tool.Interaction) tool.Definition {
	return tool.Definition{
		Name: "Ask", Description: "Asks somebody.", InputSchema: json.RawMessage(`{"type":"object"}`),
		OutputSchema:   json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
		Implementation: tool.Client, Execution: tool.Execution{TimeoutSeconds: timeout}, Interaction: i,
	}
}

// waiting waits until a number of calls take a result, and returns them.
func (c *counter) waiting(n int) (found []wait.Call) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		var err error
		found, err = c.ListCalls(c.t.Context(), wait.CallQuery{
			Tenant: c.principal.Tenant, Status: wait.CallsOpen, Limit: 500,
		})
		require.NoError(c.t, err)
		return len(found) == n
	}, 60*time.Second, 20*time.Millisecond)
	return found
}

func (c *counter) submit(id, result string) (runs.Submitted, error) {
	return c.runs.SubmitResult(c.t.Context(), runs.Submission{Principal: c.answer, ID: id, Result: []byte(result)})
}

func (c *counter) asked(ask tool.Definition, models map[string]agent.Model) agent.Agent {
	c.t.Helper()
	c.publish("ask", ask, tool.Policy{})
	a := c.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(c.t, "ask")})
	c.start(worker.Config{Models: models})
	return a
}

func (c *counter) answers(runID string) (texts []string) {
	c.t.Helper()
	messages, err := c.Transcript(c.t.Context(), c.principal.Tenant, runID)
	require.NoError(c.t, err)
	for _, m := range messages {
		if m.Role == agent.RoleTool {
			raw, err := json.Marshal(m.Content)
			require.NoError(c.t, err)
			texts = append(texts, string(raw))
		}
	}
	return texts
}

func TestResultFromOutside(t *testing.T) {
	t.Parallel()

	c := newCounter(t)
	a := c.asked(outsideTool(60, tool.Interaction{}), map[string]agent.Model{"test": callOnce("ask")})
	run, w := c.run(a, "go")
	called := c.waiting(1)[0]
	require.Equal(t, wait.CallWaiting, called.Status)
	require.Equal(t, run.ID, called.RunID)
	require.JSONEq(t, `{"q":"x"}`, string(called.Arguments))
	require.Equal(t, tool.StatusWaiting, c.invocations(run.ID)[0].Status)

	_, err := c.submit(called.ID, `{"n":"many"}`)
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.Equal(t, "/result/n", tool.AsError(err).Path)
	_, err = c.runs.SubmitResult(t.Context(), runs.Submission{
		Principal: c.principal, ID: called.ID, Result: []byte(`{"n":1}`),
	})
	require.Equal(t, tool.Denied, tool.KindOf(err))

	done, err := c.runs.SubmitResult(t.Context(), runs.Submission{
		Principal: c.answer, RunID: run.ID, CallID: "call_1", Result: []byte(`{"n":1}`),
	})
	require.NoError(t, err)
	require.False(t, done.Repeated)
	require.False(t, done.Late)
	again, err := c.submit(called.ID, `{"n":2}`)
	require.NoError(t, err)
	require.True(t, again.Repeated)
	require.JSONEq(t, `{"n":1}`, string(again.Result.Structured), "the first result counts")

	out, err := c.wait(w)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, out.Status)
	require.Equal(t, []string{`[{"type":"json","json":{"n":1}}]`}, c.answers(run.ID))
	require.Equal(t, tool.StatusCompleted, c.invocations(run.ID)[0].Status)
	require.Equal(t, []tool.EventType{tool.EventStarted, tool.EventPending, tool.EventResultReceived, tool.EventCompleted},
		(&office{site: c.site}).kinds(run.ID)[2:6])
	requireReplays(t, historyOf(t.Context(), t, c.temporal, w.GetID(), w.GetRunID()), "agentrun_inline_outside")
}

func TestResultThatComesTooLate(t *testing.T) {
	t.Parallel()

	c := newCounter(t)
	a := c.asked(outsideTool(1, tool.Interaction{}), map[string]agent.Model{"test": callOnce("ask")})
	run, w := c.run(a, "go")
	called := c.waiting(1)[0]
	out, err := c.wait(w)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, out.Status, "the agent goes on")
	require.Contains(t, c.answers(run.ID)[0], "Tool timed out after 1000ms")
	require.Equal(t, tool.StatusExpired, c.invocations(run.ID)[0].Status)
	late, err := c.submit(called.ID, `{"n":1}`)
	require.NoError(t, err)
	require.True(t, late.Late)
	require.Equal(t, tool.StatusExpired, c.invocations(run.ID)[0].Status, "a call ends once")
}

func TestAsynchronousCallDoesNotWait(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		interaction tool.Interaction
		answer      string
		status      wait.CallStatus
	}{
		"asynchronous": {tool.Interaction{Async: true}, `"status":"pending"`, wait.CallPending},
		"no response": {
			tool.Interaction{DefaultResult: json.RawMessage(`[{"type":"text","text":"[Chart rendered]"}]`)},
			`[{"type":"text","text":"[Chart rendered]"}]`, wait.CallResolved,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCounter(t)
			a := s.asked(outsideTool(60, c.interaction), map[string]agent.Model{"test": callOnce("ask")})
			run, w := s.run(a, "go")
			_, err := s.wait(w)
			require.NoError(t, err)
			require.Contains(t, s.answers(run.ID)[0], c.answer)
			found, err := s.ListCalls(t.Context(), wait.CallQuery{Tenant: s.principal.Tenant, RunID: run.ID, Limit: 10})
			require.NoError(t, err)
			require.Len(t, found, 1, "it is there to be seen")
			require.Equal(t, c.status, found[0].Status)
		})
	}
}

// What waits is cancelled with its run, and takes no result then.
func TestCancelledRunTakesNoResult(t *testing.T) {
	t.Parallel()

	c := newCounter(t)
	a := c.asked(outsideTool(60, tool.Interaction{}), map[string]agent.Model{"test": callOnce("ask")})
	run, w := c.run(a, "go")
	called := c.waiting(1)[0]
	require.NoError(t, c.temporal.CancelWorkflow(t.Context(), w.GetID(), ""))
	_, err := c.wait(w)
	require.Error(t, err)
	require.Equal(t, tool.StatusCancelled, c.invocations(run.ID)[0].Status)
	_, err = c.submit(called.ID, `{"n":1}`)
	require.Equal(t, tool.Conflict, tool.KindOf(err))
}

// Results race with the end of their time, and with each other: each call ends once, with
// the first result or without one, and late results are kept.
func TestResultsRace(t *testing.T) {
	t.Parallel()

	const calls = 24
	c := newCounter(t)
	ask := outsideTool(2, tool.Interaction{})
	ask.Execution.Pure, ask.Execution.MaxConcurrency = true, calls
	c.publish("ask", ask, tool.Policy{})
	a := c.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", Tools: refs(t, "ask"), ToolMode: agent.ParallelSafe,
	})
	c.start(worker.Config{Models: map[string]agent.Model{"test": askTimes(calls)}})
	run, w := c.run(a, "go")
	var group sync.WaitGroup
	var firsts, inline atomic.Int64
	for _, called := range c.waiting(calls) {
		for n := range 3 {
			group.Go(func() {
				time.Sleep(time.Until(called.AnswerBy.Add(time.Duration(called.Position-calls/2) * 5 * time.Millisecond)))
				got, err := c.submit(called.ID, fmt.Sprintf(`{"n":%d}`, n))
				for tool.KindOf(err) == tool.Unavailable { // The database is too busy: a client asks again.
					time.Sleep(50 * time.Millisecond)
					got, err = c.submit(called.ID, fmt.Sprintf(`{"n":%d}`, n))
				}
				if err == nil && !got.Repeated {
					firsts.Add(1)
					if !got.Late {
						inline.Add(1)
					}
				}
			})
		}
	}
	group.Wait()
	_, err := c.wait(w)
	require.NoError(t, err)
	require.EqualValues(t, calls, firsts.Load(), "each call keeps one result")
	completed := 0
	for _, i := range c.invocations(run.ID) {
		require.True(t, i.Status == tool.StatusCompleted || i.Status == tool.StatusExpired, i.Status)
		if i.Status == tool.StatusCompleted {
			completed++
		}
	}
	require.EqualValues(t, inline.Load(), completed, "what was in time is the answer")
	require.Len(t, c.answers(run.ID), calls)
}

// askTimes is a model that asks so many times in its first turn.
func askTimes(n int) agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		out := &agent.ModelResponse{Text: "done"}
		if req.Turn == 1 {
			for i := range n {
				out.Calls = append(out.Calls, agent.Call{
					ID: fmt.Sprintf("call_%d", i), Name: "ask", Arguments: json.RawMessage(`{}`),
				})
			}
		}
		return out, nil
	})
}

// A result that comes while no worker runs is told to the workflow once one does; a call of a
// workflow of its own waits as one of an agent does.
func TestResultWhileTheWorkersAreAway(t *testing.T) {
	t.Parallel()

	c := newCounter(t)
	c.publish("ask", outsideTool(60, tool.Interaction{}), tool.Policy{})
	a := c.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "ask")})
	cfg := worker.Config{Models: map[string]agent.Model{"test": callOnce("ask")}}
	stop := c.startStoppable(cfg)
	run, w := c.run(a, "go")
	call, err := c.runs.Call(t.Context(), runs.NewCall{
		Principal: c.principal, Node: wire.Node{Tool: tool.Ref{Slug: "ask"}, Arguments: json.RawMessage(`{}`)},
	})
	require.NoError(t, err)
	waiting := c.waiting(2)
	stop()
	for n, called := range waiting {
		_, err := c.submit(called.ID, fmt.Sprintf(`{"n":%d}`, n))
		require.NoError(t, err, "it is recorded all the same")
	}
	c.start(cfg)
	require.Eventually(t, func() bool {
		_, err := c.runs.Deliver(t.Context(), runs.DeliverLimit)
		require.NoError(t, err)
		return c.output(t, run.ID).Status.Final() && c.output(t, call.RunID).Status.Final()
	}, 60*time.Second, 100*time.Millisecond)
	_, err = c.wait(w)
	require.NoError(t, err)
	require.Len(t, c.answers(run.ID), 1)
	require.Contains(t, c.answers(run.ID)[0], `{"n":`)
	require.Equal(t, tool.StatusCompleted, c.invocations(call.RunID)[0].Status)
}
