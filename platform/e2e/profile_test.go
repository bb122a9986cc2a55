package e2e_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/internal/failure"
	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// assigns makes a profile of the site's tenant, unless it has no name, and assigns a tool with it: to
// an agent, or to every caller.
func (s *site) assigns(ctx context.Context, slug string, a *agent.Agent, p tool.Profile) profile.Assignment {
	s.t.Helper()
	of, err := s.FindTool(ctx, s.principal.Tenant, tool.Ref{Slug: slug})
	require.NoError(s.t, err)
	set := profile.Assignment{Tenant: s.principal.Tenant, ToolID: of.ID}
	if a != nil {
		set.AgentID = a.ID
	}
	if p.Name != "" {
		made, err := s.CreateProfile(ctx, profile.Profile{Tenant: s.principal.Tenant, Profile: p})
		require.NoError(s.t, err)
		set.ProfileID = made.ID
	}
	set, err = s.SetAssignment(ctx, set)
	require.NoError(s.t, err)
	return set
}

var onePerSecond = tool.Profile{Name: "slow", Rate: &tool.Rate{Calls: 1, Per: tool.PerSecond, Burst: 1}}

// A call beyond the rate of a profile waits for its token, in either lane, whatever its tool is; it
// is made once.
func TestRateOfAProfile(t *testing.T) {
	t.Parallel()

	for name, x := range map[string]tool.Execution{
		"InPlace": {Pure: true}, "Visible": {Pure: true, Lane: tool.LaneVisible}, "Once": {},
		"VisibleOnce": {Lane: tool.LaneVisible},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			functions := function.NewRegistry()
			made := make(chan string, 10)
			note := func(_ context.Context, in noteIn) (noteOut, error) {
				made <- in.Name
				return noteOut(in), nil
			}
			var options []function.Option
			if x.Pure {
				options = append(options, function.Pure())
			}
			require.NoError(t, function.Define(functions, "note", "note", note, options...))
			s.publish("note", functionTool("note", x), tool.Policy{})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "note")})
			s.assigns(t.Context(), "note", nil, onePerSecond)
			s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": play(
				[]agent.Call{call("c1", "note", noteIn{"A"})}, []agent.Call{call("c2", "note", noteIn{"B"})},
			)}})
			began := time.Now()
			run, w := s.run(a, "go")
			_, err := s.wait(w)
			require.NoError(t, err)
			require.Len(t, made, 2)
			require.GreaterOrEqual(t, time.Since(began), time.Second, "the second call waited for its token")
			for _, call := range s.invocations(run.ID) {
				require.Equal(t, tool.StatusCompleted, call.Status, call.Error)
			}
		})
	}
}

// A single call, whose first attempt is part of its workflow's task, waits for its token too.
func TestRateOfSingleCalls(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := function.NewRegistry()
	read := func(_ context.Context, in noteIn) (noteOut, error) { return noteOut(in), nil }
	require.NoError(t, function.Define(functions, "read", "read", read, function.Pure()))
	s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	s.assigns(t.Context(), "read", nil, onePerSecond)
	s.start(worker.Config{Functions: functions})
	began := time.Now()
	for range 3 {
		_, _, result, err := s.toolCall("read", `{"name":"Ada"}`)
		require.NoError(t, err)
		require.False(t, result.IsError)
	}
	require.GreaterOrEqual(t, time.Since(began), 2*time.Second)
}

// A rate whose next token is far away ends the call: the model reads which profile refused it.
func TestRateThatIsUsedUp(t *testing.T) {
	t.Parallel()

	for name, x := range map[string]tool.Execution{
		"InPlace": {Pure: true}, "VisibleOnce": {Lane: tool.LaneVisible},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			functions := function.NewRegistry()
			read := func(_ context.Context, in noteIn) (noteOut, error) { return noteOut(in), nil }
			var options []function.Option
			if x.Pure {
				options = append(options, function.Pure())
			}
			require.NoError(t, function.Define(functions, "read", "read", read, options...))
			s.publish("read", functionTool("read", x), tool.Policy{})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read")})
			s.assigns(t.Context(), "read", &a, tool.Profile{Name: "daily", Rate: &tool.Rate{Calls: 1, Per: tool.PerDay}})
			s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": play(
				[]agent.Call{call("c1", "read", noteIn{"A"})}, []agent.Call{call("c2", "read", noteIn{"B"})},
			)}})
			run, w := s.run(a, "go")
			_, err := s.wait(w)
			require.NoError(t, err)
			var refused []tool.Invocation
			for _, call := range s.invocations(run.ID) {
				if call.Status == tool.StatusFailed {
					refused = append(refused, call)
				}
			}
			require.Len(t, refused, 1)
			require.Equal(t, tool.RateLimited, refused[0].ErrorKind)
			require.Contains(t, refused[0].Error, `profile "daily" allows 1 call a day; the next may begin in`)
		})
	}
}

// A profile that asks for approvals or denies applies to calls of agents and of others, in a run that
// is under way.
func TestProfileRaises(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := function.NewRegistry()
	var assigned profile.Assignment
	read := func(_ context.Context, in noteIn) (noteOut, error) { return noteOut(in), nil }
	require.NoError(t, function.Define(functions, "read", "read", read, function.Pure()))
	s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read")})
	model := agent.ModelFunc(func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		switch req.Turn {
		case 1:
		case 2:
			assigned = s.assigns(ctx, "read", &a, tool.Profile{Name: "off", Denied: true})
		default:
			return &agent.ModelResponse{Text: "done"}, nil
		}
		return &agent.ModelResponse{Calls: []agent.Call{call(strconv.Itoa(req.Turn), "read", noteIn{"x"})}}, nil
	})
	s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": model}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	statuses := map[tool.InvocationStatus]tool.Kind{}
	for _, call := range s.invocations(run.ID) {
		statuses[call.Status] = call.ErrorKind
		if call.ErrorKind != "" {
			require.Contains(t, call.Error, `profile "off": it denies calls of the tool`)
		}
	}
	require.Equal(t, map[tool.InvocationStatus]tool.Kind{
		tool.StatusCompleted: "", tool.StatusFailed: tool.Denied,
	}, statuses)

	_, _, result, err := s.toolCall("read", `{"name":"Ada"}`)
	require.NoError(t, err, "the assignment is the agent's")
	require.False(t, result.IsError)
	_, err = s.DeleteAssignment(t.Context(), s.principal.Tenant, assigned.ID)
	require.NoError(t, err)
	s.assigns(t.Context(), "read", nil, tool.Profile{Name: "locked", RequiredPermission: "vault"})
	_, _, _, err = s.toolCall("read", `{"name":"Ada"}`)
	require.Equal(t, tool.Denied, tool.KindOf(failure.Decode(err)))
	require.ErrorContains(t, err, `profile "locked"`)
}

// An agent has an assigned tool in runs that begin later; once it is revoked, the next call of a run
// that has it is denied.
func TestAssignedTool(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	functions := function.NewRegistry()
	read := func(_ context.Context, in noteIn) (noteOut, error) { return noteOut(in), nil }
	for _, slug := range []string{"read", "extra"} {
		require.NoError(t, function.Define(functions, slug, slug, read, function.Pure()))
		s.publish(slug, functionTool(slug, tool.Execution{Pure: true}), tool.Policy{})
	}
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read")})
	var offered [][]string
	var revoke profile.Assignment
	model := agent.ModelFunc(func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		var names []string
		for _, spec := range req.Tools {
			names = append(names, spec.Name)
		}
		offered = append(offered, names)
		switch {
		case req.Turn == 1 && len(names) == 2:
		case req.Turn == 2:
			if _, err := s.DeleteAssignment(ctx, s.principal.Tenant, revoke.ID); err != nil {
				return nil, err
			}
		default:
			return &agent.ModelResponse{Text: "done"}, nil
		}
		return &agent.ModelResponse{Calls: []agent.Call{call(strconv.Itoa(req.Turn), "extra", noteIn{"x"})}}, nil
	})
	s.start(worker.Config{Functions: functions, Models: map[string]agent.Model{"test": model}})
	_, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	revoke = s.assigns(t.Context(), "extra", &a, tool.Profile{})
	run, w := s.run(a, "go")
	_, err = s.wait(w)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"read"}, {"extra", "read"}, {"extra", "read"}, {"read"}}, offered)
	statuses := map[tool.InvocationStatus]string{}
	for _, call := range s.invocations(run.ID) {
		statuses[call.Status] = call.Error
	}
	require.Equal(t, map[tool.InvocationStatus]string{
		tool.StatusCompleted: "", tool.StatusFailed: `tool "extra" is no longer assigned to the agent`,
	}, statuses)
	stored, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	pin, ok := stored.Plan.Find("extra")
	require.True(t, ok && pin.Assigned)
}

// Two workers run the calls of several runs within a profile, but never more at once than it allows.
func TestMaxConcurrencyOfAProfile(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		x       tool.Execution
		options []function.Option
	}{
		"Pure": {tool.Execution{Pure: true, MaxConcurrency: 8}, []function.Option{function.Pure()}},
		"Once": {tool.Execution{Lane: tool.LaneVisible}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			d := functionTool("read", c.x)
			d.InputSchema = json.RawMessage(`{"type":"object"}`)
			s.publish("read", d, tool.Policy{})
			a := s.publishAgent(agent.Definition{
				Name: "Desk", Model: "test/x", Tools: refs(t, "read"), ToolMode: agent.ParallelSafe,
			})
			s.assigns(t.Context(), "read", nil, tool.Profile{Name: "two", MaxConcurrency: 2})
			model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
				if req.Turn > 1 {
					return &agent.ModelResponse{Text: "done"}, nil
				}
				resp := &agent.ModelResponse{}
				for i := range 4 {
					resp.Calls = append(resp.Calls, call(strconv.Itoa(i), "read", noteIn{"x"}))
				}
				return resp, nil
			})
			b := &busy{}
			for range 2 {
				s.start(worker.Config{Functions: b.registry(t, c.options...), Models: map[string]agent.Model{"test": model}})
			}
			started := make([]client.WorkflowRun, 4)
			runs := make([]agent.Run, len(started))
			for i := range started {
				runs[i], started[i] = s.run(a, "go")
			}
			for i, w := range started {
				_, err := s.wait(w)
				require.NoError(t, err)
				for _, call := range s.invocations(runs[i].ID) {
					require.Equal(t, tool.StatusCompleted, call.Status, call.Error)
				}
			}
			require.EqualValues(t, 16, b.all.Load())
			require.LessOrEqual(t, b.most.Load(), int64(2))
		})
	}
}
