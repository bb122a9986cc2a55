package e2e_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/worker"
)

// stepping is a site with a tool whose calls the test sees begin, and lets end.
type stepping struct {
	*site
	functions *function.Registry
	began     chan string
	release   chan struct{} // Takes one for each call; closed for all.
	service   *runs.Service

	learned learned

	mu    sync.Mutex
	made  []string // Names of the calls, as they began.
	asked int      // Questions.
}

func newStepping(t *testing.T, lane tool.Lane) *stepping {
	t.Helper()
	s := &stepping{
		site: newSite(t), functions: function.NewRegistry(), began: make(chan string, 20), release: make(chan struct{}, 20),
	}
	step := func(ctx context.Context, in noteIn) (noteOut, error) {
		s.mu.Lock()
		s.made = append(s.made, in.Name)
		s.mu.Unlock()
		s.began <- in.Name
		select {
		case <-s.release:
			return noteOut(in), nil
		case <-ctx.Done():
			return noteOut{}, ctx.Err()
		}
	}
	require.NoError(t, function.Define(s.functions, "step", "step", step))
	s.publish("step", functionTool("step", tool.Execution{TimeoutSeconds: 60, Lane: lane}), tool.Policy{})
	s.service = s.site.service(s.temporal)
	return s
}

// config is that of a worker whose model makes the given calls, turn by turn.
func (s *stepping) config(turns ...[]agent.Call) worker.Config {
	model := play(turns...)
	config := worker.Config{Functions: s.functions, Logger: s.learned.logger()}
	config.Models = map[string]agent.Model{"test": agent.ModelFunc(
		func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
			s.mu.Lock()
			s.asked++
			s.mu.Unlock()
			return model.Generate(ctx, req)
		})}
	return config
}

func (s *stepping) steps() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.made...)
}

// questions returns how often the model was asked.
func (s *stepping) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *stepping) request(run string) runs.PauseRequest {
	return runs.PauseRequest{Principal: s.principal, RunID: run, Reason: "counting"}
}

// pause pauses a run.
func (s *stepping) pause(run string) agent.PauseRound {
	s.t.Helper()
	paused, err := s.service.Pause(s.t.Context(), s.request(run))
	require.NoError(s.t, err)
	require.Equal(s.t, "counting", paused.Paused.Reason)
	return paused.PauseRound
}

// pauseInCall pauses a run with a call in progress, which may be that of a run below it, and
// returns once the activity that makes the call and the workflow that has it made know that.
func (s *stepping) pauseInCall(run, calling, workflowID string) {
	s.t.Helper()
	round := s.pause(run)
	s.learned.await(s.t, calling, round)
	s.heard(workflowID, round)
}

func (s *stepping) resume(run string) {
	s.t.Helper()
	resumed, err := s.service.Resume(s.t.Context(), s.request(run))
	require.NoError(s.t, err)
	require.Nil(s.t, resumed.Paused)
}

// said is a transcript without ids.
func (s *stepping) said(run string) (out []string) {
	s.t.Helper()
	messages, err := s.Transcript(s.t.Context(), s.principal.Tenant, run)
	require.NoError(s.t, err)
	for _, m := range messages {
		raw, err := json.Marshal([]any{m.Role, m.Turn, m.Content, m.Calls})
		require.NoError(s.t, err)
		out = append(out, string(raw))
	}
	return out
}

// A run of an agent that is paused in the middle of a turn ends the call in progress, and
// begins nothing until it is resumed. Then it is as one that was never paused.
func TestPauseOfAnAgentRun(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		lane    tool.Lane
		regular bool
		history string
	}{
		"InPlace": {tool.LaneAuto, false, "agentrun_inline_paused"},
		"Regular": {tool.LaneAuto, true, "agentrun_paused"},
		"Visible": {tool.LaneVisible, false, "agentrun_visible_paused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStepping(t, tt.lane)
			s.regular = tt.regular
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "step")})
			s.start(s.config(
				[]agent.Call{call("c1", "step", noteIn{"1"}), call("c2", "step", noteIn{"2"})},
				[]agent.Call{call("c3", "step", noteIn{"3"})}))
			run, w := s.run(a, "go")
			require.Equal(t, "1", <-s.began)
			s.pauseInCall(run.ID, run.ID, w.GetID())
			s.release <- struct{}{}
			require.Eventually(t, func() bool {
				return s.invocations(run.ID)[0].Status == tool.StatusCompleted
			}, time.Minute, 10*time.Millisecond)
			s.still(w.GetID())
			require.Equal(t, []string{"1"}, s.steps())
			s.resume(run.ID)
			require.Equal(t, "2", <-s.began)
			s.pauseInCall(run.ID, run.ID, w.GetID())
			s.release <- struct{}{}
			require.Eventually(t, func() bool {
				return s.invocations(run.ID)[1].Status == tool.StatusCompleted
			}, time.Minute, 10*time.Millisecond)
			s.still(w.GetID())
			require.Equal(t, 1, s.questions(), "the model is not asked")
			s.resume(run.ID)
			close(s.release)
			out, err := s.wait(w)
			require.NoError(t, err)
			require.Equal(t, agent.RunCompleted, out.Status)
			require.Equal(t, []string{"1", "2", "3"}, s.steps())
			require.Equal(t, 3, s.questions())
			requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), tt.history)

			never, w := s.run(a, "go")
			_, err = s.wait(w)
			require.NoError(t, err)
			require.Equal(t, s.said(never.ID), s.said(run.ID))
		})
	}
}

// A run that was paused before its workflow began takes no step.
func TestPauseBeforeTheRunBegins(t *testing.T) {
	t.Parallel()

	s := newStepping(t, tool.LaneAuto)
	close(s.release)
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "step")})
	s.start(s.config([]agent.Call{call("c1", "step", noteIn{"1"})}))
	run := s.record(a, "go")
	s.pause(run.ID) // There is no workflow yet.
	w := s.begin(run)
	require.Eventually(t, func() bool {
		return len(activityOrMarker(t, s.site, w)) > 0
	}, time.Minute, 20*time.Millisecond)
	s.still(w.GetID())
	require.Zero(t, s.questions())
	s.resume(run.ID)
	out, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, out.Status)
	require.Equal(t, []string{"1"}, s.steps())
}

// activityOrMarker returns the types of events of a workflow that say that a step of it is over.
func activityOrMarker(t *testing.T, s *site, w client.WorkflowRun) (types []string) {
	t.Helper()
	for _, e := range historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()).GetEvents() {
		if e.GetMarkerRecordedEventAttributes() != nil || e.GetActivityTaskCompletedEventAttributes() != nil {
			types = append(types, e.GetEventType().String())
		}
	}
	return types
}

// A decision that comes while the run is paused is recorded, and acted on when it is resumed.
func TestPauseOfARunThatWaits(t *testing.T) {
	t.Parallel()

	o := newOffice(t)
	service := o.service(o.temporal)
	a := o.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "refund")})
	o.start(worker.Config{Allow: allow(o.upstream), Models: map[string]agent.Model{"test": callOnce("refund")}})
	run, w := o.run(a, "go")
	asked := o.waiting(1)[0]
	require.Eventually(t, func() bool { return o.tellable(w, asked.ID) }, time.Minute, 20*time.Millisecond)
	request := runs.PauseRequest{Principal: o.principal, RunID: run.ID}
	_, err := service.Pause(t.Context(), request)
	require.NoError(t, err)
	require.NoError(t, o.tell(o.decide(wait.Verdict{ID: asked.ID, Approve: true, Seen: asked.Binding})))
	o.still(w.GetID())
	require.Zero(t, o.refunds())
	_, err = service.Resume(t.Context(), request)
	require.NoError(t, err)
	out, err := o.wait(w)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, out.Status)
	require.Equal(t, 1, o.refunds())
	requireReplays(t, historyOf(t.Context(), t, o.temporal, w.GetID(), w.GetRunID()), "agentrun_inline_paused_approval")
}

// A paused run is cancelled at once, and outlives its worker.
func TestPausedRunIsCancelledOrContinued(t *testing.T) {
	t.Parallel()

	s := newStepping(t, tool.LaneAuto)
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "step")})
	turns := []agent.Call{call("c1", "step", noteIn{"1"}), call("c2", "step", noteIn{"2"})}
	stop := s.startStoppable(s.config(turns))
	paused := func() (agent.Run, client.WorkflowRun) {
		run, w := s.run(a, "go")
		<-s.began
		s.pauseInCall(run.ID, run.ID, w.GetID())
		s.release <- struct{}{}
		s.still(w.GetID())
		return run, w
	}
	run, w := paused()
	_, err := s.service.Cancel(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	_, err = s.wait(w)
	require.True(t, temporal.IsCanceledError(err), "%v", err)
	ended, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCancelled, ended.Status)
	_, err = s.service.Resume(t.Context(), s.request(run.ID))
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "agentrun_inline_paused_cancelled")

	run, w = paused()
	stop()
	s.start(s.config(turns))
	s.resume(run.ID)
	require.Equal(t, "2", <-s.began)
	s.release <- struct{}{}
	_, err = s.wait(w)
	require.NoError(t, err)
	require.Equal(t, []string{"1", "1", "2"}, s.steps())
}

// mute is a Temporal that takes no signals.
type mute struct{ client.Client }

func (mute) SignalWorkflow(context.Context, string, string, string, any) error {
	return serviceerror.NewUnavailable("down")
}

// A pause that Temporal does not take stops a run in place all the same; that it was resumed
// is sent again.
func TestPauseIsSentAgain(t *testing.T) {
	t.Parallel()

	s := newStepping(t, tool.LaneAuto)
	away := s.site.service(mute{s.temporal})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "step")})
	s.start(s.config([]agent.Call{call("c1", "step", noteIn{"1"}), call("c2", "step", noteIn{"2"})}))
	run, w := s.run(a, "go")
	<-s.began
	paused, err := away.Pause(t.Context(), s.request(run.ID))
	require.NoError(t, err)
	s.learned.await(t, run.ID, paused.PauseRound)
	s.release <- struct{}{}
	require.Eventually(t, func() bool { return len(activityOrMarker(t, s.site, w)) > 0 }, time.Minute, 20*time.Millisecond)
	s.still(w.GetID())
	_, err = away.Resume(t.Context(), s.request(run.ID))
	require.NoError(t, err)
	s.still(w.GetID())
	require.Equal(t, []string{"1"}, s.steps())
	close(s.release)
	_, err = s.db.Conn(t).Exec(t.Context(), `update runs set pause_due = now() where id = $1`, run.ID)
	require.NoError(t, err)
	require.Eventually(t, func() bool { // Other tests deliver too.
		_, err := s.service.Deliver(t.Context(), 100)
		require.NoError(t, err)
		return len(s.steps()) == 2
	}, time.Minute, 100*time.Millisecond)
	_, err = s.wait(w)
	require.NoError(t, err)
}

// What is below a run is paused with it, and only with it.
func TestPauseReachesTheRunsBelow(t *testing.T) {
	t.Parallel()

	s := newStepping(t, tool.LaneAuto)
	s.publishAgentAs("clerk", agent.Definition{Name: "Clerk", Model: "test/clerk", Tools: refs(t, "step")})
	s.publish("askClerk", delegation("clerk", tool.Execution{}), tool.Policy{})
	boss := s.publishAgentAs("boss", agent.Definition{Name: "Boss", Model: "test/boss", Tools: refs(t, "askClerk")})
	steps := play([]agent.Call{call("c1", "step", noteIn{"1"}), call("c2", "step", noteIn{"2"})})
	asks := play([]agent.Call{{ID: "c0", Name: "askClerk", Arguments: json.RawMessage(`{"prompt":"go"}`)}})
	models := map[string]agent.Model{"test": agent.ModelFunc(
		func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
			if req.Model == "boss" {
				return asks.Generate(ctx, req)
			}
			return steps.Generate(ctx, req)
		})}
	s.start(worker.Config{Functions: s.functions, Logger: s.learned.logger(), Models: models})
	run, w := s.run(boss, "go")
	require.Equal(t, "1", <-s.began)
	below, err := s.ListRuns(t.Context(), s.principal.Tenant, store.RunQuery{Parent: run.ID})
	require.NoError(t, err)
	require.Len(t, below, 1)
	_, err = s.service.Pause(t.Context(), s.request(below[0].ID))
	require.Equal(t, tool.Conflict, tool.KindOf(err))
	require.ErrorContains(t, err, run.ID)

	s.pauseInCall(run.ID, below[0].ID, below[0].WorkflowID)
	s.release <- struct{}{}
	require.Eventually(t, func() bool {
		return s.invocations(below[0].ID)[0].Status == tool.StatusCompleted
	}, time.Minute, 20*time.Millisecond)
	s.still(below[0].WorkflowID)
	require.Equal(t, []string{"1"}, s.steps())
	child, err := s.FindRun(t.Context(), s.principal.Tenant, below[0].ID)
	require.NoError(t, err)
	require.NotNil(t, child.Paused)
	close(s.release)
	s.resume(run.ID)
	out, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, out.Status)
	require.Equal(t, []string{"1", "2"}, s.steps())
	requireReplays(t, historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID()), "agent_call_inline_paused")
}
