package e2e_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// Of a turn with more calls than its agent may make, the first ones run, in order; each other is
// refused with a result that the model gets and can act on, and the run goes on.
func TestCallsBeyondTheTurnAreRefused(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "test/x", Tools: refs(t, "read"), ToolMode: agent.ParallelSafe,
		Limits: agent.Limits{MaxCallsPerTurn: 2},
	})
	var seen []agent.Message
	model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		if req.Turn > 1 {
			seen = req.Messages
			return &agent.ModelResponse{Text: "done"}, nil
		}
		resp := &agent.ModelResponse{}
		for i := range 5 {
			resp.Calls = append(resp.Calls, call(fmt.Sprintf("call_%d", i), "read", noteIn{Name: strconv.Itoa(i)}))
		}
		return resp, nil
	})
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": model}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)

	ended, err := s.Store.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, ended.Status)
	require.Len(t, seen, 7, "the user's message, the model's, and five answers")
	for i, m := range seen[2:] {
		require.Equal(t, fmt.Sprintf("call_%d", i), m.CallID, "answers stand in call order")
		require.Equal(t, i >= 2, m.IsError)
		if i >= 2 {
			require.Contains(t, m.Content[0].Text, "a turn may make at most 2 calls; make this one in the next")
		}
	}
	ends := make(map[tool.InvocationStatus]int)
	for _, i := range s.invocations(run.ID) {
		ends[i.Status]++
	}
	require.Equal(t, map[tool.InvocationStatus]int{tool.StatusCompleted: 2, tool.StatusFailed: 3}, ends)
}
