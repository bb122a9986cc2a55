package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/openai"
	"github.com/toolcrib/toolcrib/platform/models/remote"
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

// So it is behind the client of a provider: what it sends has the other tools, and the run ends.
func TestAListIsKeptFromTheProviderAlone(t *testing.T) {
	t.Parallel()

	var asked struct {
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&asked)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w,
			`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"done"}}]}`)
	}))
	t.Cleanup(endpoint.Close)
	model, err := openai.New(remote.Config{
		Provider: "plain", BaseURL: endpoint.URL, Keys: remote.Keys{Optional: true},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, model.Close()) })

	s := newSite(t)
	s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
	lists := functionTool("readNew", tool.Execution{Pure: true})
	lists.InputSchema = json.RawMessage(`{"type":"array"}`)
	s.publish("lists", lists, tool.Policy{})
	a := s.publishAgent(agent.Definition{Name: "Desk", Model: "plain/small", Tools: refs(t, "lists", "read")})
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"plain": model}})
	run, w := s.run(a, "go")
	_, err = s.wait(w)
	require.NoError(t, err)

	ended, err := s.Store.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, "done", ended.Output)
	require.Len(t, asked.Tools, 1)
	require.Equal(t, "read", asked.Tools[0].Function.Name)
	warnings := s.warnings(run.ID)
	require.Len(t, warnings, 1)
	var warning agent.Warning
	require.NoError(t, json.Unmarshal(warnings[0].Data, &warning))
	require.Equal(t, "lists", warning.Tool)
	require.Equal(t, agent.WarningUnusableSchema, warning.Reason)
}
