package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/executors/promptcall"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// named is what workers have by name: one executor, which wants a table.
type named struct{}

func (named) Check(config json.RawMessage) error {
	var c struct{ Executor, Table string }
	switch {
	case json.Unmarshal(config, &c) != nil || c.Executor != "sqlQuery":
		return &tool.Error{Kind: tool.Conflict, Path: "/executor", Msg: "no worker here has it"}
	case c.Table == "":
		return &tool.Error{Kind: tool.Invalid, Path: "/table", Msg: "want a table"}
	}
	return nil
}

func (named) InputSchema(json.RawMessage) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"sql":{"type":"string"}}}`)
}

func custom(config string) func(*definition.ToolSpec) {
	return func(s *definition.ToolSpec) { s.Implementation, s.Config = tool.Custom, json.RawMessage(config) }
}

// What hosts register by name is checked when a tool is published, and says what
// arguments it takes where the author does not.
func TestCustomTools(t *testing.T) {
	t.Parallel()

	b := setup(t)
	knowing := registry.New(b.store, registry.Options{Types: registrytest.Types(executors.Type{
		Traits:       tool.Traits{Implementation: tool.Custom},
		CheckWorkers: named{}.Check, InputSchema: named{}.InputSchema,
	})})
	for config, want := range map[string]struct {
		kind tool.Kind
		path string
		says string
	}{
		`{"executor": "other"}`: {
			tool.Conflict, "/implementation_config/executor", "no worker here has it; the tool can be kept as a draft",
		},
		`{"executor": "sqlQuery"}`: {tool.Invalid, "/implementation_config/table", "want a table"},
	} {
		slug := "query" + string(want.kind)
		_, _, err := knowing.Create(t.Context(), b.ada, spec(slug, custom(config)))
		require.NoError(t, err, "a draft may wait for its executor")
		_, _, err = knowing.Publish(t.Context(), b.ada, tool.Ref{Slug: slug})
		registrytest.RequireRefused(t, err, want.kind, want.path, want.says)
		_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: slug})
		require.NoError(t, err, "where the names are not known, calls are refused")
	}

	const config = `{"executor": "sqlQuery", "table": "orders"}`
	got, _, err := knowing.Create(t.Context(), b.ada, spec("query", custom(config), input("")))
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"object","properties":{"sql":{"type":"string"}}}`, string(got.InputSchema))
	_, _, err = knowing.Publish(t.Context(), b.ada, tool.Ref{Slug: "query"})
	require.NoError(t, err)
	got, _, err = knowing.Create(t.Context(), b.ada, spec("narrower", custom(config)))
	require.NoError(t, err)
	require.NotContains(t, string(got.InputSchema), "sql", "the author's own counts")
}

// A prompt is published where some worker has its model provider, and where its
// configuration fits its arguments.
func TestPromptTools(t *testing.T) {
	t.Parallel()

	b := setup(t)
	knowing := registry.New(b.store, registry.Options{
		Types: registrytest.Types(promptcall.Type(nil, promptcall.Models{Known: []string{"anthropic"}})),
	})
	prompt := func(config string) func(*definition.ToolSpec) {
		return func(s *definition.ToolSpec) {
			s.Implementation, s.Config, s.EgressClass = tool.Prompt, json.RawMessage(config), tool.EgressReadOnly
		}
	}
	_, _, err := knowing.Create(t.Context(), b.ada, spec("sumUp", prompt(`{"mode": "direct", "model": "openai/gpt", "prompt_template": "Sum up."}`)))
	require.NoError(t, err)
	_, _, err = knowing.Publish(t.Context(), b.ada, tool.Ref{Slug: "sumUp"})
	registrytest.RequireRefused(t, err, tool.Conflict, "/implementation_config/model", `no worker here has a model provider "openai"`)
	asks := prompt(`{"mode": "direct", "model": "anthropic/claude", "prompt_template": "Sum up."}`)
	_, _, err = knowing.Create(t.Context(), b.ada, spec("asks", asks))
	require.NoError(t, err)
	_, _, err = knowing.Publish(t.Context(), b.ada, tool.Ref{Slug: "asks"})
	require.NoError(t, err)
	delegates := prompt(`{"mode": "agent", "target_agent_slug": "desk", "prompt_template": "Sum up."}`)
	got, _, err := knowing.Create(t.Context(), b.ada, spec("delegates", delegates, input("")))
	require.NoError(t, err, "an agent is asked, whatever models there are")
	require.Contains(t, string(got.InputSchema), "prompt")
	_, _, err = knowing.Create(t.Context(), b.ada, spec("noArguments",
		prompt(`{"mode": "direct", "model": "anthropic/claude", "prompt_template": "Sum up {{text}}."}`),
		input(`{"type": "object", "properties": {}, "additionalProperties": false}`)))
	registrytest.RequireRefused(t, err, tool.Invalid, "/implementation_config/prompt_template", "text")
}

// A function tool is published only where a worker has the function that it
// names; a draft may wait for one (S3-42).
func TestFunctionToolsNameAFunctionOfTheWorkers(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		known []string
		says  string
	}{
		"there":   {[]string{"convertWeight"}, ""},
		"unknown": {nil, ""},
		"typo": {
			[]string{"convertWeights"}, `no worker here has a function "convertWeight": did you mean "convertWeights"?`,
		},
		"none": {
			[]string{},
			`no worker here has a function "convertWeight": none are registered; the tool can be kept as a draft`,
		},
	} {
		b := setup(t)
		reg := registry.New(b.store, registry.Options{Types: registrytest.Types(function.Type(nil, tt.known))})
		_, _, err := reg.Create(t.Context(), b.ada, definition.ToolSpec{
			Slug: "convertWeight", Definition: code("1.0.0", first).Definition,
		})
		require.NoError(t, err, name)
		_, _, err = reg.Publish(t.Context(), b.ada, tool.Ref{Slug: "convertWeight"})
		if tt.says == "" {
			require.NoError(t, err, name)
			continue
		}
		registrytest.RequireRefused(t, err, tool.Conflict, "/implementation_config/function_name", tt.says)
	}
}
