package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// delegate is a model that calls the first of its tools once and returns the
// tool's answer. Without tools it returns its input.
func delegate() agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		last := req.Messages[len(req.Messages)-1]
		if req.Turn > 1 || len(req.Tools) == 0 {
			var said []string
			for _, c := range last.Content {
				said = append(said, c.Text+string(c.JSON))
			}
			return &agent.ModelResponse{Text: "heard: " + strings.Join(said, " ")}, nil
		}
		return &agent.ModelResponse{
			Calls: []agent.Call{call("call_1", req.Tools[0].Name, map[string]string{"prompt": "do it"})},
		}, nil
	})
}

// delegation defines a tool that runs an agent.
func delegation(slug string, x tool.Execution) tool.Definition {
	return tool.Definition{
		Name:           slug,
		Description:    "Asks " + slug,
		Implementation: tool.AgentCall,
		Execution:      x,
		InputSchema: json.RawMessage(
			`{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"],"additionalProperties":false}`,
		),
		Config: json.RawMessage(`{"target_agent_slug":"` + slug + `"}`),
	}
}

// agentOf publishes an agent of the model "test/x" with the given tools.
func (s *site) agentOf(slug string, tools ...string) agent.Agent {
	s.t.Helper()
	return s.publishAgentAs(slug, agent.Definition{Name: slug, Model: "test/x", Tools: refs(s.t, tools...)})
}

// line publishes agents boss, chief, lead and clerk, each of which asks the next,
// and the clerk the tool.
func (s *site) line(leaf string) agent.Agent {
	s.t.Helper()
	s.agentOf("clerk", leaf)
	s.publish("askClerk", delegation("clerk", tool.Execution{}), tool.Policy{})
	s.agentOf("lead", "askClerk")
	s.publish("askLead", delegation("lead", tool.Execution{}), tool.Policy{})
	s.agentOf("chief", "askLead")
	s.publish("askChief", delegation("chief", tool.Execution{}), tool.Policy{})
	return s.agentOf("boss", "askChief")
}

// below returns the run that a run asked for, if it did.
func (s *site) below(runID string) (agent.Run, bool) {
	s.t.Helper()
	runs, err := s.ListRuns(s.t.Context(), s.principal.Tenant, store.RunQuery{Parent: runID})
	require.NoError(s.t, err)
	require.LessOrEqual(s.t, len(runs), 1, "a call is one run, however often it was tried")
	if len(runs) == 0 {
		return agent.Run{}, false
	}
	return runs[0], true
}

// compact is the answer of a call that was a run.
type compact struct {
	Mode    string `json:"mode"`
	AgentID string `json:"target_agent_id"`
	Agent   string `json:"target_agent_slug"`
	RunID   string `json:"run_id"`
	Status  string `json:"status"`
	Output  string `json:"output"`
	Error   struct {
		Kind    tool.Kind `json:"kind"`
		Message string    `json:"message"`
	} `json:"error"`
}

func compactOf(t *testing.T, i tool.Invocation) compact {
	t.Helper()
	require.NotNil(t, i.Output, "%s: %s", i.Status, i.Error)
	var out compact
	require.NoError(t, json.Unmarshal(i.Output.Structured, &out))
	return out
}

// Agents ask agents, three deep: each run knows its caller and is pinned in its
// caller's plan, answers go up, and every history replays.
func TestAgentsNestThreeDeep(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "answers", "answers", func(context.Context, struct {
		Prompt string `json:"prompt"`
	},
	) (noteOut, error) {
		return noteOut{Name: "42"}, nil
	}, function.Pure()))
	s.publish("answers", functionTool("answers", tool.Execution{Pure: true}), tool.Policy{})
	s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": delegate()}})
	run, w := s.run(s.line("answers"), "go")
	out, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, 4, out.Calls, "the calls of all that are below count")
	require.Contains(t, out.Answer, `heard: heard: heard: heard: {"name":"42"}`)

	requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "agent_call_inline")
	above := run
	for depth, slug := range []string{"chief", "lead", "clerk"} {
		child, ok := s.below(above.ID)
		require.True(t, ok)
		require.Equal(t, slug, child.Agent)
		require.Equal(t, "1.0.0", child.AgentVersion)
		require.Equal(t, depth+1, child.Depth)
		require.Equal(t, agent.RunCompleted, child.Status)
		calls := s.invocations(above.ID)
		require.Len(t, calls, 1)
		require.Equal(t, tool.StatusCompleted, calls[0].Status, calls[0].Error)
		require.Equal(t, calls[0].InvocationID, child.Parent.InvocationID)
		answer := compactOf(t, calls[0])
		require.Equal(t, compact{
			Mode: "sync", AgentID: child.AgentID, Agent: slug, RunID: child.ID, Status: "completed", Output: child.Output,
		}, answer)
		requireReplays(t, historyOf(t.Context(), t, s.temporal, child.WorkflowID, ""), "")
		above = child
	}
}

// A worker is killed while agents wait for each other, three deep. The runs go
// on elsewhere, none is begun twice, and what must happen once does.
func TestNestedAgentsOutliveTheirWorker(t *testing.T) {
	t.Parallel()

	for name, at := range map[string]struct {
		point point
		only  string
	}{
		"BeforeTheRunIsRecorded": {afterAdmit, "askLead"},
		"InTheMiddleOfTheTool":   {afterSent, ""},
		"BeforeTheAnswerIsKept":  {afterAnswer, "askClerk"},
		"AfterTheAnswerIsKept":   {afterSettle, "askLead"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCanary(t)
			s := newSite(t)
			s.publish("effect", httpTool(c.URL, idempotent), tool.Policy{EgressClass: tool.EgressReadOnly})
			boss := s.line("effect")
			first := s.child(c, at.point, syscall.SIGKILL)
			first.Only, first.Delegates = at.only, true
			cmd := startChild(t, first)
			run, w := s.run(boss, "go")
			requireKilled(t, cmd)
			second := s.child(c, "", 0)
			second.Delegates = true
			startChild(t, second)

			_, err := s.wait(w)
			require.NoError(t, err)
			above := run
			for range 3 {
				child, ok := s.below(above.ID)
				require.True(t, ok)
				require.Equal(t, agent.RunCompleted, child.Status)
				requireAnswered(t, s, above.ID)
				above = child
			}
			_, keys := c.count()
			require.Equal(t, 1, keys, "the effect happened once")
		})
	}
}

// What the plan allowed is looked at again when the call is made: status, depth
// and cycles. The call fails and says why; the run goes on.
func TestAgentCallIsCheckedWhenItIsMade(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.start(worker.Config{Models: map[string]agent.Model{"test": delegate()}})
	s.agentOf("resting")
	s.publish("askResting", delegation("resting", tool.Execution{}), tool.Policy{})
	// An agent that asks itself: its publication would be refused, so it is
	// stored as one that a race let through.
	s.publish("askLoop", delegation("loop", tool.Execution{}), tool.Policy{})
	loop := s.agentOf("loop", "askLoop")

	run, w := s.run(loop, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	calls := s.invocations(run.ID)
	require.Equal(t, tool.Denied, calls[0].ErrorKind)
	require.Contains(t, calls[0].Error, "loop -> loop")
	_, began := s.below(run.ID)
	require.False(t, began)

	// Six agents in a line: the last is one too deep.
	s.agentOf("deep6")
	for i := 5; i >= 0; i-- {
		next := fmt.Sprintf("deep%d", i+1)
		s.publish("ask"+next, delegation(next, tool.Execution{}), tool.Policy{})
		s.agentOf(fmt.Sprintf("deep%d", i), "ask"+next)
	}
	top, err := s.FindAgent(t.Context(), s.principal.Tenant, "deep0")
	require.NoError(t, err)
	run, w = s.run(top, "go")
	_, err = s.wait(w)
	require.NoError(t, err)
	last := run
	for child, ok := s.below(last.ID); ok; child, ok = s.below(last.ID) {
		last = child
	}
	require.Equal(t, "deep5", last.Agent)
	calls = s.invocations(last.ID)
	require.Equal(t, tool.Denied, calls[0].ErrorKind)
	require.Contains(t, calls[0].Error, "at most 5 deep")

	// An agent that was disabled after the run was pinned.
	asking := make(chan struct{})
	disabled := make(chan struct{})
	slow := newSiteBeside(t, s)
	slow.start(worker.Config{
		Models: map[string]agent.Model{
			"test": agent.ModelFunc(func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
				if req.Turn == 1 {
					close(asking)
					<-disabled
				}
				return delegate().Generate(ctx, req)
			}),
		},
	})
	run, w = slow.run(s.agentOf("asker", "askResting"), "go")
	<-asking
	resting, err := s.FindAgent(t.Context(), s.principal.Tenant, "resting")
	require.NoError(t, err)
	resting.Status = tool.Disabled
	_, err = s.UpdateAgent(t.Context(), resting)
	require.NoError(t, err)
	close(disabled)
	_, err = s.wait(w)
	require.NoError(t, err)
	calls = s.invocations(run.ID)
	require.Equal(t, tool.Conflict, calls[0].ErrorKind, calls[0].Error)
	require.Contains(t, calls[0].Error, `agent "resting" is disabled`)
}

// held is a model that delegates, but says nothing as the agent that has no
// tools, until it is cancelled or released.
func held(entered chan<- struct{}, release <-chan struct{}) agent.Model {
	return agent.ModelFunc(func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if len(req.Tools) > 0 {
			return delegate().Generate(ctx, req)
		}
		select {
		case entered <- struct{}{}:
		default:
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-release:
			return &agent.ModelResponse{Text: "released"}, nil
		}
	})
}

// Cancelling a run cancels those below it; cancelling one of those is an answer
// to the run above, which goes on. A run that is terminated is one that failed.
func TestCancellationGoesBothWays(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		end    func(s *site, top, bottom agent.Run) error
		top    agent.RunStatus
		bottom agent.RunStatus
		answer string
	}{
		"FromAbove": {
			func(s *site, top, _ agent.Run) error {
				return s.temporal.CancelWorkflow(context.Background(), top.WorkflowID, "")
			}, agent.RunCancelled, agent.RunCancelled, "",
		},
		"FromBelow": {
			func(s *site, _, bottom agent.Run) error {
				return s.temporal.CancelWorkflow(context.Background(), bottom.WorkflowID, "")
			}, agent.RunCompleted, agent.RunCancelled, "cancelled",
		},
		"Terminated": {
			func(s *site, _, bottom agent.Run) error {
				return s.temporal.TerminateWorkflow(context.Background(), bottom.WorkflowID, "", "by hand")
			}, agent.RunCompleted, agent.RunCancelled, "cancelled",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSite(t)
			entered := make(chan struct{}, 1)
			s.start(worker.Config{Models: map[string]agent.Model{"test": held(entered, nil)}})
			s.agentOf("quiet")
			s.publish("askQuiet", delegation("quiet", tool.Execution{}), tool.Policy{})
			run, w := s.run(s.agentOf("top", "askQuiet"), "go")
			<-entered
			child, ok := s.below(run.ID)
			require.True(t, ok)
			require.NoError(t, tt.end(s, run, child))
			_, err := s.wait(w)
			if tt.top == agent.RunCancelled {
				require.True(t, temporal.IsCanceledError(err), "%v", err)
			} else {
				require.NoError(t, err)
			}
			for id, want := range map[string]agent.RunStatus{run.ID: tt.top, child.ID: tt.bottom} {
				ended, err := s.FindRun(t.Context(), s.principal.Tenant, id)
				require.NoError(t, err)
				require.Equal(t, want, ended.Status, ended.Error)
			}
			calls := s.invocations(run.ID)
			require.Len(t, calls, 1)
			if tt.answer == "" {
				require.Equal(t, tool.StatusCancelled, calls[0].Status)
			} else {
				require.True(t, calls[0].IsError)
				require.Equal(t, tt.answer, compactOf(t, calls[0]).Status)
			}
			requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()),
				"agent_call_inline_"+strings.ToLower(name))
		})
	}
}

// An agent has the time that its tool gives it, and the calls that its caller
// has left.
func TestAgentsInheritTimeAndCalls(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.start(worker.Config{Models: map[string]agent.Model{
		"test": held(make(chan struct{}, 1), nil),
		"busy": agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
			return &agent.ModelResponse{Calls: []agent.Call{call(fmt.Sprint("c", req.Turn), "echo", map[string]string{})}}, nil
		}),
	}})
	s.agentOf("quiet")
	s.publish("askQuiet", delegation("quiet", tool.Execution{TimeoutSeconds: 1}), tool.Policy{})
	run, w := s.run(s.agentOf("patient", "askQuiet"), "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	calls := s.invocations(run.ID)
	late := compactOf(t, calls[0])
	require.True(t, calls[0].IsError)
	require.Equal(t, "timeout", late.Status)
	require.Equal(t, tool.Timeout, late.Error.Kind)

	s.publish(
		"echo",
		tool.Definition{Name: "echo", Implementation: tool.Internal, Execution: tool.Execution{Pure: true}},
		tool.Policy{},
	)
	s.publishAgentAs("busy", agent.Definition{Name: "busy", Model: "busy/x", Tools: refs(t, "echo")})
	s.publish("askBusy", delegation("busy", tool.Execution{}), tool.Policy{})
	frugal := s.publishAgentAs("frugal", agent.Definition{
		Name: "frugal", Model: "test/x", Tools: refs(t, "askBusy"), Limits: agent.Limits{MaxCalls: 4},
	})
	run, w = s.run(frugal, "go")
	out, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, 5, out.Calls, "its own, three below, and the one that went beyond")
	child, ok := s.below(run.ID)
	require.True(t, ok)
	require.Equal(t, agent.RunFailed, child.Status)
	require.Contains(t, child.Error, "3 tool calls")
	require.Equal(t, "failed", compactOf(t, s.invocations(run.ID)[0]).Status)
}

// A task that is not waited for goes on when the run that began it has ended.
func TestTasksGoOn(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	release := make(chan struct{})
	s.start(worker.Config{Models: map[string]agent.Model{"test": held(make(chan struct{}, 1), release)}})
	s.agentOf("quiet")
	task := delegation("quiet", tool.Execution{})
	task.Implementation = tool.Task
	s.publish("begin", task, tool.Policy{})
	run, w := s.run(s.agentOf("top", "begin"), "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	answer := compactOf(t, s.invocations(run.ID)[0])
	require.Equal(t, "async", answer.Mode)
	require.Equal(t, "running", answer.Status)
	child, ok := s.below(run.ID)
	require.True(t, ok)
	require.Equal(t, answer.RunID, child.ID)
	require.True(t, child.Parent.Detached)
	require.False(t, child.Status.Final())
	close(release)
	require.Eventually(t, func() bool {
		ended, err := s.FindRun(t.Context(), s.principal.Tenant, child.ID)
		return err == nil && ended.Status == agent.RunCompleted && ended.Output == "released"
	}, time.Minute, 20*time.Millisecond)
	requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "task")
}

// A host's workflow, and a single call, run agents as an agent does; each run is
// found by the call that it answers.
func TestSingleCallsRunAgents(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.start(worker.Config{Models: map[string]agent.Model{"test": delegate()}})
	s.agentOf("parrot")
	s.publish("askParrot", delegation("parrot", tool.Execution{}), tool.Policy{})
	w, id, result, err := s.toolCall("askParrot", `{"prompt":"polly"}`)
	require.NoError(t, err)
	require.False(t, result.IsError)
	require.Equal(t, "heard: polly", result.Content[0].Text)
	child, ok := s.below(id)
	require.True(t, ok)
	require.Equal(t, 1, child.Depth)
	h := historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID())
	requireReplays(t, h, "toolcall_agent")

	// Asked again by a reset, the call is the same run.
	require.True(
		t,
		slices.ContainsFunc(
			s.invocations(id),
			func(i tool.Invocation) bool { return i.InvocationID == child.Parent.InvocationID },
		),
	)
}
