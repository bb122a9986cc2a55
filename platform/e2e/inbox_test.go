package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// talker is a model that asks once, after the first message, and repeats what it saw last. A turn
// begins when it is let.
type talker struct {
	turns chan struct{} // One for each turn that may begin.
	asked chan struct{} // One for each turn that it was asked for.
	asks  bool

	mu   sync.Mutex
	seen []string // By turn: the texts of the last message.
}

func (m *talker) Generate(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	m.asked <- struct{}{}
	select {
	case <-m.turns:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	last := req.Messages[len(req.Messages)-1]
	var texts []string
	for _, c := range last.Content {
		texts = append(texts, c.Text+string(c.JSON))
	}
	m.mu.Lock()
	m.seen = append(m.seen, strings.Join(texts, "|"))
	m.mu.Unlock()
	if len(req.Messages) == 1 && m.asks {
		return &agent.ModelResponse{
			Calls: []agent.Call{{ID: "call_1", Name: "ask", Arguments: json.RawMessage(`{}`)}},
		}, nil
	}
	return &agent.ModelResponse{Text: "you said " + strings.Join(texts, "|")}, nil
}

func (m *talker) heard(n int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen[n]
}

func newTalker(asks bool) *talker {
	return &talker{turns: make(chan struct{}, 100), asked: make(chan struct{}, 100), asks: asks}
}

func (m *talker) let(n int) {
	for range n {
		m.turns <- struct{}{}
	}
}

func (c *counter) say(t *testing.T, run agent.Run, text string) agent.Run {
	t.Helper()
	raw, err := json.Marshal(text)
	require.NoError(t, err)
	said, err := c.runs.Continue(t.Context(), runs.Continuation{Principal: c.principal, RunID: run.ID, Input: raw})
	require.NoError(t, err)
	return said
}

func (c *counter) output(t *testing.T, id string) agent.Run {
	t.Helper()
	run, err := c.FindRun(t.Context(), c.principal.Tenant, id)
	require.NoError(t, err)
	return run
}

// What a person says while the model answers is for the next turn, also where the answer
// would have been the last.
func TestMessageToARunThatGoesOn(t *testing.T) {
	t.Parallel()

	c := newCounter(t)
	model := newTalker(false)
	a := c.asked(outsideTool(60, tool.Interaction{}), map[string]agent.Model{"test": model})
	run, w := c.run(a, "hello")
	select { // The first turn has what there was before.
	case <-model.asked:
	case <-time.After(time.Minute):
		require.Fail(t, "the model was not asked")
	}
	require.Equal(t, run.ID, c.say(t, run, "wait").ID)
	require.Equal(t, run.ID, c.say(t, run, "stop").ID)
	model.let(3)
	_, err := c.wait(w)
	require.NoError(t, err)
	ended := c.output(t, run.ID)
	require.Equal(t, "you said wait|stop", ended.Output)
	require.LessOrEqual(t, ended.Turns, 2)
	transcript, err := c.Transcript(t.Context(), c.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Len(t, transcript, 2+ended.Turns)
	require.Contains(t, (&office{site: c.site}).kinds(run.ID), agent.EventInbox)
	next := c.say(t, run, "more")
	require.NotEqual(t, run.ID, next.ID, "a run that has ended is continued by another")
}

// The result of an asynchronous call comes while the run goes on, or after it.
func TestResultInTheInbox(t *testing.T) {
	t.Parallel()

	const want = `[Tool Result: ask] (callId: call_1) {"n":1}`
	t.Run("while the run goes on", func(t *testing.T) {
		t.Parallel()
		c := newCounter(t)
		model := newTalker(true)
		a := c.asked(outsideTool(60, tool.Interaction{Async: true}), map[string]agent.Model{"test": model})
		run, w := c.run(a, "hello")
		model.let(1)
		called := c.waiting(1)[0]
		require.Equal(t, wait.CallPending, called.Status)
		_, err := c.submit(called.ID, `{"n":1}`)
		require.NoError(t, err)
		model.let(3)
		_, err = c.wait(w)
		require.NoError(t, err)
		require.Equal(t, "you said "+want, c.output(t, run.ID).Output)
	})
	t.Run("after the run", func(t *testing.T) {
		t.Parallel()
		c := newCounter(t)
		model := newTalker(true)
		a := c.asked(outsideTool(60, tool.Interaction{Async: true}), map[string]agent.Model{"test": model})
		run, w := c.run(a, "hello")
		model.let(2)
		_, err := c.wait(w)
		require.NoError(t, err)
		late, err := c.submit(c.waiting(1)[0].ID, `{"n":1}`)
		require.NoError(t, err)
		require.True(t, late.Late)
		model.let(3)
		next := c.say(t, run, "well?")
		_, err = c.wait(c.temporal.GetWorkflow(t.Context(), next.WorkflowID, ""))
		require.NoError(t, err)
		transcript, err := c.Transcript(t.Context(), c.principal.Tenant, next.ID)
		require.NoError(t, err)
		require.Equal(t, want, transcript[len(transcript)-2].Content[0].Text, "after what the user said")
		require.Equal(t, want, model.heard(len(model.seen) - 1)[:len(want)])
	})
}
