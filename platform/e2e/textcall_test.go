package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/openai"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// plainServer is a server of a model without tool calls: it refuses requests that have tools,
// calls or messages of tools, and gives one answer after another.
type plainServer struct {
	mu      sync.Mutex
	answers []string
	asked   [][]plainMessage
}

type plainMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls json.RawMessage `json:"tool_calls"`
}

func (s *plainServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var req struct {
		Messages []plainMessage  `json:"messages"`
		Tools    json.RawMessage `json:"tools"`
	}
	err := json.NewDecoder(r.Body).Decode(&req)
	refused := err != nil || req.Tools != nil
	for _, m := range req.Messages {
		refused = refused || m.Role == "tool" || m.ToolCalls != nil
	}
	if refused {
		http.Error(w, `{"error":{"message":"this model does not support tools"}}`, http.StatusBadRequest)
		return
	}
	s.asked = append(s.asked, req.Messages)
	text := s.answers[min(len(s.asked), len(s.answers))-1]
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{
		"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text},
	}}})
}

// An agent whose model has no tool calls of its own runs its tools: the model is told of them
// in its instructions, its calls are read from its text, and it gets their answers as text.
func TestModelWithoutToolCalls(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	server := &plainServer{answers: []string{
		"I look both up.\n\n```json\n{\"name\": \"read\", \"arguments\": {\"name\": \"A\"}}\n```\n" +
			"```json\n{'tool': 'read', 'args': {'name': 'B',}}\n```",
		"Found: old A and old B.",
	}}
	endpoint := httptest.NewServer(server)
	t.Cleanup(endpoint.Close)
	model, err := openai.New(remote.Config{
		Provider: "plain", BaseURL: endpoint.URL, Keys: remote.Keys{Optional: true},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, model.Close()) })

	d := functionTool("read", tool.Execution{Pure: true})
	d.InputSchema = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
	s.publish("read", d, tool.Policy{})
	a := s.publishAgent(agent.Definition{
		Name: "Desk", Model: "plain/small", Instructions: "Look things up.", Tools: refs(t, "read"),
		TextToolCalls: agent.TextToolCallsOnly,
	})
	s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"plain": model}})
	run, w := s.run(a, "go")
	_, err = s.wait(w)
	require.NoError(t, err)

	ended, err := s.Store.FindRun(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Equal(t, agent.RunCompleted, ended.Status)
	require.Equal(t, "Found: old A and old B.", ended.Output)
	messages, err := s.Store.Transcript(t.Context(), s.principal.Tenant, run.ID)
	require.NoError(t, err)
	require.Len(t, messages, 5)
	require.Equal(t, "I look both up.", messages[1].Content[0].Text)
	require.Equal(t, []agent.Call{
		{ID: "text_1_0", Name: "read", Arguments: json.RawMessage(`{"name":"A"}`)},
		{ID: "text_1_1", Name: "read", Arguments: json.RawMessage(`{"name":"B"}`)},
	}, compacted(t, messages[1].Calls))
	require.Equal(t, agent.RoleTool, messages[2].Role)
	require.False(t, messages[2].IsError)

	require.Len(t, server.asked, 2)
	first := server.asked[0]
	require.Equal(t, "system", first[0].Role)
	require.Contains(t, string(first[0].Content), "## read")
	require.Contains(t, string(first[0].Content), `\"required\":[\"name\"]`)
	second := server.asked[1]
	require.Len(t, second, 4)
	require.Equal(t, "assistant", second[2].Role)
	require.Equal(t, "user", second[3].Role)
	var shown string
	require.NoError(t, json.Unmarshal(second[3].Content, &shown))
	require.Equal(t, 2, strings.Count(shown, `<tool_response name="read">`))
	require.Contains(t, shown, "old A")
}

// compacted returns calls with arguments without white space: the database adds some.
func compacted(t *testing.T, calls []agent.Call) []agent.Call {
	t.Helper()
	for i := range calls {
		raw, err := tool.Canonical(calls[i].Arguments)
		require.NoError(t, err)
		calls[i].Arguments = raw
	}
	return calls
}

// An agent with the fallback offers its tools natively and reads calls from the text of an
// answer without native ones; an agent without it takes such an answer for the last one.
func TestTextToolCallsAsAFallback(t *testing.T) {
	t.Parallel()

	const text = `<tool_call>{"name": "read", "arguments": {"name": "A"}}</tool_call>`
	for treatment, output := range map[agent.TextToolCalls]string{agent.TextToolCallsFallback: "done", "": text} {
		t.Run("treatment "+string(treatment), func(t *testing.T) {
			t.Parallel()

			s := newSite(t)
			s.publish("read", functionTool("read", tool.Execution{Pure: true}), tool.Policy{})
			a := s.publishAgent(agent.Definition{
				Name: "Desk", Model: "test/x", Tools: refs(t, "read"), TextToolCalls: treatment,
			})
			model := agent.ModelFunc(func(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
				if len(req.Tools) != 1 || strings.Contains(req.Instructions, "read") {
					return nil, &tool.Error{Kind: tool.Invalid, Msg: "expected native tools"}
				}
				if req.Turn == 1 {
					return &agent.ModelResponse{Text: text}, nil
				}
				if last := req.Messages[len(req.Messages)-1]; last.Role != agent.RoleTool || last.IsError {
					return nil, &tool.Error{Kind: tool.Invalid, Msg: "expected the answer of the tool"}
				}
				return &agent.ModelResponse{Text: "done"}, nil
			})
			s.start(worker.Config{Functions: readers(t), Models: map[string]agent.Model{"test": model}})
			run, w := s.run(a, "go")
			_, err := s.wait(w)
			require.NoError(t, err)
			ended, err := s.Store.FindRun(t.Context(), s.principal.Tenant, run.ID)
			require.NoError(t, err)
			require.Equal(t, output, ended.Output)
		})
	}
}
