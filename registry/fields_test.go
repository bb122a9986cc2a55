package registry_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// Fields are another way to write a schema, in either spelling, as a list or as
// the form that was read.
func TestParseFields(t *testing.T) {
	t.Parallel()

	parse := func(raw string) *registry.ToolSpec {
		d, err := registry.ParseDefinition([]byte(raw))
		require.NoError(t, err, raw)
		return d.Tool
	}
	snake := parse(`{"slug":"quote","implementation_type":"internal",
		"input_fields":[{"key":"size","type":"enum","options":["s",{"value":"l","label":"Large"}],"max_items":2,"multiple":true},
			{"key":"lines","type":"array","display":"table","items":{"type":"object","fields":[{"key":"sku","type":"text","min_length":1}]}}],
		"output_fields":[{"key":"total","type":"number","display":"currency","unit":"EUR"}]}`)
	require.JSONEq(t, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,
		"x-toolcrib-field":{"order":["size","lines"]},"properties":{
		"size":{"type":"array","maxItems":2,"uniqueItems":true,"items":{"type":"string","enum":["s","l"]},"x-toolcrib-field":{"labels":["","Large"]}},
		"lines":{"type":"array","x-toolcrib-field":{"display":"table"},"items":{"type":"object","additionalProperties":false,"properties":{"sku":{"type":"string","minLength":1}}}}}}`,
		string(snake.InputSchema))
	require.Contains(t, string(snake.OutputSchema), `"unit":"EUR"`)
	camel := parse(`{"slug":"quote","implementationType":"internal",
		"inputFields":[{"key":"size","type":"enum","options":["s",{"value":"l","label":"Large"}],"maxItems":2,"multiple":true},
			{"key":"lines","type":"array","display":"table","items":{"type":"object","fields":[{"key":"sku","type":"text","minLength":1}]}}],
		"outputFields":[{"key":"total","type":"number","display":"currency","unit":"EUR"}]}`)
	require.Equal(t, snake, camel)

	form, err := field.Read(snake.InputSchema)
	require.NoError(t, err)
	raw, err := json.Marshal(form)
	require.NoError(t, err)
	again := parse(`{"slug":"quote","implementation_type":"internal","input_fields":` + string(raw) + `}`)
	require.JSONEq(t, string(snake.InputSchema), string(again.InputSchema), "a form that was read is fields too")
}

func TestParseFieldsRefuses(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ definition, path, text string }{
		{`"input_fields":[],"input_schema":{"type":"object"}`, "/input_fields", "expected one of them"},
		{`"inputFields":[],"parameters":{"type":"object"}`, "/input_fields", "expected one of them"},
		{`"output_fields":[],"schema":{"output":{"type":"object"}}`, "/output_fields", "expected one of them"},
		{`"input_fields":5`, "/input_fields", "a list of fields"},
		{`"input_fields":[5]`, "/input_fields/0", "expected a JSON object"},
		{`"input_fields":[{"key":"a","type":"text","minimum_length":1}]`, "/input_fields/0/minimum_length", "unknown field"},
		{`"input_fields":[{"key":"a","type":"text","lable":"A"}]`, "/input_fields/0/lable", "did you mean label"},
		{
			`"input_fields":[{"key":"a","type":"array","items":{"typ":"text"}}]`, "/input_fields/0/items/typ",
			"did you mean type",
		},
		{
			`"input_fields":[{"key":"a","type":"object","fields":[{"key":"b","typ":"text"}]}]`, "/input_fields/0/fields/0/typ",
			"did you mean type",
		},
		{`"input_fields":[{"key":"a","type":"object","fields":{}}]`, "/input_fields/0/fields", "a list of fields"},
		{`"input_fields":[{"key":"a","type":7}]`, "/input_fields/0/type", "expected a string"},
		{`"input_fields":[{"key":"a","type":"enum","options":"x"}]`, "/input_fields/0/options", "expected an array"},
		{`"input_fields":[{"key":"a","type":"number","min":1,"max":0}]`, "/input_fields/0/max", "no number"},
		{
			`"input_fields":{"fields":[{"key":"a","type":"text"},{"key":"a","type":"text"}]}`, "/input_fields/fields/1/key",
			"twice",
		},
		{`"input_fields":{"field":[]}`, "/input_fields/field", "did you mean fields"},
	} {
		_, err := registry.ParseDefinition([]byte(`{"slug":"a","implementation_type":"internal",` + c.definition + `}`))
		requireRefused(t, err, tool.Invalid, c.path, c.text)
	}
}

// Sections say how parts of the result are shown: what no client could show is
// refused where it stands.
func TestOutputSections(t *testing.T) {
	t.Parallel()
	b := setup(t)

	closed := func(s *registry.ToolSpec) {
		s.OutputSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"total":{"type":"number"},"lines":{"type":"array"}}}`)
	}
	sections := func(raw string) func(*registry.ToolSpec) {
		return func(s *registry.ToolSpec) { s.Interaction.OutputSections = json.RawMessage(raw) }
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
		{`[1]`, at + "/0", "expected a JSON object"},
		{`[{"key":"total","type":"pie"}]`, at + "/0/type", "one of summary, table, chart, radar, ranking, custom"},
		{`[{"key":"total"}]`, at + "/0/type", "expected one of"},
		{`[{"type":"table"}]`, at + "/0/key", "expected a key"},
		{`[{"key":"total","type":"table"},{"key":"total","type":"chart"}]`, at + "/1/key", "twice"},
		{`[{"key":"sum","type":"table"}]`, at + "/0/key", `no property "sum"`},
		{`[{"key":"total","type":"table","config":[]}]`, at + "/0/config", "a JSON object"},
		{`[{"key":"total","type":"table","title":"T"}]`, at + "/0/title", "unknown field"},
		{`[{"key":"` + long + `","type":"table"}]`, at + "/0/key", "longer than 256"},
		{`[{"key":"total","type":"table","label":"` + long + `"}]`, at + "/0/label", "longer than 256"},
		{many + `]`, at, "33 sections"},
	} {
		_, _, err := b.registry.Create(t.Context(), b.ada, spec("other", closed, sections(c.raw)))
		requireRefused(t, err, tool.Invalid, c.path, c.text)
	}
	_, _, err = b.registry.Create(
		t.Context(), b.ada, spec("other", func(s *registry.ToolSpec) { s.Interaction.Intent = "look" }),
	)
	requireRefused(t, err, tool.Invalid, "/interaction/intent", "render, action or compute")
}

// What MCP clients could not show is a warning for a draft, and keeps it from
// being published unless the definition declares it.
func TestLooseInputs(t *testing.T) {
	t.Parallel()
	b := setup(t)

	declared := func(s *registry.ToolSpec) { s.Interaction.OpenInput = true }
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
		requireRefused(t, err, tool.Invalid, c.path, c.text)
		requireRefused(t, err, tool.Invalid, c.path, "open_input")
		_, err = b.apply(t, spec(slug, publish, input(c.schema)))
		requireRefused(t, err, tool.Invalid, c.path, c.text)

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
	change, err := b.apply(t, spec("getNothing", publish, func(s *registry.ToolSpec) { s.InputSchema = nil }))
	require.NoError(t, err)
	require.Contains(t, change.Warnings[0], "no properties")

	// An MCP server's schemas are its own, and so are those of a host's types.
	for name, edit := range map[string]func(*registry.ToolSpec){
		"callRemote": func(s *registry.ToolSpec) {
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
