package modeltest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// garbage tests that an answer that does not follow the provider's description
// is unavailable, and that none of it is repeated in the error.
func (p Provider) garbage(t *testing.T) {
	t.Parallel()

	bodies := []string{
		"", "null", "[]", "{}", "{", "0", `"secret"`, "<html>secret</html>", "\x00\xff\xfe", strings.Repeat("[", 100_000),
		`{"choices":"secret"}`, `{"choices":[]}`, `{"choices":[5]}`, `{"choices":[{"message":"secret"}]}`,
		`{"choices":[{"message":{"content":["secret"]}}]}`, `{"choices":[{"message":{"tool_calls":{"secret":1}}}]}`,
		`{"choices":[{"message":{"tool_calls":[{"id":"secret"}]},"finish_reason":"tool_calls"}]}`,
		`{"content":"secret","stop_reason":"end_turn"}`, `{"content":[5],"stop_reason":"end_turn"}`,
		`{"content":[{"type":"text","text":["secret"]}],"stop_reason":"end_turn"}`,
		`{"content":[{"type":"tool_use","id":"secret"}],"stop_reason":"tool_use"}`,
		`{"content":[{"type":"text","text":"secret"}]}`,
		`{"status":"completed","output":"secret"}`, `{"status":"completed","output":[5]}`, `{"output":[]}`,
		`{"status":"completed","output":[{"type":"message","content":"secret"}]}`,
		`{"status":"completed","output":[{"type":"message","content":["secret"]}]}`,
		`{"status":"completed","output":[{"type":"function_call","call_id":"secret"}]}`,
	}
	for _, body := range bodies {
		for _, kind := range []string{"application/json", "text/html", ""} {
			m := Message{Status: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: body}
			p.requireUnreadable(t, m, simple())
		}
		stream := Message{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}}
		for _, stream.Body = range []string{
			body, "data: " + body + "\n\n", "event: message_start\ndata: " + body + "\n\ndata: [DONE]\n\n",
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + body + "}\n\n",
		} {
			req := simple()
			req.Stream = func(agent.Delta) {}
			p.requireUnreadable(t, stream, req)
		}
	}
}

func (p Provider) requireUnreadable(t *testing.T, m Message, req *agent.ModelRequest) {
	t.Helper()
	_, err := p.open(t, Serve(t, Answer(m)).URL).Generate(t.Context(), req)
	require.Equal(t, tool.Unavailable, tool.KindOf(err), "%q as %q: %v", m.Body[:min(len(m.Body), 99)], m.Header, err)
	require.NotContains(t, err.Error(), "secret")
}

// options tests that a fault in the agent's model options is named, before
// anything is sent.
func (p Provider) options(t *testing.T) {
	t.Parallel()

	server := Serve(t, Answer(Load(t, "text").Whole))
	m := p.open(t, server.URL)
	for raw, says := range map[string]string{
		`[]`:                              "not a JSON object",
		`{"temprature":1}`:                `did you mean "temperature"`,
		`{"max_token":1}`:                 `did you mean "max_tokens"`,
		`{"temperature":"hot"}`:           `"temperature": it is not a number`,
		`{"temperature":-1}`:              `"temperature": it is not a number from 0`,
		`{"max_tokens":0}`:                "at least 1",
		`{"max_tokens":1.5}`:              "a whole number",
		`{"stop":[""]}`:                   `"stop"`,
		`{"stop":{}}`:                     `"stop"`,
		`{"parallel_tool_calls":1}`:       "true or false",
		`{"reasoning_effort":"a lot"}`:    "one of",
		`{"tool_choice":"getOrder"}`:      `"tool_choice"`,
		`{"tool_choice":{"tool":"nope"}}`: `no tool "nope"`,
	} {
		req := simple()
		req.Options = json.RawMessage(raw)
		_, err := m.Generate(t.Context(), req)
		e := tool.AsError(err)
		require.Equal(t, tool.Invalid, e.Kind, raw)
		require.Contains(t, e.Msg, says, raw)
		require.True(t, strings.HasPrefix(e.Path, "/model_options"), e.Path)
	}
	require.Empty(t, server.Requests())
}
