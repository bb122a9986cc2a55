package registry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

func TestAgents(t *testing.T) {
	t.Parallel()

	b := setup(t)
	for _, slug := range []string{"findOrder", "sendMail"} {
		s := spec(slug, publish)
		_, err := b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
		require.NoError(t, err)
	}
	draft := spec("draftTool")
	_, err := b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &draft})
	require.NoError(t, err)

	desk := definition.AgentSpec{Slug: "desk", Definition: agent.Definition{
		Instructions: "Help.", Model: "scripted/desk",
		Tools: []tool.Ref{{Slug: "findOrder"}, {Slug: "sendMail", Constraint: "^1"}},
	}}
	a, _, err := b.registry.CreateAgent(t.Context(), b.ada, desk)
	require.NoError(t, err)
	require.Equal(t, tool.Draft, a.Status)
	a, v, err := b.registry.PublishAgent(t.Context(), b.ada, "desk")
	require.NoError(t, err)
	require.Equal(t, tool.Published, a.Status)
	require.True(t, v.Published)

	desk.Tools = append(desk.Tools, tool.Ref{Slug: "draftTool"}, tool.Ref{Slug: "missingTool"})
	_, _, err = b.registry.UpdateAgent(t.Context(), b.ada, "desk", desk)
	require.NoError(t, err)
	_, _, err = b.registry.PublishAgent(t.Context(), b.ada, "desk")
	registrytest.RequireRefused(
		t, err, tool.Conflict, "/version",
		"version 1.0.0 exists with other content: the change needs a new number, at least 1.0.1",
	)
	_, _, err = b.registry.VersionAgent(t.Context(), b.ada, "desk", "1.1.0")
	require.NoError(t, err)
	_, _, err = b.registry.PublishAgent(t.Context(), b.ada, "desk")
	registrytest.RequireRefused(t, err, tool.Conflict, "/tools", "2 of 4 tools cannot be bound: draftTool (conflict")
	require.Contains(t, tool.AsError(err).Msg, "missingTool (not_found")

	a, err = b.registry.DisableAgent(t.Context(), b.ada, "desk")
	require.NoError(t, err)
	require.Equal(t, tool.Disabled, a.Status)
	_, _, err = b.registry.PublishAgent(t.Context(), b.ada, "desk")
	registrytest.RequireRefused(t, err, tool.Conflict, "/status", "enable it")
	a, err = b.registry.EnableAgent(t.Context(), b.ada, "desk")
	require.NoError(t, err)
	require.Equal(t, tool.Published, a.Status)

	versions, err := b.registry.AgentVersions(t.Context(), b.ada, "desk")
	require.NoError(t, err)
	require.Len(t, versions, 2)
	_, err = b.registry.GetAgent(t.Context(), b.bob, "desk")
	require.Equal(t, tool.NotFound, tool.KindOf(err))
}

func TestAgentGuardrails(t *testing.T) {
	t.Parallel()

	for path, edit := range map[string]func(*definition.AgentSpec){
		"/slug":                func(s *definition.AgentSpec) { s.Slug = "" },
		"/model":               func(s *definition.AgentSpec) { s.Model = "gpt" },
		"/on_unavailable_tool": func(s *definition.AgentSpec) { s.OnUnavailableTool = "shrug" },
		"/spaces/1":            func(s *definition.AgentSpec) { s.Spaces = []string{"launch", "launch"} },
		"/spaces/0":            func(s *definition.AgentSpec) { s.Spaces = []string{"a b"} },
		"/tools/0": func(s *definition.AgentSpec) {
			s.Spaces, s.Tools = []string{agent.AllSpaces}, []tool.Ref{{Slug: agent.SendMessageTool}}
		},
		"/output_schema/type": func(s *definition.AgentSpec) { s.OutputSchema = []byte(`{"type":"objct"}`) },
		"/text_tool_calls":    func(s *definition.AgentSpec) { s.TextToolCalls = "maybe" },
		"/fallback_models/0/model": func(s *definition.AgentSpec) {
			s.FallbackModels = []agent.FallbackModel{{Model: "gpt"}}
		},
		"/fallback_models/1/model": func(s *definition.AgentSpec) {
			s.Model, s.FallbackModels = "a/b", []agent.FallbackModel{{Model: "c/d"}, {Model: "a/b"}}
		},
		"/fallback_models/0/model_options": func(s *definition.AgentSpec) {
			s.FallbackModels = []agent.FallbackModel{{Model: "c/d", ModelOptions: []byte(`[]`)}}
		},
		"/fallback_models/0/model_options/key": func(s *definition.AgentSpec) {
			s.FallbackModels = []agent.FallbackModel{{Model: "c/d", ModelOptions: []byte(`{"key":"` + tool.Redacted + `"}`)}}
		},
		"/fallback_models": func(s *definition.AgentSpec) { s.FallbackModels = make([]agent.FallbackModel, 5) },
		"/fallback_models/0/model_options/tool_choice": func(s *definition.AgentSpec) {
			s.TextToolCalls = agent.TextToolCallsOnly
			s.FallbackModels = []agent.FallbackModel{{Model: "c/d", ModelOptions: []byte(`{"tool_choice":"none"}`)}}
		},
		"/model_options/tool_choice": func(s *definition.AgentSpec) {
			s.TextToolCalls, s.ModelOptions = agent.TextToolCallsOnly, []byte(`{"tool_choice":"required"}`)
		},
		"/tool_mode":        func(s *definition.AgentSpec) { s.ToolMode = "chaos" },
		"/limits/max_turns": func(s *definition.AgentSpec) { s.Limits.MaxTurns = -1 },
		"/tools/1": func(s *definition.AgentSpec) {
			s.Tools = []tool.Ref{{Slug: "a"}, {Slug: "a", Constraint: "^1"}}
		},
		"/version": func(s *definition.AgentSpec) { s.Version = "v1" },
	} {
		b := setup(t)
		s := definition.AgentSpec{Slug: "desk"}
		edit(&s)
		_, _, err := b.registry.CreateAgent(t.Context(), b.ada, s)
		registrytest.RequireRefused(t, err, tool.Invalid, path, "")
	}
}
