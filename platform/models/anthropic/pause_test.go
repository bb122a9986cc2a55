package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/platform/models/anthropic"
	"github.com/toolcrib/toolcrib/platform/models/modeltest"
	"github.com/toolcrib/toolcrib/platform/models/remote"
	"github.com/toolcrib/toolcrib/tool"
)

// inTurn serves answers one after the other, and then the last one again.
func inTurn(t *testing.T, contentType string, bodies ...string) (*modeltest.Server, *anthropic.Model) {
	t.Helper()
	var asked atomic.Int32
	server := modeltest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := min(int(asked.Add(1)), len(bodies))
		modeltest.Answer(modeltest.Message{
			Status: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Body: bodies[n-1],
		})(w, r)
	})
	m, err := anthropic.New(remote.Config{Provider: "testing", BaseURL: server.URL, Keys: remote.Keys{Optional: true}})
	require.NoError(t, err)
	return server, m
}

const (
	use     = `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query":"x"}}`
	result  = `{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[]}`
	thought = `{"type":"thinking","thinking":"Hm.","signature":"c2ln"}`
)

func searching() *agent.ModelRequest {
	return &agent.ModelRequest{
		Model:    "m",
		Turn:     1,
		Messages: asked(agent.RoleUser),
		Tools:    tools,
		Options:  json.RawMessage(`{"thinking_budget":2048}`),
		ProviderTools: []agent.ProviderTool{
			{Name: "searchWeb", Provider: "testing", Tool: json.RawMessage(`{"type":"web_search_1","name":"web_search"}`)},
		},
	}
}

// An answer that is paused goes on from all that it has said, thoughts and wire
// names included, and is one answer in the end.
func TestPausedAnswerGoesOn(t *testing.T) {
	t.Parallel()

	server, m := inTurn(t, "application/json",
		message(`[`+thought+`,{"type":"text","text":"I look. "},`+use+`]`, "pause_turn"),
		message(`[`+result+`,{"type":"text","text":" "}]`, "pause_turn"),
		message(`[{"type":"text","text":"Found."},{"type":"tool_use","id":"c","name":"getOrder","input":{}}]`, "tool_use"))
	got, err := m.Generate(t.Context(), searching())
	require.NoError(t, err)
	require.Equal(t, "I look.  Found.", got.Text)
	require.False(t, got.Truncated)
	require.Len(t, got.Calls, 1)
	require.Equal(t, agent.Usage{InputTokens: 3, OutputTokens: 3}, got.Usage, "what it cost in all")
	require.Equal(t, []tool.Content{
		tool.Text("I look. "), agent.ProviderBlock("testing", json.RawMessage(use)),
		agent.ProviderBlock("testing", json.RawMessage(result)), tool.Text(" Found."),
	}, got.Content)

	all := server.Requests()
	require.Len(t, all, 3)
	const first = thought + `,{"type":"text","text":"I look. "},` + use
	for i, want := range []string{"", first, first + `,` + result} {
		var sent struct {
			Messages []struct {
				Role    string          `json:"role"`
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		}
		require.NoError(t, json.Unmarshal([]byte(all[i].Body), &sent))
		if want == "" {
			require.Len(t, sent.Messages, 1)
			continue
		}
		require.Len(t, sent.Messages, 2)
		require.Equal(t, "assistant", sent.Messages[1].Role)
		require.JSONEq(t, `[`+want+`]`, string(sent.Messages[1].Content))
	}
}

// The same of a stream, whose blocks come in pieces.
func TestPausedStreamGoesOn(t *testing.T) {
	t.Parallel()

	event := func(parts ...string) string {
		data := strings.Join(parts, "")
		kind, _, _ := strings.Cut(strings.TrimPrefix(data, `{"type":"`), `"`)
		return "event: " + kind + "\ndata: " + data + "\n\n"
	}
	begin := event(
		`{"type":"message_start","message":{"type":"message","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
	)
	end := func(stop string) string {
		return event(`{"type":"message_delta","delta":{"stop_reason":"`, stop, `"},"usage":{"output_tokens":1}}`) +
			event(`{"type":"message_stop"}`)
	}
	start := func(block string) string {
		return event(`{"type":"content_block_start","index":0,"content_block":`, block, `}`)
	}
	delta := func(d string) string { return event(`{"type":"content_block_delta","index":0,"delta":`, d, `}`) }
	at1 := strings.NewReplacer(`"index":0`, `"index":1`)
	server, m := inTurn(t, "text/event-stream",
		begin+start(`{"type":"thinking","thinking":"","signature":""}`)+delta(`{"type":"thinking_delta","thinking":"Hm."}`)+
			delta(`{"type":"signature_delta","signature":"c2ln"}`)+
			at1.Replace(start(`{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`)+
				delta(`{"type":"input_json_delta","partial_json":"{\"query\":\"x\"}"}`))+end("pause_turn"),
		begin+start(result)+at1.Replace(start(`{"type":"text","text":"Found."}`))+
			event(`{"type":"content_block_start","index":2,"content_block":{"type":"of_a_later_day"}}`)+
			event(`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}`)+
			end("end_turn"))
	req, told := searching(), ""
	req.Stream = func(d agent.Delta) { told += d.Text }
	got, err := m.Generate(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "Found.", got.Text)
	require.Equal(t, "Found.", told, "thoughts and arguments are not told")
	require.Len(t, got.Content, 3)
	require.JSONEq(t, use, string(got.Content[0].JSON))
	require.Contains(t, server.Requests()[1].Body, `{"signature":"c2ln","thinking":"Hm.","type":"thinking"}`)
}

// Uses of tools that were cut off before their results are not shown again, but
// beside calls of ours, whose answers come first.
func TestUsesThatWereCutOff(t *testing.T) {
	t.Parallel()

	for stop, kept := range map[string]bool{"max_tokens": false, "end_turn": false, "tool_use": true} {
		const said = `[{"type":"text","text":"I look."},` + use +
			`,{"type":"tool_use","id":"c","name":"getOrder","input":{}}]`
		got, _, err := generate(t, message(said, stop), *searching())
		require.NoError(t, err)
		require.Equal(t, kept, len(got.Content) > 0, stop)
	}
}

// A provider that pauses without end is asked so many times; then the answer
// counts as cut off. One that fails meanwhile had been sent something.
func TestPausesAreBounded(t *testing.T) {
	t.Parallel()

	server, m := inTurn(t, "application/json", message(`[{"type":"text","text":"."}]`, "pause_turn"))
	got, err := m.Generate(t.Context(), searching())
	require.NoError(t, err)
	require.True(t, got.Truncated)
	require.Len(t, server.Requests(), 11)

	_, m = inTurn(t, "application/json", message(`[{"type":"text","text":"."}]`, "pause_turn"), `{`)
	_, err = m.Generate(t.Context(), searching())
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.True(t, tool.AsError(err).Sent)
}
