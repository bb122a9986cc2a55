package definition_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/registrytest"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// Fields are another way to write a schema, in either spelling, as a list or as
// the form that was read.
func TestParseFields(t *testing.T) {
	t.Parallel()

	parse := func(raw string) *definition.ToolSpec {
		d, err := definition.Parse([]byte(raw))
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
		{`"input_fields":[5]`, "/input_fields/0", "expected an object"},
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
		_, err := definition.Parse([]byte(`{"slug":"a","implementation_type":"internal",` + c.definition + `}`))
		registrytest.RequireRefused(t, err, tool.Invalid, c.path, c.text)
	}
}
