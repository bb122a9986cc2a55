package registry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// asking makes a tool run an agent.
func asking(config string) func(*definition.ToolSpec) {
	return func(s *definition.ToolSpec) {
		s.Implementation, s.Config, s.InputSchema = tool.AgentCall, json.RawMessage(config), nil
	}
}

// composed makes a tool call others, one after the other.
func composed(tools ...string) func(*definition.ToolSpec) {
	return func(s *definition.ToolSpec) {
		var steps []string
		for i, ref := range tools {
			steps = append(steps, fmt.Sprintf(`{"id":"s%d","tool":%q}`, i, ref))
		}
		s.Implementation, s.Config, s.InputSchema = tool.Composition, json.RawMessage(`{"steps":[`+strings.Join(steps, ",")+
			`]}`), nil
	}
}

// with is an agent with tools, to be published.
func with(slug string, tools ...string) definition.AgentSpec {
	s := definition.AgentSpec{
		Slug: slug, Definition: agent.Definition{Instructions: "Help.", Model: "scripted/x"}, Publish: true,
	}
	for _, text := range tools {
		ref, err := tool.ParseRef(text)
		if err != nil {
			panic(err)
		}
		s.Tools = append(s.Tools, ref)
	}
	return s
}

func (b bench) put(t *testing.T, d any) error {
	t.Helper()
	var applied definition.Definition
	switch d := d.(type) {
	case definition.ToolSpec:
		applied.Tool = &d
	case definition.AgentSpec:
		applied.Agent = &d
	}
	_, err := b.registry.Apply(t.Context(), b.ada, applied)
	return err
}

func (b bench) mustPut(t *testing.T, definitions ...any) {
	t.Helper()
	for _, d := range definitions {
		require.NoError(t, b.put(t, d))
	}
}

func TestPublishAgentCall(t *testing.T) {
	t.Parallel()

	b := setup(t)
	other := definition.AgentSpec{
		Slug: "theirs", Definition: agent.Definition{Instructions: "Help.", Model: "scripted/x"}, Publish: true,
	}
	_, err := b.registry.Apply(t.Context(), b.bob, definition.Definition{Agent: &other})
	require.NoError(t, err)
	theirs, err := b.registry.GetAgent(t.Context(), b.bob, "theirs")
	require.NoError(t, err)
	draft := with("draft")
	draft.Publish = false
	skilled := with("research")
	skilled.Skills = map[string]agent.Skill{"summarize": {Instructions: "Summarize."}}
	b.mustPut(t, draft, skilled, with("gone"))
	_, err = b.registry.DisableAgent(t.Context(), b.ada, "gone")
	require.NoError(t, err)

	tests := []struct {
		name, config string
		kind         tool.Kind
		path, text   string
	}{
		{
			"an agent that is not there", `{"agent":"nobody"}`, tool.NotFound, "/target_agent_slug",
			`tool ask: agent "nobody" not found`,
		},
		{
			"an id that is not there", `{"agent_id":"01920000-0000-7000-8000-000000000009"}`, tool.NotFound, "/target_agent_id",
			"not found",
		},
		{"another tenant's agent", `{"agent":"theirs"}`, tool.NotFound, "/target_agent_slug", `agent "theirs" not found`},
		{"another tenant's agent by id", `{"agent_id":"` + theirs.ID + `"}`, tool.NotFound, "/target_agent_id", "not found"},
		{"a draft", `{"agent":"draft"}`, tool.Conflict, "/target_agent_slug", `agent "draft" is a draft`},
		{"a disabled agent", `{"agent":"gone"}`, tool.Conflict, "/target_agent_slug", "is disabled"},
		{
			"a version that is not there", `{"agent":"research@^2"}`, tool.NotFound, "/target_agent_slug",
			`no version that meets "^2"`,
		},
		{
			"a skill that is not there", `{"agent":"research","skill":"sumarize"}`, tool.NotFound, "/target_agent_slug",
			`research@1.0.0 has no skill "sumarize": did you mean "summarize"?`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := spec("ask", asking(tt.config))
			_, err := b.registry.Check(t.Context(), b.ada, definition.Definition{Tool: &s})
			require.NoError(t, err, "the draft may come before its agent")
			s.Publish = true
			_, err = b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
			registrytest.RequireRefused(t, err, tt.kind, "/implementation_config"+tt.path, tt.text)
		})
	}
	b.mustPut(
		t, spec("fine", asking(`{"agent":"research@^1","skill":"summarize","prompt_template":"{{prompt}}"}`), publish),
	)
	got, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "fine"})
	require.NoError(t, err)
	require.Contains(t, string(got.InputSchema), `"prompt"`,
		"a tool without an input schema has the one that goes without saying")
}

func TestCreateRefusesMalformedParts(t *testing.T) {
	t.Parallel()

	b := setup(t)
	tests := []struct {
		name string
		edit func(*definition.ToolSpec)
		path string
		text string
	}{
		{"an agent call without an agent", asking(`{}`), "/implementation_config/target_agent_slug", "want the agent"},
		{
			"a template of unknown arguments", asking(`{"agent":"a","prompt_template":"{{question}}"}`),
			"/implementation_config/prompt_template", `declares no "/question"`,
		},
		{"a composition without steps", composed(), "/implementation_config/steps", "want 1 to 50"},
		{"a binding of a later step", func(s *definition.ToolSpec) {
			s.Implementation = tool.Composition
			s.Config = json.RawMessage(`{"steps":[{"id":"a","tool":"x","arguments":{"v":{"$from":"/steps/b/text"}}},{"id":"b","tool":"x"}]}`)
		}, "/implementation_config/steps/0/arguments/v/$from", "runs later"},
		{"a pure task that is not waited for", func(s *definition.ToolSpec) {
			asking(`{"agent":"a"}`)(s)
			s.Implementation, s.Execution.Pure = tool.Task, true
		}, "/execution/is_pure", "leaves a run behind"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, _, err := b.registry.Create(t.Context(), b.ada, spec("wrap", tt.edit))
			registrytest.RequireRefused(t, err, tool.Invalid, tt.path, tt.text)
		})
	}
}

func TestPublishComposition(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.mustPut(
		t, spec("find", publish), spec("draft"), spec("old", publish),
		spec("pure", publish, func(s *definition.ToolSpec) { s.Execution.Pure = true }),
		spec("again", publish, func(s *definition.ToolSpec) { s.Execution.Idempotent = true }),
		spec("form", func(s *definition.ToolSpec) { s.Implementation = tool.Client }),
		spec("later", publish, func(s *definition.ToolSpec) { s.Interaction.Async = true }),
	)
	_, err := b.registry.Deprecate(t.Context(), b.ada, tool.Ref{Slug: "old"})
	require.NoError(t, err)
	theirs := spec("theirs", publish)
	_, err = b.registry.Apply(t.Context(), b.bob, definition.Definition{Tool: &theirs})
	require.NoError(t, err)

	declared := func(x tool.Execution, tools ...string) func(*definition.ToolSpec) {
		return func(s *definition.ToolSpec) { composed(tools...)(s); s.Execution = x }
	}
	pure, idempotent := tool.Execution{Pure: true}, tool.Execution{Idempotent: true}
	tests := []struct {
		name string
		edit func(*definition.ToolSpec)
		kind tool.Kind
		path string
		text string
	}{
		{
			"a missing tool", composed("find", "nothing"), tool.NotFound, "/steps/1/tool",
			`tool wrap: tool "nothing" not found`,
		},
		{"another tenant's tool", composed("theirs"), tool.NotFound, "/steps/0/tool", `tool "theirs" not found`},
		{"a draft", composed("draft"), tool.Conflict, "/steps/0/tool", "is a draft"},
		{"a deprecated tool", composed("old"), tool.Conflict, "/steps/0/tool", "deprecated"},
		{"a version that is not there", composed("find@^2"), tool.NotFound, "/steps/0/tool", "^2"},
		{
			"a tool of a client", composed("form"), tool.Conflict, "/steps/0/tool",
			"of type client, which nothing here runs",
		},
		{
			"an asynchronous tool", composed("find", "later"), tool.Conflict, "/steps/1/tool",
			`step "s1": later@1.0.0 is asynchronous`,
		},
		{
			"a pure one of what is not", declared(pure, "pure", "again"), tool.Conflict, "/steps/1/tool",
			`declared pure, and its step "s1" is not: again@1.0.0`,
		},
		{
			"an idempotent one of what is not", declared(idempotent, "again", "pure", "find"), tool.Conflict, "/steps/2/tool",
			`declared idempotent, and its step "s2" is not: find@1.0.0`,
		},
		{"itself", composed("wrap"), tool.Conflict, "/steps/0/tool", "tool wrap -> tool wrap: the calls form a cycle"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			s := spec("wrap", tt.edit)
			_, err := b.registry.Check(t.Context(), b.ada, definition.Definition{Tool: &s})
			require.NoError(t, err, "the draft may come before its tools")
			s.Publish = true
			_, err = b.registry.Apply(t.Context(), b.ada, definition.Definition{Tool: &s})
			registrytest.RequireRefused(t, err, tt.kind, "/implementation_config"+tt.path, tt.text)
		})
	}
	b.mustPut(t, spec("allPure", declared(pure, "pure", "pure@^1.0"), publish),
		spec("allAgain", declared(idempotent, "again", "pure"), publish), spec("any", composed("find", "allPure"), publish))
}

// Cycles are refused whichever of their members closes them, and over agents
// and compositions alike, with the whole way round.
func TestPublishRefusesCycles(t *testing.T) {
	t.Parallel()

	t.Run("closed by an agent", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.mustPut(t, with("a"), spec("x", asking(`{"agent":"a"}`), publish), with("b", "x"),
			spec("y", asking(`{"agent":"b"}`), publish))
		err := b.put(t, with("a", "y"))
		registrytest.RequireRefused(
			t, err, tool.Conflict, "/tools/0",
			"agent a -> tool y -> agent b -> tool x -> agent a: the calls form a cycle",
		)
	})
	t.Run("closed by a tool", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.mustPut(t, with("a"), spec("x", asking(`{"agent":"a"}`), publish), spec("y", composed("x"), publish),
			with("b", "y"))
		s := spec("x", asking(`{"agent":"b"}`), publish)
		registrytest.RequireRefused(t, b.put(t, s), tool.Conflict, "/implementation_config/target_agent_slug",
			"tool x -> agent b -> tool y -> tool x: the calls form a cycle")
	})
	t.Run("closed by a composition", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.mustPut(t, spec("leaf", publish), spec("x", composed("leaf"), publish), spec("y", composed("leaf", "x"), publish),
			spec("z", composed("y"), publish))
		registrytest.RequireRefused(t, b.put(t, spec("x", composed("leaf", "z"), publish)), tool.Conflict,
			"/implementation_config/steps/1/tool", "tool x -> tool z -> tool y -> tool x: the calls")
		x, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "x"})
		require.NoError(t, err)
		z, err := b.registry.Get(t.Context(), b.ada, tool.Ref{Slug: "z"})
		require.NoError(t, err)
		registrytest.RequireRefused(t, b.put(t, spec("x", composed(z.ID), publish)), tool.Conflict,
			"/implementation_config/steps/0/tool",
			"tool x -> tool z -> tool y -> tool x: the calls")
		require.Equal(t, "1.0.0", x.Version)
	})
	t.Run("of drafts", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		a := with("a", "x")
		a.Publish = false
		b.mustPut(t, spec("x", asking(`{"agent":"a"}`)), a)
		_, _, err := b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "x"})
		registrytest.RequireRefused(t, err, tool.Conflict, "/implementation_config/target_agent_slug",
			"tool x -> agent a -> tool x: the calls")
	})
	t.Run("an older version is no way around", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.mustPut(t, spec("leaf", publish), spec("x", composed("leaf"), publish), spec("y", composed("x@1.0.0"), publish))
		registrytest.RequireRefused(t, b.put(t, spec("x", composed("y"), publish)), tool.Conflict,
			"/implementation_config/steps/0/tool",
			"tool x -> tool y -> tool x")
	})
}

func TestPublishBoundsDepth(t *testing.T) {
	t.Parallel()

	t.Run("of compositions", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.mustPut(t, spec("c0", publish))
		for i := 1; i <= 4; i++ {
			b.mustPut(t, spec(fmt.Sprintf("c%d", i), composed(fmt.Sprintf("c%d", i-1)), publish))
		}
		registrytest.RequireRefused(t, b.put(t, spec("c5", composed("c0", "c4"), publish)), tool.Conflict,
			"/implementation_config/steps/1/tool", "compositions nest 5 deep (c5 -> c4 -> c3 -> c2 -> c1): at most 4")
		b.mustPut(t, with("deep", "c4"), spec("ask", asking(`{"agent":"deep"}`), publish),
			spec("c6", composed("ask"), publish))
	})
	t.Run("of agents", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.mustPut(t, with("a0"))
		for i := 1; i <= agent.MaxDepth; i++ {
			b.mustPut(t, spec(fmt.Sprintf("x%d", i), asking(fmt.Sprintf(`{"agent":"a%d"}`, i-1)), publish),
				with(fmt.Sprintf("a%d", i), fmt.Sprintf("x%d", i)))
		}
		registrytest.RequireRefused(t, b.put(t, spec("x6", asking(`{"agent":"a5"}`), publish)), tool.Conflict,
			"/implementation_config/target_agent_slug",
			"agent a1 -> tool x1 -> agent a0: agents run 6 deep below the first: at most 5")
	})
	t.Run("of calls", func(t *testing.T) {
		t.Parallel()

		b := setup(t)
		b.mustPut(t, spec("leaf", publish))
		before := "leaf"
		for _, name := range []string{"ten", "hundred"} {
			b.mustPut(t, spec(name, composed(slicesOf(before, 10)...), publish))
			before = name
		}
		registrytest.RequireRefused(t, b.put(t, spec("thousand", composed(slicesOf(before, 10)...), publish)), tool.Conflict,
			"/implementation_config/steps/9/tool", "makes 1111 calls: at most 500")
	})
}

func slicesOf(s string, n int) []string { return strings.Split(strings.Repeat(s+" ", n-1)+s, " ") }

// What is below a tool may be taken away after it was published. Then nothing
// above it is published anew. The error names the path to the missing tool.
func TestPublishNamesTheWayToWhatIsMissing(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.mustPut(t, spec("leaf", publish), spec("inner", composed("leaf"), publish), with("a", "inner"))
	_, err := b.registry.Disable(t.Context(), b.ada, tool.Ref{Slug: "leaf"})
	require.NoError(t, err)
	err = b.put(t, spec("ask", asking(`{"agent":"a"}`), publish))
	registrytest.RequireRefused(t, err, tool.Conflict, "/implementation_config/target_agent_slug",
		`tool ask -> agent a -> tool inner: tool "leaf" is disabled`)
	err = b.put(t, with("b", "inner"))
	registrytest.RequireRefused(t, err, tool.Conflict, "/tools/0", `agent b -> tool inner: tool "leaf" is disabled`)
}

func TestGlobalToolsAreNotMadeOfOthers(t *testing.T) {
	t.Parallel()

	b := setup(t)
	_, err := b.platform.SyncBuiltins(t.Context(), []registry.BuiltinSpec{
		{Key: "wrap", Version: "1.0.0", Definition: spec("wrap", composed("leaf")).Definition},
	})
	registrytest.RequireRefused(t, err, tool.Conflict, "/implementation_type", "a global tool cannot be made of them")
}
