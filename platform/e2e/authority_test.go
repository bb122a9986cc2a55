package e2e_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// between is a model that calls "read" in two turns, and does something
// between them.
func between(do func()) agent.Model {
	return agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		switch req.Turn {
		case 1:
			return &agent.ModelResponse{Calls: []agent.Call{call("c1", "read", noteIn{Name: "one"})}}, nil
		case 2:
			do()
			return &agent.ModelResponse{Calls: []agent.Call{call("c2", "read", noteIn{Name: "two"})}}, nil
		default:
			return &agent.ModelResponse{Text: "done"}, nil
		}
	})
}

func readers(t *testing.T) *function.Registry {
	t.Helper()
	functions := function.NewRegistry()
	require.NoError(t, function.Define(functions, "read", "Reads.", func(_ context.Context, in noteIn) (noteOut, error) {
		return noteOut{Name: "old " + in.Name}, nil
	}, function.Pure()))
	require.NoError(t, function.Define(functions, "readNew", "Reads.",
		func(_ context.Context, in noteIn) (noteOut, error) {
			return noteOut{Name: "new " + in.Name}, nil
		}, function.Pure()))
	return functions
}

// Content is pinned: what is republished while a run is under way changes
// nothing for that run.
func TestRepublishChangesNothing(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	published := s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read")})
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": between(func() {
		published.Definition = functionTool("readNew", tool.Execution{Pure: true})
		s.release(published, "2.0.0")
	})}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	for _, c := range s.invocations(run.ID) {
		require.Equal(t, "1.0.0", c.Version)
		require.Contains(t, string(c.Output.Structured), "old")
	}
}

// A run does not keep its authority: a tool that is disabled while the run is
// under way is refused at its next call, and the model gets the refusal.
func TestDisableStopsTheNextCall(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	published := s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read")})
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": between(func() {
		published.Status = tool.Disabled
		_, err := s.UpdateTool(context.WithoutCancel(t.Context()), published)
		require.NoError(t, err)
	})}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	calls := s.invocations(run.ID)
	require.Equal(t, tool.StatusCompleted, calls[0].Status)
	require.Equal(t, tool.StatusFailed, calls[1].Status)
	require.Equal(t, tool.Conflict, calls[1].ErrorKind)
}

// A tool that the tenant switches off while a run is under way is refused at its next call,
// whatever the run pinned, on either driver; no new run gets it.
func TestSwitchStopsTheNextCall(t *testing.T) {
	t.Parallel()

	for _, lane := range []tool.Lane{tool.LaneAuto, tool.LaneVisible} {
		t.Run(string(lane), func(t *testing.T) {
			t.Parallel()

			s := newSite(t)
			published := s.publish("read", functionTool("read", tool.Execution{Pure: true, Lane: lane}), tool.Policy{})
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read")})
			off := false
			s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": between(func() {
				_, err := s.SetOverride(context.WithoutCancel(t.Context()), tool.Override{
					Tenant: s.principal.Tenant, ToolID: published.ID, Enabled: &off, ChangedBy: "user:ada",
				})
				require.NoError(t, err)
			})}})
			run, w := s.run(a, "go")
			_, err := s.wait(w)
			require.NoError(t, err)
			calls := s.invocations(run.ID)
			require.Equal(t, tool.StatusCompleted, calls[0].Status)
			require.Equal(t, tool.StatusFailed, calls[1].Status)
			require.Equal(t, tool.Conflict, calls[1].ErrorKind)
			require.Contains(t, calls[1].Error, "switched off")

			run, w = s.run(a, "again")
			_, err = s.wait(w)
			require.NoError(t, err)
			for _, c := range s.invocations(run.ID) {
				require.Equal(t, tool.StatusFailed, c.Status)
			}
		})
	}
}

// A tool of another tenant is not there: for an agent that names it, and for
// one that was pinned to it.
func TestForeignToolIsNotFound(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	foreign := *s
	foreign.principal.Tenant = s.newTenant()
	theirs := foreign.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": between(func() {})}})
	for _, name := range []string{"read", theirs.ID} {
		mine := *s
		a := mine.publishAgentAs("desk"+name[:4], agent.Definition{
			Name: "Desk", Model: "test/x", Tools: refs(t, name), OnUnavailableTool: agent.RefuseRun,
		})
		run, w := mine.run(a, "go")
		_, err := mine.wait(w)
		require.Error(t, err)
		ended, err := s.FindRun(t.Context(), s.principal.Tenant, run.ID)
		require.NoError(t, err)
		require.Equal(t, agent.RunFailed, ended.Status)
		require.Contains(t, ended.Error, "not found")
	}
}

// Each rule that asks for an approval refuses the call at once where nobody may give one,
// and the model gets the reason.
func TestUnapprovableCallsAreRefused(t *testing.T) {
	t.Parallel()

	for name, p := range map[string]tool.Policy{
		"Write":     {EgressClass: tool.EgressWrite},
		"Required":  {RequiresApproval: true},
		"AlwaysAsk": {PermissionPolicy: tool.PermissionAlwaysAsk},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSite(t)
			s.publish("read", functionTool("read", tool.Execution{Pure: true}), p)
			a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read")})
			s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": between(func() {})}})
			run, w := s.run(a, "go")
			_, err := s.wait(w)
			require.NoError(t, err)
			for _, c := range s.invocations(run.ID) {
				require.Equal(t, tool.StatusFailed, c.Status)
				require.Equal(t, tool.Denied, c.ErrorKind)
				require.Contains(t, c.Error, "approval")
			}
		})
	}
}

// A workflow that is reset to before its calls asks the model again. Asked for
// the same, the ledger answers, and nothing is sent a second time.
func TestResetDoesNotRepeatEffects(t *testing.T) {
	t.Parallel()

	c := newCanary(t)
	s := newSite(t)
	s.publish("effect", httpTool(c.URL, onlyOnce), tool.Policy{EgressClass: tool.EgressReadOnly})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "effect")})
	asked := 0
	once := callOnce("effect")
	s.start(worker.Config{
		Allow: allow(c),
		Models: map[string]agent.Model{
			"test": agent.ModelFunc(func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
				asked++
				return once.Generate(ctx, req)
			}),
		},
	})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)

	_, err = s.wait(s.reset(w))
	require.NoError(t, err)
	require.Equal(t, 4, asked, "the model is asked again after a reset")
	requests, _ := c.count()
	require.Equal(t, 1, requests)
	require.Len(t, s.invocations(run.ID), 1)
}

// Large integers arrive as the model wrote them, everywhere.
func TestNumbersSurvive(t *testing.T) {
	t.Parallel()

	const big = "9007199254740993"
	s := newSite(t)
	s.publish(
		"echo",
		tool.Definition{
			Name: "echo", Description: "Echoes.", Implementation: tool.Internal, Execution: tool.Execution{Pure: true},
		},
		tool.Policy{},
	)
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "echo")})
	s.start(worker.Config{Models: map[string]agent.Model{
		"test": play([]agent.Call{{ID: "c0", Name: "echo", Arguments: json.RawMessage(`{"id":` + big + `}`)}}),
	}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	got := s.invocations(run.ID)[0]
	require.Equal(t, tool.StatusCompleted, got.Status, got.Error)
	require.Contains(t, string(got.Input), big)
	require.Contains(t, string(got.Output.Structured), big)
	h := historyOf(t.Context(), t, s.temporal, w.GetID(), w.GetRunID())
	requireReplays(t, h, "agentrun_inline_sequential")
}

// A model is offered only the tools that its caller may use and whose audience
// is models; a call of another tool is answered as if there were none.
func TestModelsHearOfTheirToolsOnly(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	read := functionTool("read", tool.Execution{Pure: true})
	s.publish("read", read, tool.Policy{})
	s.publish("refund", read, tool.Policy{RequiredPermission: "orders.refund"})
	forUsers := read
	forUsers.Interaction.Audience = tool.AudienceUser
	s.publish("openDoor", forUsers, tool.Policy{})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read", "refund", "openDoor")})
	var offered []string
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{
		"test": agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
			if req.Turn > 1 {
				return &agent.ModelResponse{Text: "done"}, nil
			}
			for _, spec := range req.Tools {
				offered = append(offered, spec.Name)
			}
			return &agent.ModelResponse{
				Calls: []agent.Call{call("c1", "refund", noteIn{}), call("c2", "openDoor", noteIn{})},
			}, nil
		}),
	}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, []string{"read"}, offered)
	for _, c := range s.invocations(run.ID) {
		require.Equal(t, tool.NotFound, c.ErrorKind)
	}
}

// A global tool that is taken from a tenant while its run is under way is
// absent from then on, and the run goes on without it.
func TestToolTakenAwayIsAbsent(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.publish("other", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	platform := s.db.Platform.Registry()
	global := s.publishIn(platform, "", "read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read", "other")})
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": between(func() {
		global.TenantSlugs = []string{"somebody-else"}
		_, err := platform.UpdateTool(context.WithoutCancel(t.Context()), global)
		require.NoError(t, err)
	})}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)
	calls := s.invocations(run.ID)
	require.Equal(t, tool.StatusCompleted, calls[0].Status, calls[0].Error)
	require.Equal(t, tool.StatusFailed, calls[1].Status)
	require.Equal(t, tool.NotFound, calls[1].ErrorKind)
}
