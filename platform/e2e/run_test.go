package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// gauge counts what is in flight, and what ran beside what.
type gauge struct {
	mu        sync.Mutex
	now, peak int
	writing   bool
	together  bool // Something ran beside a write.
	order     []string
}

func (g *gauge) enter(name string, write bool) (leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.together = g.together || g.writing || (write && g.now > 0)
	g.now++
	g.peak = max(g.peak, g.now)
	g.writing = g.writing || write
	g.order = append(g.order, name)
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.now--
		if write {
			g.writing = false
		}
	}
}

type noteIn struct {
	Name string `json:"name"`
}
type noteOut struct {
	Name string `json:"name"`
}

// play is a model that makes the calls of each turn and then stops.
func play(turns ...[]agent.Call) agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if req.Turn > len(turns) {
			return &agent.ModelResponse{Text: "done"}, nil
		}
		return &agent.ModelResponse{Calls: turns[req.Turn-1]}, nil
	})
}

func call(id, name string, args any) agent.Call {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return agent.Call{ID: id, Name: name, Arguments: raw}
}

// Five pure calls, a write, two pure ones, on a real server: the peak in
// flight is the limit, the write is alone, answers stand in call order, and
// the history replays.
func TestParallelSafe(t *testing.T) {
	t.Parallel()

	var g gauge
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "read", "Reads.", func(ctx context.Context, in noteIn) (noteOut, error) {
		defer g.enter(in.Name, false)()
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
		}
		return noteOut(in), nil
	}, function.Pure()))
	require.NoError(t, function.Define(functions, "write", "Writes.", func(_ context.Context, in noteIn) (noteOut, error) {
		defer g.enter(in.Name, true)()
		time.Sleep(100 * time.Millisecond)
		return noteOut(in), nil
	}))
	s := newSite(t)
	s.publish("read", functionTool("read", tool.Execution{Pure: true, ConcurrencyGroup: "reads", MaxConcurrency: 3}),
		tool.Policy{})
	s.publish("write", functionTool("write", tool.Execution{}), tool.Policy{})
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", ToolMode: agent.ParallelSafe, Tools: refs(t, "read", "write"),
	})
	var calls []agent.Call
	for i, name := range []string{"read", "read", "read", "read", "read", "write", "read", "read"} {
		calls = append(calls, call(fmt.Sprintf("c%d", i), name, noteIn{Name: fmt.Sprintf("n%d", i)}))
	}
	s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": play(calls)}})

	run, w := s.run(a, "go")
	out, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, 8, out.Calls)
	require.Equal(t, 3, g.peak)
	require.False(t, g.together, "something ran beside the write: %v", g.order)

	messages, err := s.Transcript(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	var answers []string
	for _, m := range messages {
		if m.Role == agent.RoleTool {
			require.False(t, m.IsError)
			answers = append(answers, m.CallID)
		}
	}
	require.Equal(t, []string{"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"}, answers)
	requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "agentrun_inline_parallel_safe")
}

// A run is cancelled while its tool is at work: the upstream sees the
// connection go, and every call and the run end as cancelled.
func TestCancelIsPrompt(t *testing.T) {
	t.Parallel()

	began, gone := make(chan struct{}), make(chan struct{})
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "wait", "Waits.", func(ctx context.Context, in noteIn) (noteOut, error) {
		close(began)
		<-ctx.Done()
		close(gone)
		return noteOut{}, ctx.Err()
	}, function.Pure()))
	s := newSite(t)
	s.publish("wait", functionTool("wait", tool.Execution{Pure: true, TimeoutSeconds: 30}), tool.Policy{})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "wait")})
	s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{
		"test": play([]agent.Call{call("c0", "wait", noteIn{}), call("c1", "wait", noteIn{})}),
	}})
	run, w := s.run(a, "go")
	<-began
	require.NoError(t, s.temporal.CancelWorkflow(t.Context(), w.GetID(), ""))
	select {
	case <-gone:
	case <-time.After(15 * time.Second):
		t.Fatal("the tool was not cancelled within its heartbeat timeout")
	}
	_, err := s.wait(w)
	require.True(t, temporal.IsCanceledError(err), "%v", err)
	ended, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCancelled, ended.Status)
	calls := s.invocations(run.ID)
	require.Len(t, calls, 2)
	for _, c := range calls {
		require.Equal(t, tool.StatusCancelled, c.Status)
	}
	requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "agentrun_inline_cancelled")
}

// A hundred turns with 5 KB answers over a transcript of 800 KB stay small in
// Temporal: histories carry references.
func TestHistoryStaysSmall(t *testing.T) {
	t.Parallel()

	functions := function.NewRegistry()
	answer := strings.Repeat("x", 5<<10)
	require.NoError(t, function.Define(functions, "read", "Reads.", func(context.Context, noteIn) (noteOut, error) {
		return noteOut{Name: answer}, nil
	}, function.Pure()))
	s := newSite(t)
	s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", Tools: refs(t, "read"), Limits: agent.Limits{MaxTurns: 101, MaxCalls: 100},
	})
	turns := make([][]agent.Call, 100)
	for i := range turns {
		turns[i] = []agent.Call{call(fmt.Sprintf("c%d", i), "read", noteIn{Name: fmt.Sprintf("n%d", i)})}
	}
	s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": play(turns...)}})
	_, w := s.run(a, strings.Repeat("y", 800<<10))
	out, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, 100, out.Calls)
	h := historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID())
	size := historyBytes(h)
	t.Logf("history: %d bytes, %d events, %d bytes a turn", size, len(h.Events), size/101)
	require.LessOrEqual(t, size, 400<<10)
	require.LessOrEqual(t, size/101, 3<<10)
	requireReplays(t, h, "")
}
