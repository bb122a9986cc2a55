package anthropic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/anthropic"
	"github.com/toolcrib/toolcrib/platform/models/modeltest"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
)

var provider = modeltest.Provider{
	New:          func(cfg remote.Config) (agent.Model, error) { return anthropic.New(cfg) },
	Path:         "/v1/messages",
	StreamFields: `{"stream":true}`,
	Key:          func(r modeltest.Request) string { return r.Header.Get("X-Api-Key") },
	Did: []json.RawMessage{
		json.RawMessage(`{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query":"kettle recall"}}`),
		json.RawMessage(`{"type":"web_search_tool_result","tool_use_id":"srv_1",` +
			`"content":[{"type":"web_search_result","url":"https://recalls.example/","title":"Recalls",` +
			`"encrypted_content":"c2VjcmV0","page_age":null}]}`),
	},
}

func TestModel(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, provider)
}

// generate asks a server that answers body what req wants, and returns the
// request that it got.
func generate(t *testing.T, body string, req agent.ModelRequest) (*agent.ModelResponse, map[string]any, error) {
	t.Helper()
	server := modeltest.Serve(t, modeltest.Answer(modeltest.Message{
		Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
	}))
	m, err := anthropic.New(remote.Config{Provider: "local", BaseURL: server.URL, Keys: remote.Keys{Optional: true}})
	require.NoError(t, err)
	resp, err := m.Generate(context.Background(), &req)
	var sent map[string]any
	if all := server.Requests(); len(all) > 0 {
		require.NoError(t, json.Unmarshal([]byte(all[0].Body), &sent))
	}
	return resp, sent, err
}

func message(content, stop string) string {
	return fmt.Sprintf(
		`{"type":"message","role":"assistant","content":%s,"stop_reason":%q,"usage":{"input_tokens":1,"output_tokens":1}}`,
		content, stop,
	)
}

const hello = `[{"type":"text","text":"Hello"}]`

var tools = []agent.ToolSpec{
	{Name: "getOrder", InputSchema: json.RawMessage(`{"type":"object"}`)},
	{Name: "a.b", InputSchema: json.RawMessage(`{}`)},
}

func asked(role agent.Role) []agent.Message {
	return []agent.Message{{Role: role, Content: []tool.Content{tool.Text("Hello")}}}
}

// Every option goes where the API has it.
func TestOptions(t *testing.T) {
	t.Parallel()

	_, sent, err := generate(t, message(
		hello, "end_turn",
	), agent.ModelRequest{Tools: tools, Instructions: "Be kind.", Messages: asked(agent.RoleUser), Options: json.RawMessage(`{
		"temperature": 1, "top_p": 0.9, "top_k": 40, "max_tokens": 500, "stop": ["END", "STOP"], "reasoning_effort": "medium",
		"thinking_budget": 2048, "service_tier": "standard_only", "tool_choice": {"tool": "a.b"}, "parallel_tool_calls": false, "prompt_cache": false
	}`)})
	require.NoError(t, err)
	for name, want := range map[string]any{
		"temperature": 1.0, "top_p": 0.9, "top_k": 40.0, "stop_sequences": []any{"END", "STOP"},
		"service_tier":  "standard_only",
		"max_tokens":    3072.0, // The thoughts count too.
		"output_config": map[string]any{"effort": "medium"},
		"thinking":      map[string]any{"type": "enabled", "budget_tokens": 2048.0},
	} {
		require.Equal(t, want, sent[name], name)
	}
	choice, err := json.Marshal(sent["tool_choice"])
	require.NoError(t, err)
	require.Regexp(t, `^\{"disable_parallel_tool_use":true,"name":"a_b_[0-9a-f]{8}","type":"tool"\}$`, string(choice))
	require.NotContains(t, fmt.Sprint(sent), "cache_control")

	for options, want := range map[string]string{
		`{"tool_choice":"required"}`:                              `{"type":"any"}`,
		`{"tool_choice":"none","parallel_tool_calls":false}`:      `{"type":"none"}`,
		`{"tool_choice":"auto"}`:                                  `{"type":"auto"}`,
		`{"parallel_tool_calls":false}`:                           `{"disable_parallel_tool_use":true,"type":"auto"}`,
		`{"thinking_budget":null,"prompt_cache":true,"stop":"x"}`: `null`,
	} {
		_, sent, err := generate(t, message(
			hello, "end_turn",
		), agent.ModelRequest{Tools: tools, Options: json.RawMessage(options)})
		require.NoError(t, err)
		got, err := json.Marshal(sent["tool_choice"])
		require.NoError(t, err)
		require.JSONEq(t, want, string(got), options)
	}
}

// A model does not think when it continues after tool calls: it would have to
// be sent its earlier thoughts, which are not kept.
func TestThinksBeforeItAnswersTheUser(t *testing.T) {
	t.Parallel()

	messages := append(asked(agent.RoleUser), agent.Message{
		Role: agent.RoleAssistant, Calls: []agent.Call{{ID: "c", Name: "getOrder", Arguments: json.RawMessage(`{}`)}},
	})
	messages = append(messages, agent.Message{Role: agent.RoleTool, CallID: "c"})
	_, sent, err := generate(t, message(
		hello, "end_turn",
	), agent.ModelRequest{Tools: tools, Messages: messages, Options: json.RawMessage(`{"thinking_budget":2048}`)})
	require.NoError(t, err)
	require.NotContains(t, sent, "thinking")
}

// How an answer may end.
func TestEnds(t *testing.T) {
	t.Parallel()

	const call = `[{"type":"text","text":"a"},{"type":"tool_use","id":"c","name":"getOrder","input":{"n":9007199254740993}},{"type":"text","text":"b"},{"type":"something_new"}]`
	got, _, err := generate(t, message(call, "tool_use"), agent.ModelRequest{Turn: 1, Tools: tools})
	require.NoError(t, err)
	require.Equal(t, "ab", got.Text)
	require.Equal(t, []agent.Call{{ID: "c", Name: "getOrder", Arguments: json.RawMessage(`{"n":9007199254740993}`)}},
		got.Calls)

	for stop, truncated := range map[string]bool{
		"end_turn": false, "stop_sequence": false, "max_tokens": true, "model_context_window_exceeded": true,
		"pause_turn": true, "something_new": true,
	} {
		got, _, err := generate(t, message(hello, stop), agent.ModelRequest{})
		require.NoError(t, err)
		require.Equal(t, truncated, got.Truncated, stop)
	}
	got, _, err = generate(t, message(`[]`, "end_turn"), agent.ModelRequest{})
	require.NoError(t, err)
	require.Empty(t, got.Text, "after tools, a model may have nothing to add")

	_, _, err = generate(t, message(hello, "refusal"), agent.ModelRequest{})
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, _, err = generate(t, message(`[]`, "max_tokens"), agent.ModelRequest{})
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "raise max_tokens")
}

// A tool's own options are in its declaration; a request has at most four marks.
func TestOptionsOfATool(t *testing.T) {
	t.Parallel()

	eager := true
	var specs []agent.ToolSpec
	for _, name := range []string{"a", "b", "c", "d"} {
		specs = append(specs, agent.ToolSpec{
			Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), Options: &agent.ToolOptions{
				Anthropic: agent.AnthropicToolOptions{
					CacheControl: &agent.CacheControl{Type: "ephemeral", TTL: "1h"}, EagerInputStreaming: &eager,
				},
			},
		})
	}
	_, sent, err := generate(t, message(hello, "end_turn"), agent.ModelRequest{
		Tools: specs, Instructions: "Be kind.", Messages: asked(agent.RoleUser),
	})
	require.NoError(t, err)
	list, ok := sent["tools"].([]any)
	require.True(t, ok)
	first, ok := list[0].(map[string]any)
	require.True(t, ok)
	require.Equal(t, map[string]any{"type": "ephemeral", "ttl": "1h"}, first["cache_control"])
	require.Equal(t, true, first["eager_input_streaming"])
	raw, err := json.Marshal(sent)
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(raw), "cache_control"))
}
