package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/models/scripted"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// transcripts makes a scripted model of transcripts by name.
func transcripts(t *testing.T, plays map[string]string) map[string]agent.Model {
	t.Helper()
	dir := t.TempDir()
	for name, text := range plays {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600))
	}
	return map[string]agent.Model{"scripted": scripted.New(dir)}
}

// A prompt answers every caller: an agent, a single call, and a test.
func TestDirectPrompt(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.start(worker.Config{Models: transcripts(t, map[string]string{
		"rate": "turns:\n  - say: '{\"score\": \"4\"}'\n",
		"desk": "turns:\n  - call: [{id: c1, tool: rate, args: {text: Fine.}}]\n  - expect: [{call: c1, is_error: false, " +
			"contains: '{\"score\":4}'}]\n    say: It is a four.\n",
	})})
	rate := tool.Definition{
		Name: "rate", Description: "Rates a text.", Implementation: tool.Prompt,
		Config:       json.RawMessage(`{"mode": "direct", "prompt_template": "Rate: {{text}}", "model": "scripted/rate"}`),
		InputSchema:  json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"score":{"type":"integer"}},"required":["score"]}`),
		Execution:    tool.Execution{Pure: true},
	}
	s.publish("rate", rate, tool.Policy{})
	rate.Config = json.RawMessage(`{"mode": "direct", "prompt_template": "Rate: {{text}}", "model": "absent/rate"}`)
	s.publish("rateElsewhere", rate, tool.Policy{})

	run, w := s.run(s.publishAgent(agent.Definition{Name: "desk", Model: "scripted/desk", Tools: refs(t, "rate")}),
		"How is it?")
	out, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, "It is a four.", out.Answer)
	require.Equal(t, tool.StatusCompleted, s.invocations(run.ID)[0].Status)

	p := s.panel()
	var called v1.Call
	resp := p.post(t, "/v1/tools/rate/call", `{"arguments": {"text": "Fine."}}`)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&called))
	require.False(t, called.Result.IsError)
	require.JSONEq(t, `{"score": 4}`, string(called.Result.Structured))

	_, tested := p.test(t, "rate", `{"arguments": {"text": "Fine."}}`)
	require.Equal(t, agent.RunCompleted, tested.Status, tested.Error)
	_, tested = p.test(t, "rateElsewhere", `{"arguments": {"text": "Fine."}}`)
	require.Equal(t, tool.Invalid, tested.ErrorKind)
	require.Contains(t, tested.Error, `no model provider "absent" is configured in the worker`)
}

// A custom tool is run by the executor that the host registered under the name
// it names; one that names another is refused at the first try.
func TestCustomTool(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	s.start(worker.Config{
		Custom: map[string]tool.Executor{
			"hosts": tool.ExecutorFunc(func(_ context.Context, call *tool.Call) (*tool.Result, error) {
				return tool.JSONResult(append(json.RawMessage(nil), call.Version.Snapshot.Config...)), nil
			}),
		},
	})
	for slug, config := range map[string]string{
		"known": `{"executor": "hosts", "n": 1}`, "unknown": `{"executor": "others"}`,
	} {
		s.publish(
			slug,
			tool.Definition{
				Name: slug, Implementation: tool.Custom, Config: json.RawMessage(config), Execution: tool.Execution{Pure: true},
			},
			tool.Policy{},
		)
	}
	p := s.panel()
	_, got := p.test(t, "known", `{}`)
	require.Equal(t, agent.RunCompleted, got.Status, got.Error)
	require.JSONEq(t, `{"executor": "hosts", "n": 1}`, string(got.Invocation.Output.Structured))
	_, got = p.test(t, "unknown", `{}`)
	require.Equal(t, tool.Invalid, got.ErrorKind)
	require.Contains(t, got.Error, `no worker here has an executor "others": registered: hosts`)
	require.Equal(t, 1, got.Invocation.Attempt, "trying again would not help")
}

// A provider's tool is passed to the model and never run here: a call of it is
// refused, what it did is shown to the model again, and once it is disabled, it
// is passed on no more.
func TestProviderTool(t *testing.T) {
	t.Parallel()

	s := newSite(t)
	did := agent.ProviderBlock(
		"acme", json.RawMessage(`{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`),
	)
	var search tool.Tool
	var passed [][]agent.ProviderTool
	var shown []agent.Message
	s.start(worker.Config{
		Models: map[string]agent.Model{
			"acme": agent.ModelFunc(func(ctx context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
				passed = append(passed, req.ProviderTools)
				if req.Turn > 1 {
					shown = req.Messages
					return &agent.ModelResponse{Text: "Found."}, nil
				}
				found, err := s.FindTool(ctx, s.principal.Tenant, tool.Ref{ID: search.ID})
				if err != nil {
					return nil, err
				}
				found.Status = tool.Disabled
				if _, err := s.UpdateTool(ctx, found); err != nil {
					return nil, err
				}
				return &agent.ModelResponse{
					Text: "Look.", Content: []tool.Content{tool.Text("Look."), did},
					Calls: []agent.Call{call("c1", "searchWeb", map[string]any{})},
				}, nil
			}),
		},
	})
	search = s.publish("searchWeb", tool.Definition{
		Name: "searchWeb", Implementation: tool.Provider,
		Config: json.RawMessage(`{"provider": "acme", "tool": {"type": "web_search_1", "name": "web_search"}}`),
	}, tool.Policy{})
	run, w := s.run(s.publishAgent(agent.Definition{Name: "desk", Model: "acme/large", Tools: refs(t, "searchWeb")}),
		"Search.")
	out, err := s.wait(w)
	require.NoError(t, err)
	require.Equal(t, "Found.", out.Answer)

	require.Len(t, passed, 2)
	require.JSONEq(t, `{"type": "web_search_1", "name": "web_search"}`, string(passed[0][0].Tool))
	require.Empty(t, passed[1], "it was disabled meanwhile")
	require.Contains(t, shown[1].Content, did)
	require.True(t, shown[2].IsError)
	require.Contains(t, shown[2].Content[0].Text, "run by the provider of the model")
	made := s.invocations(run.ID)
	require.Len(t, made, 1)
	require.Equal(t, tool.StatusFailed, made[0].Status)
	require.Equal(t, tool.Invalid, made[0].ErrorKind)

	_, w = s.run(
		s.publishAgentAs("other", agent.Definition{Name: "other", Model: "scripted/x", Tools: refs(t, "searchWeb")}),
		"Search.",
	)
	_, err = s.wait(w)
	require.Error(t, err, "it is disabled, and cannot be bound")
}
