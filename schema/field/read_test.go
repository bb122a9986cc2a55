package field_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// What others write becomes the fields that a person would have written.
func TestReadForeignSchemas(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ schema, form string }{
		"nothing":    {``, `{"fields":[],"open":true}`},
		"any object": {`{"type":"object"}`, `{"fields":[],"open":true}`},
		"of no object": {
			`{"type":"array"}`,
			`{"fields":[],"schema":{"type":"array"},"kept":[{"pointer":"","reason":"not the schema of an object"}]}`,
		},
		"plain types, in the order of their names": {
			`{"type":"object","required":["q"],"additionalProperties":true,"properties":{"q":{"type":"string","description":"What."},"n":{"type":["null","integer"],"minimum":1,"default":10},"on":{"type":["boolean"]}}}`,
			`{"open":true,"fields":[{"key":"n","type":"number","display":"input","nullable":true,"default":10,"min":1,"integer":true},{"key":"on","type":"boolean","display":"switch"},{"key":"q","description":"What.","type":"text","display":"input","required":true}]}`,
		},
		"an enum without a type": {
			`{"type":"object","additionalProperties":false,"properties":{"a":{"enum":["x","y"],"title":"A"}}}`,
			`{"fields":[{"key":"a","label":"A","type":"enum","display":"select","options":[{"value":"x"},{"value":"y"}]}]}`,
		},
		"objects, maps and tables": {
			`{"type":"object","additionalProperties":false,"properties":{"m":{"type":"object","additionalProperties":{"type":"string"}},"o":{"type":"object","properties":{"x":{"type":"string","format":"email"}}},"t":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"d":{"type":"string","format":"date"}}}}}}`,
			`{"fields":[{"key":"m","type":"object","display":"map","items":{"key":"","type":"text","display":"input"}},{"key":"o","type":"object","display":"group","open":true,"fields":[{"key":"x","type":"email","display":"input"}]},{"key":"t","type":"array","display":"list","items":{"key":"","type":"object","display":"group","fields":[{"key":"d","type":"date","display":"date"}]}}]}`,
		},
		"what fields cannot say": {
			`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","title":"Order","minProperties":1,"required":["gone"],"properties":{"a/b":{"title":"Either","anyOf":[{"type":"string"},{"type":"integer"}]},"o":{"type":"object","properties":{"c":{"const":1}}},"s":true},"$defs":{"x":{"type":"string"}}}`,
			`{"open":true,"fields":[{"key":"a/b","label":"Either","type":"object","display":"json","schema":{"anyOf":[{"type":"string"},{"type":"integer"}]}},{"key":"o","type":"object","display":"group","open":true,"fields":[{"key":"c","type":"object","display":"json","schema":{"const":1}}]},{"key":"s","type":"object","display":"json","schema":true}],
			 "keywords":{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Order","minProperties":1,"required":["gone"],"$defs":{"x":{"type":"string"}}},
			 "kept":[{"pointer":"/minProperties","reason":"not expressible as a field"},{"pointer":"/properties/a~1b","reason":"no field can express: anyOf"},{"pointer":"/properties/o/properties/c","reason":"no field can express: const"},{"pointer":"/properties/s","reason":"anything, or nothing"},{"pointer":"/required","reason":"not expressible as a field"}]}`,
		},
		"entities of other vendors": {
			`{"type":"object","additionalProperties":false,"properties":{"deal":{"type":"string","x-entity-type":"opportunity"},"ids":{"type":["array","null"],"items":{"type":"string"},"x-entity-type":"tool","x-entity-select":"multiple"},"kind":{"type":"string","enum":["a","b"],"x-entity-type":"tool"},"n":{"type":"integer","x-entity-type":"tool"},"u":{"type":"string","format":"uuid","x-entity-type":"run"}}}`,
			`{"fields":[{"key":"deal","type":"relation","display":"picker","entity_type":"opportunity","annotations":{"x-entity-type":"opportunity"}},{"key":"ids","type":"relation","display":"picker","multiple":true,"nullable":true,"entity_type":"tool","annotations":{"x-entity-type":"tool","x-entity-select":"multiple"}},{"key":"kind","type":"enum","display":"select","options":[{"value":"a"},{"value":"b"}],"annotations":{"x-entity-type":"tool"}},{"key":"n","type":"number","display":"input","integer":true,"annotations":{"x-entity-type":"tool"}},{"key":"u","type":"relation","display":"picker","entity_type":"run","format":"uuid","annotations":{"x-entity-type":"run"}}]}`,
		},
		"conditions": {
			`{"type":"object","additionalProperties":false,"required":["kind"],"properties":{"kind":{"type":"string","enum":["letter","parcel"]},"weight":{"type":"number"}},"if":{"required":["kind"],"properties":{"kind":{"enum":["parcel"]}}},"then":{"required":["weight"]},"else":{"properties":{"weight":false}}}`,
			`{"fields":[{"key":"kind","type":"enum","display":"select","required":true,"options":[{"value":"letter"},{"value":"parcel"}]},{"key":"weight","type":"number","display":"input","required":true,"visible_when":[{"field":"kind","in":["parcel"]}]}]}`,
		},
		"conditions that hide nothing": {
			`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"boolean"},"b":{"type":"number"}},"if":{"required":["a"]},"then":{"required":["b"]}}`,
			`{"fields":[{"key":"a","type":"boolean","display":"switch"},{"key":"b","type":"number","display":"input"}],"keywords":{"if":{"required":["a"]},"then":{"required":["b"]}},"kept":[{"pointer":"/if","reason":"not expressible as a field"},{"pointer":"/then","reason":"not expressible as a field"}]}`,
		},
		"an order that is out of date": {
			`{"type":"object","additionalProperties":false,"x-toolcrib-field":{"order":["z","gone","a"]},"properties":{"a":{"type":"string"},"m":{"type":"string"},"z":{"type":"string"}}}`,
			`{"fields":[{"key":"z","type":"text","display":"input"},{"key":"a","type":"text","display":"input"},{"key":"m","type":"text","display":"input"}]}`,
		},
	} {
		form, err := field.Read(json.RawMessage(c.schema))
		require.NoError(t, err, name)
		require.JSONEq(t, without(t, c.form), without(t, encoded(t, form)), name)
	}
}

// without drops what is empty, so that cases need not say it.
func without(t *testing.T, raw string) string {
	t.Helper()
	var form map[string]any
	require.NoError(t, json.Unmarshal([]byte(raw), &form))
	if k, ok := form["keywords"].(map[string]any); ok && len(k) == 0 {
		delete(form, "keywords")
	}
	return encoded(t, form)
}

// A form that was read, and edited perhaps, is compiled with what it keeps.
func TestCompileForm(t *testing.T) {
	t.Parallel()

	const raw = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","minProperties":1,"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`
	form := read(t, []byte(raw))
	again, err := field.CompileForm(form)
	require.NoError(t, err)
	require.JSONEq(t, raw, string(again))

	form.Fields = append(form.Fields, field.Field{Key: "b", Type: field.Phone})
	again, err = field.CompileForm(form)
	require.NoError(t, err)
	require.Contains(t, string(again), `"$ref":"#/$defs/a"`)
	require.Contains(t, string(again), `"type":"phone"`)

	form.Fields = append(form.Fields, field.Field{Key: "b", Type: field.Text})
	_, err = field.CompileForm(form)
	require.Equal(t, "/fields/2/key", tool.AsError(err).Path)

	_, err = field.CompileForm(field.Form{
		Schema: json.RawMessage(`true`), Fields: []field.Field{{Key: "a", Type: field.Text}},
	})
	require.Equal(t, "/schema", tool.AsError(err).Path)
}

func TestReadRefusesWhatIsNoSchema(t *testing.T) {
	t.Parallel()

	for _, raw := range []string{`{`, `5`, `{"type":"object","properties":{"a":{"type":"text"}}}`} {
		_, err := field.Read(json.RawMessage(raw))
		require.Equal(t, tool.Invalid, tool.KindOf(err), raw)
	}
}

// FuzzRead reads anything: it is refused, or becomes a form whose schema reads
// as the same form.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		``, `true`, `{"type":"object"}`, `{"type":"object","properties":{"a":{"type":["null","string"],"enum":["a",null]}}}`,
		`{"type":"object","x-toolcrib-field":{"order":["b"]},"properties":{"b":{"x-toolcrib-field":{"type":"phone"},"type":"string"}}}`,
		`{"type":"object","properties":{"":{"items":[],"type":"array"}},"required":[""]}`,
		`{"type":"object","x-toolcrib-field":5,"additionalProperties":{"x-toolcrib-field":{"labels":[]}}}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"x-toolcrib-field":true}}}}`,
		`{"type":"object","properties":{"a":{"minLength":1e2,"type":"string","title":7}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#","type":"array","uniqueItems":true,"items":{"enum":[{}]}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		form, err := field.Read(raw)
		if err != nil {
			require.Equal(t, tool.Invalid, tool.KindOf(err))
			return
		}
		wrote, err := form.Write()
		require.NoError(t, err)
		again, err := field.Read(wrote)
		require.NoError(t, err, "%s", wrote)
		require.Equal(t, encoded(t, form), encoded(t, again), "%s", wrote)
	})
}
