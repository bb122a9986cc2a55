package registry_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/tool"
)

// Sections say how parts of the result are shown: what no client could show is
// refused where it stands.
func TestOutputSections(t *testing.T) {
	t.Parallel()
	b := setup(t)

	closed := func(s *definition.ToolSpec) {
		s.OutputSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"total":{"type":"number"},"lines":{"type":"array"}}}`)
	}
	sections := func(raw string) func(*definition.ToolSpec) {
		return func(s *definition.ToolSpec) { s.Interaction.OutputSections = json.RawMessage(raw) }
	}
	const good = `[{"key":"total","label":"Total","type":"summary"},{"key":"lines","type":"table","config":{"columns":["sku"]}}]`
	made, _, err := b.registry.Create(t.Context(), b.ada, spec("quote", closed, sections(good)))
	require.NoError(t, err)
	require.JSONEq(t, good, string(made.Interaction.OutputSections))
	_, v, err := b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: "quote"})
	require.NoError(t, err)
	require.JSONEq(t, good, string(v.Snapshot.Interaction.OutputSections), "a version carries them")
	for i, kind := range tool.SectionTypes() {
		_, _, err := b.registry.Create(
			t.Context(), b.ada, spec("quote"+string(rune('a'+i)), sections(`[{"key":"x","type":"`+string(kind)+`"}]`)),
		)
		require.NoError(t, err, kind)
	}

	const at = "/interaction/output_sections"
	long := strings.Repeat("x", 300)
	many := `[` + strings.Repeat(`{"key":"x","type":"chart"},`, 32) + `{"key":"x","type":"chart"}`
	for _, c := range []struct{ raw, path, text string }{
		{`{}`, at, "a list"},
		{`[1]`, at + "/0", "expected an object"},
		{`[{"key":"total","type":"pie"}]`, at + "/0/type", "one of summary, table, chart, radar, ranking, custom"},
		{`[{"key":"total"}]`, at + "/0/type", "expected one of"},
		{`[{"type":"table"}]`, at + "/0/key", "expected a key"},
		{`[{"key":"total","type":"table"},{"key":"total","type":"chart"}]`, at + "/1/key", "twice"},
		{`[{"key":"sum","type":"table"}]`, at + "/0/key", `no property "sum"`},
		{`[{"key":"total","type":"table","config":[]}]`, at + "/0/config", "an object"},
		{`[{"key":"total","type":"table","title":"T"}]`, at + "/0/title", "unknown field"},
		{`[{"key":"` + long + `","type":"table"}]`, at + "/0/key", "longer than 256"},
		{`[{"key":"total","type":"table","label":"` + long + `"}]`, at + "/0/label", "longer than 256"},
		{many + `]`, at, "33 sections"},
	} {
		_, _, err := b.registry.Create(t.Context(), b.ada, spec("other", closed, sections(c.raw)))
		registrytest.RequireRefused(t, err, tool.Invalid, c.path, c.text)
	}
	_, _, err = b.registry.Create(
		t.Context(), b.ada, spec("other", func(s *definition.ToolSpec) { s.Interaction.Intent = "look" }),
	)
	registrytest.RequireRefused(t, err, tool.Invalid, "/interaction/intent", "render, action or compute")
}

// What MCP clients could not show is a warning for a draft, and keeps it from
// being published unless the definition declares it.
func TestLooseInputs(t *testing.T) {
	t.Parallel()
	b := setup(t)

	declared := func(s *definition.ToolSpec) { s.Interaction.OpenInput = true }
	for i, c := range []struct{ schema, path, text string }{
		{
			`{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]}`, "/input_schema/oneOf",
			"an action with an enum",
		},
		{`{"type":"object","properties":{"filter":{}}}`, "/input_schema/properties/filter", "any value"},
		{
			`{"type":"object","properties":{"meta":{"type":"object","additionalProperties":true}}}`,
			"/input_schema/properties/meta", "an object of anything",
		},
		{`{"type":"object"}`, "/input_schema", `"properties": {}`},
	} {
		slug := "findLoose" + string(rune('A'+i))
		_, warnings, err := b.registry.Create(t.Context(), b.ada, spec(slug, input(c.schema)))
		require.NoError(t, err)
		require.Contains(t, warnings[0], c.path)
		_, _, err = b.registry.Publish(t.Context(), b.ada, tool.Ref{Slug: slug})
		registrytest.RequireRefused(t, err, tool.Invalid, c.path, c.text)
		registrytest.RequireRefused(t, err, tool.Invalid, c.path, "open_input")
		_, err = b.apply(t, spec(slug, publish, input(c.schema)))
		registrytest.RequireRefused(t, err, tool.Invalid, c.path, c.text)

		change, err := b.apply(t, spec(slug, publish, input(c.schema), declared))
		require.NoError(t, err, "what is declared is published")
		require.True(t, change.Published)
		if i > 0 {
			require.Empty(t, change.Warnings)
		} else {
			require.Contains(t, change.Warnings[0], "/input_schema/oneOf", "a union is worth a word all the same")
		}
	}
	_, err := b.apply(
		t, spec("takeNothing", publish, input(`{"type":"object","properties":{},"additionalProperties":false}`)),
	)
	require.NoError(t, err, "a tool may take nothing, and say so")
	change, err := b.apply(t, spec("getNothing", publish, func(s *definition.ToolSpec) { s.InputSchema = nil }))
	require.NoError(t, err)
	require.Contains(t, change.Warnings[0], "no properties")

	// An MCP server's schemas are its own, and so are those of a host's types.
	for name, edit := range map[string]func(*definition.ToolSpec){
		"callRemote": func(s *definition.ToolSpec) {
			s.Implementation, s.Config = tool.MCP, json.RawMessage(`{"server_url":"https://example.com/mcp","tool_name":"x"}`)
		},
	} {
		change, err := b.apply(t, spec(name, publish, input(`{"type":"object","anyOf":[{"required":["a"]}]}`), edit))
		require.NoError(t, err, name)
		require.Contains(t, change.Warnings[0], "/input_schema/anyOf")
	}
	changes, err := b.registry.SyncCode(t.Context(), b.ada.Tenant, []registry.CodeSpec{{
		Slug: "runHosted", Version: "1.0.0",
		Definition: tool.Definition{
			Description: "Runs.", Implementation: tool.Function, Config: json.RawMessage(`{"function_name":"hosted"}`),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"any":true}}`),
		},
	}})
	require.NoError(t, err)
	require.True(t, changes[0].Published)
	require.Contains(t, changes[0].Warnings[0], "/input_schema/properties/any")

	many := map[string]any{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		many[name] = map[string]any{}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": many})
	require.NoError(t, err)
	_, warnings, err := b.registry.Create(t.Context(), b.ada, spec("findMany", input(string(raw))))
	require.NoError(t, err)
	require.Contains(t, warnings, "2 more places of the input schema are as open")
}
