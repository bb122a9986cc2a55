package nested_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/promptcall"
	"github.com/toolcrib/toolcrib/internal/nested"
	"github.com/toolcrib/toolcrib/internal/nested/agentcall"
	"github.com/toolcrib/toolcrib/tool"
)

var types = executors.Types{
	nested.AgentCall(), nested.Task(), nested.Composition(), promptcall.Type(nil, promptcall.Models{}),
}

func TestParts(t *testing.T) {
	t.Parallel()

	const id = "01920000-0000-7000-8000-000000000001"
	tests := []struct {
		name   string
		impl   tool.Implementation
		config string
		want   agent.Parts
	}{
		{
			"Agent", tool.AgentCall, `{"agent":"desk@^1","skill":"sum"}`,
			agent.Parts{
				Agent: &agent.Target{Ref: tool.Ref{Slug: "desk", Constraint: "^1"}, Path: "/target_agent_slug", Skill: "sum"},
			},
		},
		{
			"AgentByID", tool.AgentCall, `{"agent_id":"` + id + `"}`,
			agent.Parts{Agent: &agent.Target{Ref: tool.Ref{ID: id}, Path: "/target_agent_id"}},
		},
		{
			"Task", tool.Task, `{"agent":"desk"}`,
			agent.Parts{Agent: &agent.Target{Ref: tool.Ref{Slug: "desk"}, Path: "/target_agent_slug", Detached: true}},
		},
		{
			"PromptForAnAgent", tool.Prompt, `{"mode":"agent","agent":"desk","prompt_template":"Do {{prompt}}"}`,
			agent.Parts{Agent: &agent.Target{Ref: tool.Ref{Slug: "desk"}, Path: "/target_agent_slug"}},
		},
		{"PromptForAModel", tool.Prompt, `{"mode":"direct"}`, agent.Parts{}},
		{
			"Composition", tool.Composition, `{"steps":[{"id":"a","tool":"x@1.0.0"},{"id":"b","tool":"y"}]}`,
			agent.Parts{Steps: []agent.StepPart{
				{ID: "a", Tool: tool.Ref{Slug: "x", Constraint: "1.0.0"}, Path: "/steps/0/tool"},
				{ID: "b", Tool: tool.Ref{Slug: "y"}, Path: "/steps/1/tool"},
			}},
		},
		{
			"ByTheConfiguration", "", `{"type":"composition","steps":[{"id":"a","tool":"x"}]}`,
			agent.Parts{Steps: []agent.StepPart{{ID: "a", Tool: tool.Ref{Slug: "x"}, Path: "/steps/0/tool"}}},
		},
		{"ItsOwn", tool.HTTP, `{"url":"https://example.com"}`, agent.Parts{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			d := tool.Definition{Implementation: tt.impl, Config: json.RawMessage(tt.config)}
			got, err := types.PartsOf(&d)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			if got.Agent != nil {
				require.JSONEq(t, string(agentcall.DefaultSchema()), string(d.InputSchema))
			} else {
				require.Empty(t, d.InputSchema)
			}
		})
	}
}

func TestPartsRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()

	for config, d := range map[string]tool.Definition{
		"/target_agent_slug": {Implementation: tool.AgentCall, Config: json.RawMessage(`{}`)},
		"/prompt_template": {
			Implementation: tool.Task, Config: json.RawMessage(`{"agent":"desk","prompt_template":"{{x}}"}`),
		},
		"/steps": {Implementation: tool.Composition, Config: json.RawMessage(`{}`)},
		"/steps/0/arguments/a/$from": {
			Implementation: tool.Composition,
			Config:         json.RawMessage(`{"steps":[{"id":"a","tool":"x","arguments":{"a":{"$from":"/steps/a"}}}]}`),
		},
		"/steps/0/arguments/closed/$from": {
			Implementation: tool.Composition, InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`),
			Config: json.RawMessage(`{"steps":[{"id":"a","tool":"x","arguments":{"closed":{"$from":"/input/b"}}}]}`),
		},
	} {
		_, err := types.PartsOf(&d)
		require.Equal(t, tool.Invalid, tool.KindOf(err), config)
		require.Equal(t, config, tool.AsError(err).Path)
	}
}
