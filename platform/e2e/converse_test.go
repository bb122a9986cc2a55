package e2e_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// A run that is continued takes over the transcript; the other one stays as it is. A fork
// takes over a part, and a rerun nothing but the input.
func TestConversation(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read")})
	var mu sync.Mutex
	asked := map[string][]agent.Role{} // What the model saw last, by what the user said last.
	model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		var roles []agent.Role
		said, calls := "", 0
		for _, m := range req.Messages {
			roles = append(roles, m.Role)
			if m.Role == agent.RoleUser {
				said, calls = m.Content[0].Text, 0
			} else if m.Role == agent.RoleTool {
				calls++
			}
		}
		mu.Lock()
		asked[said] = roles
		mu.Unlock()
		if said == "hello" && calls == 0 {
			return &agent.ModelResponse{Calls: []agent.Call{{ID: "c1", Name: "read", Arguments: json.RawMessage(`{}`)}}}, nil
		}
		return &agent.ModelResponse{Text: "you said " + said}, nil
	})
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": model}})
	service := s.service(s.temporal)
	finish := func(run agent.Run, err error) agent.Run {
		t.Helper()
		require.NoError(t, err)
		_, err = s.wait(s.temporal.GetWorkflow(t.Context(), run.WorkflowID, ""))
		require.NoError(t, err)
		run, err = s.FindRun(t.Context(), s.principal.Tenant, run.ID)
		require.NoError(t, err)
		return run
	}
	first := finish(service.Start(t.Context(), runs.NewRun{
		Principal: s.principal, Agent: "desk", Input: json.RawMessage(`"hello"`),
	}))
	before, err := s.Transcript(t.Context(), s.principal.Tenant, first.ID)
	require.NoError(t, err)

	second := finish(service.Continue(t.Context(), runs.Continuation{
		Principal: s.principal, RunID: first.ID, Input: json.RawMessage(`"more"`),
	}))
	require.Equal(t, "you said more", second.Output)
	require.Equal(t, &agent.Continued{RunID: first.ID, Turn: 2}, second.Continues)
	require.Equal(t, 1, second.Turns, "its own turns count")
	const user, assistant, answer = agent.RoleUser, agent.RoleAssistant, agent.RoleTool
	require.Equal(t, []agent.Role{user, assistant, answer, assistant, user}, asked["more"])
	whole, err := s.Transcript(t.Context(), s.principal.Tenant, second.ID)
	require.NoError(t, err)
	require.Len(t, whole, len(before)+2)

	third := finish(service.Continue(t.Context(), runs.Continuation{
		Principal: s.principal, RunID: second.ID, Input: json.RawMessage(`"again"`),
	}))
	require.Equal(t, []agent.Role{user, assistant, answer, assistant, user, assistant, user}, asked["again"])

	finish(service.Continue(t.Context(), runs.Continuation{
		Principal: s.principal, RunID: first.ID, Input: json.RawMessage(`"fork"`), AfterTurn: 1,
	}))
	require.Equal(t, []agent.Role{user, assistant, answer, user}, asked["fork"])

	repeated := finish(service.Rerun(t.Context(), runs.Rerun{Principal: s.principal, RunID: third.ID}))
	require.Equal(t, "you said again", repeated.Output)
	require.Equal(t, []agent.Role{user, assistant, answer, assistant, user, assistant, user}, asked["again"])

	after, err := s.Transcript(t.Context(), s.principal.Tenant, first.ID)
	require.NoError(t, err)
	require.Equal(t, before, after, "the run that was continued stays as it is")
}
