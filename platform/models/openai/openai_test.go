package openai_test

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
	"github.com/toolcrib/toolcrib/platform/models/openai"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
)

var provider = modeltest.Provider{
	New:          func(cfg remote.Config) (agent.Model, error) { return openai.New(cfg) },
	Path:         "/chat/completions",
	StreamFields: `{"stream":true,"stream_options":{"include_usage":true}}`,
	Key: func(r modeltest.Request) string {
		return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
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
	m, err := openai.New(remote.Config{Provider: "local", BaseURL: server.URL, Keys: remote.Keys{Optional: true}})
	require.NoError(t, err)
	resp, err := m.Generate(context.Background(), &req)
	var sent map[string]any
	if all := server.Requests(); len(all) > 0 {
		require.NoError(t, json.Unmarshal([]byte(all[0].Body), &sent))
	}
	return resp, sent, err
}

func choice(message, finish string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"message":%s,"finish_reason":%s}]}`, message, finish)
}

const hello = `{"role":"assistant","content":"Hello"}`

var tools = []agent.ToolSpec{
	{Name: "getOrder", InputSchema: json.RawMessage(`{"type":"object"}`)},
	{Name: "a.b", InputSchema: json.RawMessage(`{}`)},
}

// Every option goes where the API has it.
func TestOptions(t *testing.T) {
	t.Parallel()

	_, sent, err := generate(t, choice(hello, `"stop"`), agent.ModelRequest{Tools: tools, Options: json.RawMessage(`{
		"temperature": 0.2, "top_p": 0.9, "max_tokens": 500, "stop": "END", "seed": -7, "frequency_penalty": 0.5,
		"presence_penalty": -0.5, "reasoning_effort": "low", "verbosity": "high", "service_tier": "flex",
		"tool_choice": {"tool": "a.b"}, "parallel_tool_calls": false
	}`)})
	require.NoError(t, err)
	for name, want := range map[string]any{
		"temperature": 0.2, "top_p": 0.9, "max_tokens": 500.0, "stop": []any{"END"}, "seed": -7.0, "frequency_penalty": 0.5,
		"presence_penalty": -0.5, "reasoning_effort": "low", "verbosity": "high", "service_tier": "flex",
		"parallel_tool_calls": false,
	} {
		require.Equal(t, want, sent[name], name)
	}
	named, err := json.Marshal(sent["tool_choice"])
	require.NoError(t, err)
	require.Regexp(t, `^\{"function":\{"name":"a_b_[0-9a-f]{8}"\},"type":"function"\}$`, string(named))

	_, sent, err = generate(t, choice(
		hello, `"stop"`,
	), agent.ModelRequest{Options: json.RawMessage(`{"tool_choice":"required","parallel_tool_calls":true,"stop":null}`)})
	require.NoError(t, err)
	for _, name := range []string{"tool_choice", "parallel_tool_calls", "stop", "tools", "temperature", "max_tokens"} {
		require.NotContains(t, sent, name, "the API refuses it without tools, or nobody asked for it")
	}
}

// With strict tools, those that lose nothing by it are strict, and the others as they are.
func TestStrictTools(t *testing.T) {
	t.Parallel()

	specs := []agent.ToolSpec{
		{Name: "closed", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)},
		{Name: "open", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{}}}`)},
	}
	for options, want := range map[string]any{`{"strict_tools":true}`: true, `{"strict_tools":false}`: nil, `{}`: nil} {
		_, sent, err := generate(t, choice(hello, `"stop"`), agent.ModelRequest{
			Tools: specs, Options: json.RawMessage(options),
		})
		require.NoError(t, err)
		functions := make([]map[string]any, 2)
		raw, err := json.Marshal(sent["tools"])
		require.NoError(t, err)
		var list []struct {
			Function map[string]any `json:"function"`
		}
		require.NoError(t, json.Unmarshal(raw, &list))
		require.Len(t, list, 2)
		for i := range list {
			functions[i] = list[i].Function
		}
		require.Equal(t, want, functions[0]["strict"])
		require.Nil(t, functions[1]["strict"])
		closed, ok := functions[0]["parameters"].(map[string]any)
		require.True(t, ok)
		if want == true {
			require.Equal(t, []any{"a"}, closed["required"])
		} else {
			require.NotContains(t, closed, "required")
		}
	}
}

// A tool that the API can't describe is left out, and said to be; a choice of it is refused.
func TestOmittedTools(t *testing.T) {
	t.Parallel()

	list := agent.ToolSpec{Name: "list", InputSchema: json.RawMessage(`{"type":"array"}`)}
	resp, sent, err := generate(t, choice(hello, `"stop"`), agent.ModelRequest{
		Tools: append([]agent.ToolSpec{list}, tools...),
	})
	require.NoError(t, err)
	require.Len(t, sent["tools"], 2)
	require.Equal(t, []agent.OmittedTool{{Name: "list", Reason: "input schema: it accepts no object"}}, resp.Omitted)

	_, _, err = generate(t, choice(hello, `"stop"`), agent.ModelRequest{
		Tools: []agent.ToolSpec{list}, Options: json.RawMessage(`{"tool_choice":{"tool":"list"}}`),
	})
	require.Equal(t, tool.Invalid, tool.KindOf(err))
}

// What the many servers that speak the API do otherwise than OpenAI.
func TestOtherServers(t *testing.T) {
	t.Parallel()

	call := func(id, arguments string) string {
		return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"getOrder","arguments":%s}}`, id, arguments)
	}
	tests := map[string]struct {
		body string
		want agent.ModelResponse
	}{
		"NoFinishReason": {choice(hello, "null"), agent.ModelResponse{Text: "Hello"}},
		"NewReason":      {choice(hello, `"something_new"`), agent.ModelResponse{Text: "Hello", Truncated: true}},
		"Empty":          {choice(`{"role":"assistant","content":""}`, `"stop"`), agent.ModelResponse{}},
		"Refusal": {
			choice(`{"content":null,"refusal":"I can't help with that."}`, `"stop"`),
			agent.ModelResponse{Text: "I can't help with that."},
		},
		"NoIDs": {
			choice(`{"tool_calls":[`+call("", `"{}"`)+`,`+call("", `""`)+`]}`, `"tool_calls"`),
			agent.ModelResponse{Calls: []agent.Call{
				{ID: "call_1_0", Name: "getOrder", Arguments: json.RawMessage(`{}`)},
				{ID: "call_1_1", Name: "getOrder", Arguments: json.RawMessage(`{}`)},
			}},
		},
		"ArgumentsAsObject": {
			choice(`{"tool_calls":[`+call("c", `{"n":9007199254740993}`)+`]}`, `"stop"`),
			agent.ModelResponse{Calls: []agent.Call{
				{ID: "c", Name: "getOrder", Arguments: json.RawMessage(`{"n":9007199254740993}`)},
			}},
		},
		"MalformedArguments": {
			choice(`{"tool_calls":[`+call("c", `"{'n': 1"`)+`]}`, `"tool_calls"`), agent.ModelResponse{Calls: []agent.Call{
				{ID: "c", Name: "getOrder", Arguments: json.RawMessage(`"{'n': 1"`)},
			}},
		},
		"UnknownTool": {
			choice(`{"tool_calls":[{"id":"c","function":{"name":"trackParcel","arguments":"{}"}}]}`, `"tool_calls"`),
			agent.ModelResponse{Calls: []agent.Call{
				{ID: "c", Name: "trackParcel", Arguments: json.RawMessage(`{}`)},
			}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, _, err := generate(t, tt.body, agent.ModelRequest{Turn: 1, Tools: tools})
			require.NoError(t, err)
			require.Equal(t, tt.want, *got)
		})
	}
}

// An answer that a filter stopped, or that was cut off before it began, is
// none.
func TestNoAnswer(t *testing.T) {
	t.Parallel()

	_, _, err := generate(t, choice(hello, `"content_filter"`), agent.ModelRequest{})
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, _, err = generate(t, choice(`{"content":""}`, `"length"`), agent.ModelRequest{})
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.ErrorContains(t, err, "raise max_tokens")
	_, _, err = generate(t, `{"error":{"code":"rate_limit_exceeded","message":"slowly"}}`, agent.ModelRequest{})
	require.Equal(t, tool.RateLimited, tool.KindOf(err))
}

// A tool's own options go before those of the agent's model.
func TestOptionsOfATool(t *testing.T) {
	t.Parallel()

	for _, strict := range []bool{true, false} {
		spec := tools[0]
		spec.Options = &agent.ToolOptions{OpenAI: agent.OpenAIToolOptions{Strict: &strict}}
		options := fmt.Sprintf(`{"strict_tools":%t}`, !strict)
		_, sent, err := generate(t, choice(hello, `"stop"`), agent.ModelRequest{
			Tools: []agent.ToolSpec{spec}, Options: json.RawMessage(options),
		})
		require.NoError(t, err)
		raw, err := json.Marshal(sent["tools"])
		require.NoError(t, err)
		require.Equal(t, strict, strings.Contains(string(raw), `"strict":true`))
	}
}
