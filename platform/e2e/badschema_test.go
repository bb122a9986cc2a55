package e2e_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// A tool whose input schema cannot be used, by the platform or by the model's provider, is left
// out of the turn, alone and with a warning; a call of it is refused, and the others run.
func TestABadSchemaIsLeftOutAlone(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	s.publish("lists", functionTool("readNew", tool.Execution{Pure: true}), tool.Policy{})
	odd := functionTool("readNew", tool.Execution{Pure: true})
	odd.InputSchema = json.RawMessage(`{"type":"objct"}`)
	s.publish("odd", odd, tool.Policy{})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "test/x", Tools: refs(t, "read", "odd", "lists")})

	var seen []agent.Message
	model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
		var names []string
		for _, spec := range req.Tools {
			names = append(names, spec.Name)
		}
		resp := &agent.ModelResponse{Text: "done", Omitted: []agent.OmittedTool{{Name: "lists", Reason: "a list"}}}
		switch {
		case len(names) != 2 || names[0] != "lists" || names[1] != "read":
			resp.Text = "I was offered other tools"
		case req.Turn == 1:
			resp.Calls = []agent.Call{call("1", "odd", noteIn{}), call("2", "read", noteIn{Name: "x"})}
		default:
			seen = req.Messages
		}
		return resp, nil
	})
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": model}})
	run, w := s.run(a, "go")
	_, err := s.wait(w)
	require.NoError(t, err)

	ended, err := s.Store.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, "done", ended.Output)
	require.Len(t, seen, 4)
	require.True(t, seen[2].IsError)
	require.Contains(t, seen[2].Content[0].Text, "the tool cannot be used: schema at /type: malformed")
	require.False(t, seen[3].IsError)

	warned := make(map[string]agent.Warning)
	for _, e := range s.warnings(run.ID) {
		var warning agent.Warning
		require.NoError(t, json.Unmarshal(e.Data, &warning))
		require.Equal(t, agent.WarningUnusableSchema, warning.Reason)
		require.NotContains(t, warned, warning.Tool, "one warning for each tool and run")
		warned[warning.Tool] = warning
	}
	require.Len(t, warned, 2)
	require.Contains(t, warned["odd"].Message, "malformed")
	require.Equal(t, "the model is not offered the tool: a list", warned["lists"].Message)
}
