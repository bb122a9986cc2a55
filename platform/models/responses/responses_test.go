package responses_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/modeltest"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/platform/models/responses"
	"github.com/toolcrib/toolcrib/tool"
)

var provider = modeltest.Provider{
	New:          func(cfg remote.Config) (agent.Model, error) { return responses.New(cfg) },
	Path:         "/responses",
	StreamFields: `{"stream":true}`,
	Key: func(r modeltest.Request) string {
		return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	},
	Did: []json.RawMessage{json.RawMessage(
		`{"id":"ws_1","type":"web_search_call","status":"completed",` +
			`"action":{"type":"search","query":"kettle recall","queries":["kettle recall"]}}`,
	)},
}

func TestModel(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, provider)
}

// A provider's code interpreter is passed on and run by nobody here: what it did
// is a part of the message, which goes back to the provider, with its encrypted
// reasoning, and is no call of ours.
func TestCodeInterpreter(t *testing.T) {
	t.Parallel()

	reasoning := agent.ProviderBlock("testing", json.RawMessage(
		`{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"ZW5jcnlwdGVk"}`,
	))
	ran := agent.ProviderBlock("testing", json.RawMessage(
		`{"id":"ci_1","type":"code_interpreter_call","status":"completed","code":"print(6*7)","container_id":"cntr_1",`+
			`"outputs":[{"type":"logs","logs":"42\n"}]}`,
	))
	call := agent.Call{ID: "call_f1", Name: "getOrder", Arguments: json.RawMessage(`{"order_id":"SO-42"}`)}
	said := []tool.Content{reasoning, ran, tool.Text("It is 42.")}
	request := agent.ModelRequest{
		Model: "gpt-5-mini", Turn: 1, Tenant: "tenant-1",
		Messages: []agent.Message{
			{Role: agent.RoleUser, Content: []tool.Content{tool.Text("What is 5 times 8?")}},
			{Role: agent.RoleAssistant, Content: []tool.Content{reasoning, tool.Text("40.")}},
			{Role: agent.RoleUser, Content: []tool.Content{tool.Text("Where is the order 6 times 7?")}},
		},
		Tools: []agent.ToolSpec{{Name: "getOrder", InputSchema: json.RawMessage(`{"type":"object"}`)}},
		ProviderTools: []agent.ProviderTool{{
			Name: "runPython", Provider: "testing",
			Tool: json.RawMessage(`{"type":"code_interpreter","container":{"type":"auto"}}`),
		}},
	}
	provider.Check(t, modeltest.Case{Name: "code_interpreter", Request: request, Want: agent.ModelResponse{
		Text: "It is 42.", Content: said, Calls: []agent.Call{call},
		Usage: agent.Usage{InputTokens: 88, OutputTokens: 40, ReasoningTokens: 9},
	}})

	request.Turn++
	request.Messages = append(request.Messages,
		agent.Message{Role: agent.RoleAssistant, Content: said, Calls: []agent.Call{call}},
		agent.Message{Role: agent.RoleTool, CallID: "call_f1", Content: []tool.Content{tool.Text("on its way")}},
	)
	provider.Check(t, modeltest.Case{Name: "code_interpreter_next", Request: request, Want: agent.ModelResponse{
		Text:  "SO-42 is on its way.",
		Usage: agent.Usage{InputTokens: 140, OutputTokens: 8, CachedInputTokens: 64},
	}})
}

// generate asks a server that answers body what req wants, and returns the
// request that it got.
func generate(t *testing.T, body string, req agent.ModelRequest) (*agent.ModelResponse, map[string]any, error) {
	t.Helper()
	server := modeltest.Serve(t, modeltest.Answer(modeltest.Message{
		Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body,
	}))
	m, err := responses.New(remote.Config{Provider: "local", BaseURL: server.URL, Keys: remote.Keys{Optional: true}})
	require.NoError(t, err)
	resp, err := m.Generate(context.Background(), &req)
	var sent map[string]any
	if all := server.Requests(); len(all) > 0 {
		require.NoError(t, json.Unmarshal([]byte(all[0].Body), &sent))
	}
	return resp, sent, err
}

func response(output string) string { return `{"status":"completed","output":` + output + `}` }

const hello = `[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}]`

var tools = []agent.ToolSpec{
	{Name: "getOrder", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)},
	{Name: "a.b", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{}}}`)},
}

// Every option goes where the API has it.
func TestOptions(t *testing.T) {
	t.Parallel()

	_, sent, err := generate(t, response(hello), agent.ModelRequest{Tools: tools, Options: json.RawMessage(`{
		"temperature": 0.2, "top_p": 0.9, "max_tokens": 500, "max_tool_calls": 3, "reasoning_effort": "low",
		"verbosity": "high", "service_tier": "flex", "tool_choice": {"tool": "getOrder"}, "parallel_tool_calls": false,
		"strict_tools": true, "api": "responses"
	}`)})
	require.NoError(t, err)
	for name, want := range map[string]any{
		"temperature": 0.2, "top_p": 0.9, "max_output_tokens": 500.0, "max_tool_calls": 3.0, "service_tier": "flex",
		"reasoning": map[string]any{"effort": "low"}, "text": map[string]any{"verbosity": "high"},
		"parallel_tool_calls": false, "tool_choice": map[string]any{"type": "function", "name": "getOrder"},
		"store": false, "include": []any{"reasoning.encrypted_content"},
	} {
		require.Equal(t, want, sent[name], name)
	}
	list, ok := sent["tools"].([]any)
	require.True(t, ok)
	for i, strict := range []bool{true, false} { // The second would lose something by it.
		function, ok := list[i].(map[string]any)
		require.True(t, ok)
		require.Equal(t, strict, function["strict"])
	}

	_, sent, err = generate(t, response(hello), agent.ModelRequest{Options: json.RawMessage(
		`{"tool_choice":"required","parallel_tool_calls":true}`,
	)})
	require.NoError(t, err)
	for _, name := range []string{"tool_choice", "parallel_tool_calls", "tools", "include", "temperature"} {
		require.NotContains(t, sent, name, "the API refuses it without tools, or nobody asked for it")
	}
}

// Models that reason are asked for their encrypted reasoning, others never: they
// would refuse the request.
func TestKeepsReasoning(t *testing.T) {
	t.Parallel()

	for model, want := range map[string]bool{
		"gpt-5": true, "gpt-5.1": true, "gpt-5-mini-2025-08-07": true, "o4-mini": true, "ft:o4-mini:us::1": true,
		"gpt-4.1": false, "gpt-4o": false, "gpt-5-chat-latest": false, "qwen3": false, "opus": false,
	} {
		for options, changed := range map[string]bool{
			`{}`: want, `{"keep_reasoning":true}`: true, `{"keep_reasoning":false}`: false,
			`{"reasoning_effort":"high"}`: true, `{"reasoning_effort":"none"}`: false,
		} {
			_, sent, err := generate(t, response(hello), agent.ModelRequest{
				Model: model, Options: json.RawMessage(options),
			})
			require.NoError(t, err)
			require.Equal(t, changed, sent["include"] != nil, "%s with %s", model, options)
		}
	}
}

// How an answer may end, and what is none.
func TestEnds(t *testing.T) {
	t.Parallel()

	got, _, err := generate(t, response(`[
		{"type":"message","content":[{"type":"output_text","text":"No. "},{"type":"refusal","refusal":"I can't."}]}
	]`), agent.ModelRequest{})
	require.NoError(t, err)
	require.Equal(t, &agent.ModelResponse{Text: "No. I can't."}, got)

	got, _, err = generate(t, response(`[
		{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}]},
		{"type":"function_call","name":"getOrder","arguments":"{'n': 1"},
		{"type":"function_call","name":"getOrder","arguments":{"n":9007199254740993}}
	]`), agent.ModelRequest{Turn: 1, Tools: tools})
	require.NoError(t, err)
	require.Equal(t, &agent.ModelResponse{Calls: []agent.Call{
		{ID: "call_1_0", Name: "getOrder", Arguments: json.RawMessage(`"{'n': 1"`)},
		{ID: "call_1_1", Name: "getOrder", Arguments: json.RawMessage(`{"n":9007199254740993}`)},
	}}, got, "reasoning that can't be sent back is not kept")

	got, _, err = generate(t, `{"status":"something_new","output":`+hello+`}`, agent.ModelRequest{})
	require.NoError(t, err)
	require.True(t, got.Truncated)
	got, _, err = generate(t, response(`[]`), agent.ModelRequest{})
	require.NoError(t, err)
	require.Empty(t, got.Text, "after tools, a model may have nothing to add")

	for body, want := range map[string]tool.Kind{
		`{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":` + hello + `}`: tool.Denied,
		`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`:         tool.Invalid,
		`{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slowly"},"output":[]}`:       tool.RateLimited,
		`{"status":"failed","error":{"code":"server_error","message":"oops"},"output":[]}`:                tool.Unavailable,
		`{"status":"failed","error":{"code":"invalid_prompt","message":"no"},"output":[]}`:                tool.Invalid,
	} {
		_, _, err = generate(t, body, agent.ModelRequest{})
		require.Equal(t, want, tool.KindOf(err), body)
	}
}

// A stream says in events of its own that it failed, and may end with an answer
// whose items were only in its events.
func TestStreamEnds(t *testing.T) {
	t.Parallel()

	ask := func(events string) (*agent.ModelResponse, error) {
		server := modeltest.Serve(t, modeltest.Answer(modeltest.Message{
			Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: events,
		}))
		m, err := responses.New(remote.Config{Provider: "local", BaseURL: server.URL, Keys: remote.Keys{Optional: true}})
		require.NoError(t, err)
		return m.Generate(t.Context(), &agent.ModelRequest{Stream: func(agent.Delta) {}})
	}
	for event, want := range map[string]tool.Kind{
		`{"type":"error","code":"rate_limit_exceeded","message":"slowly","param":null}`:                                      tool.RateLimited,
		`{"type":"error","code":"ERR_SOMETHING","message":"no","param":null}`:                                                tool.Unavailable,
		`{"type":"response.failed","response":{"status":"failed","output":[],"error":{"code":"server_error","message":""}}}`: tool.Unavailable,
	} {
		_, err := ask("data: " + event + "\n\n")
		require.Equal(t, want, tool.KindOf(err), event)
	}
	got, err := ask(`data: {"type":"response.output_item.done","output_index":0,"item":` + strings.Trim(hello, "[]") + "}\n\n" +
		`data: {"type":"response.completed","response":` + response(`[]`) + "}\n\n")
	require.NoError(t, err)
	require.Equal(t, "Hello", got.Text)
}

// A tool's own options go before those of the agent's model.
func TestOptionsOfATool(t *testing.T) {
	t.Parallel()

	for _, strict := range []bool{true, false} {
		spec := tools[0]
		spec.Options = &agent.ToolOptions{OpenAI: agent.OpenAIToolOptions{Strict: &strict}}
		options := fmt.Sprintf(`{"strict_tools":%t}`, !strict)
		_, sent, err := generate(t, response(hello), agent.ModelRequest{
			Tools: []agent.ToolSpec{spec}, Options: json.RawMessage(options),
		})
		require.NoError(t, err)
		raw, err := json.Marshal(sent["tools"])
		require.NoError(t, err)
		require.Equal(t, strict, strings.Contains(string(raw), `"strict":true`))
	}
}
