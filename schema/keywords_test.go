package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
)

// TestKeywords holds every asserting keyword of both dialects to what it says:
// one value that meets it, and one that does not.
func TestKeywords(t *testing.T) {
	t.Parallel()

	const both = ""
	const seven, twenty = "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"
	tests := []struct{ dialect, keywords, good, bad string }{
		{both, `"type":"null"`, `null`, `0`},
		{both, `"type":"boolean"`, `false`, `"false"`},
		{both, `"type":"object"`, `{}`, `[]`},
		{both, `"type":"array"`, `[]`, `{}`},
		{both, `"type":"number"`, `1.5`, `"1.5"`},
		{both, `"type":"string"`, `""`, `1`},
		{both, `"type":"integer"`, `3.0`, `3.5`},
		{both, `"type":"integer"`, `1e3`, `1e-3`},
		{both, `"type":["integer","null"]`, `null`, `"null"`},
		{both, `"enum":[1,"a",null,{"x":[1]}]`, `{"x":[1.0]}`, `{"x":[2]}`},
		{both, `"const":{"a":1}`, `{"a":1.0}`, `{"a":1,"b":2}`},
		{both, `"const":null`, `null`, `false`},
		{both, `"const":false`, `false`, `0`},
		{both, `"multipleOf":0.01`, `4.02`, `4.021`},
		{both, `"multipleOf":0.0001`, `0.0075`, `0.00751`},
		{both, `"maximum":3`, `3`, `3.0000000000000000000001`},
		{both, `"exclusiveMaximum":3`, `2.9999999999999999999`, `3`},
		{both, `"minimum":-1`, `-1`, `-1.1`},
		{both, `"exclusiveMinimum":0`, `1e-300`, `0`},
		{both, `"minimum":9007199254740993`, `9007199254740993`, `9007199254740992`},
		{both, `"maxLength":2`, `"😀😀"`, `"abc"`},
		{both, `"minLength":2`, `"😀é"`, `"😀"`},
		{both, `"pattern":"^a+$"`, `"aa"`, `"ab"`},
		{both, `"pattern":"b"`, `"abc"`, `"ac"`},
		{both, `"maxItems":1`, `[1]`, `[1,2]`},
		{both, `"minItems":1`, `[1]`, `[]`},
		{both, `"uniqueItems":true`, `[1,true,"1",{"a":1}]`, `[{"a":1,"b":2},{"b":2,"a":1.0}]`},
		{
			both, `"uniqueItems":true`, `[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]`,
			`[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,0]`,
		},
		{both, `"contains":{"minimum":5}`, `[1,5]`, `[1,4]`},
		{both, `"items":{"type":"integer"}`, `[1,2]`, `[1,"2"]`},
		{both, `"items":false`, `[]`, `[1]`},
		{both, `"maxProperties":1`, `{"a":1}`, `{"a":1,"b":2}`},
		{both, `"minProperties":1`, `{"a":1}`, `{}`},
		{both, `"required":["a"]`, `{"a":null}`, `{"b":1}`},
		{both, `"properties":{"a":{"type":"integer"}}`, `{"a":1,"b":"x"}`, `{"a":"1"}`},
		{both, `"patternProperties":{"^n":{"type":"integer"}}`, `{"n1":1,"x":"y"}`, `{"n1":"1"}`},
		{
			both, `"properties":{"a":{}},"patternProperties":{"^b":{}},"additionalProperties":false`, `{"a":1,"bb":2}`,
			`{"c":1}`,
		},
		{both, `"additionalProperties":{"type":"integer"}`, `{"a":1}`, `{"a":"1"}`},
		{both, `"propertyNames":{"maxLength":2}`, `{"ab":1}`, `{"abc":1}`},
		{both, `"allOf":[{"minimum":1},{"maximum":2}]`, `2`, `3`},
		{both, `"anyOf":[{"type":"integer"},{"minimum":2}]`, `2.5`, `1.5`},
		{both, `"oneOf":[{"multipleOf":3},{"multipleOf":5}]`, `9`, `15`},
		{both, `"not":{"type":"integer"}`, `"1"`, `1`},
		{
			both, `"if":{"properties":{"k":{"const":1}}},"then":{"required":["a"]},"else":{"required":["b"]}`, `{"k":1,"a":1}`,
			`{"k":2,"a":1}`,
		},
		{both, `"properties":{"a":true,"b":false}`, `{"a":1}`, `{"b":1}`},
		{
			both, `"properties":{"kids":{"items":{"$ref":"#"}},"n":{"type":"integer"}}`, `{"kids":[{"n":1}]}`,
			`{"kids":[{"kids":[{"n":"1"}]}]}`,
		},
		{both, `"properties":{"a/b":{"$ref":"#/properties/c%25d"},"c%d":{"type":"integer"}}`, `{"a/b":1}`, `{"a/b":"1"}`},

		// Siblings of $ref do not count.
		{
			seven, `"definitions":{"a":{"type":"integer"}},"properties":{"x":{"$ref":"#/definitions/a","type":"string"}}`,
			`{"x":1}`, `{"x":"1"}`,
		},
		{
			seven, `"definitions":{"a":{"$id":"#here","type":"integer"}},"properties":{"x":{"$ref":"#here"}}`, `{"x":1}`,
			`{"x":"1"}`,
		},
		{seven, `"items":[{"type":"integer"},{"type":"string"}]`, `[1,"a",null]`, `[1,2]`},
		{seven, `"items":[{}],"additionalItems":{"type":"integer"}`, `["a",1]`, `["a","b"]`},
		{seven, `"items":[{}],"additionalItems":false`, `["a"]`, `["a","b"]`},
		{seven, `"dependencies":{"a":["b"]}`, `{"a":1,"b":2}`, `{"a":1}`},
		{seven, `"dependencies":{"a":{"minProperties":2}}`, `{"a":1,"c":2}`, `{"a":1}`},

		// Siblings of $ref count.
		{
			twenty, `"$defs":{"a":{"type":"integer"}},"properties":{"x":{"$ref":"#/$defs/a","minimum":5}}`, `{"x":5}`,
			`{"x":1}`,
		},
		{
			twenty, `"$defs":{"a":{"$anchor":"here","type":"integer"}},"properties":{"x":{"$ref":"#here"}}`, `{"x":1}`,
			`{"x":"1"}`,
		},
		{
			twenty,
			`"$id":"https://example.com/root","$defs":{"a":{"$id":"part","type":"integer"}},"properties":{"x":{"$ref":"part"}}`,
			`{"x":1}`, `{"x":"1"}`,
		},
		{
			twenty, `"$dynamicAnchor":"node","properties":{"kids":{"items":{"$dynamicRef":"#node"}},"n":{"type":"integer"}}`,
			`{"kids":[{"n":1}]}`, `{"kids":[{"n":"1"}]}`,
		},
		{twenty, `"prefixItems":[{"type":"integer"}],"items":{"type":"string"}`, `[1,"a"]`, `[1,2]`},
		{twenty, `"prefixItems":[{"type":"integer"}],"items":false`, `[1]`, `[1,2]`},
		{twenty, `"contains":{"const":1},"minContains":2`, `[1,0,1]`, `[1,0]`},
		{twenty, `"contains":{"const":1},"maxContains":1`, `[1,0]`, `[1,1]`},
		{twenty, `"contains":{"const":1},"minContains":0,"maxItems":1`, `[0]`, `[0,0]`},
		{twenty, `"dependentRequired":{"a":["b"]}`, `{"a":1,"b":2}`, `{"a":1}`},
		{twenty, `"dependentSchemas":{"a":{"minProperties":2}}`, `{"a":1,"c":2}`, `{"a":1}`},
		{twenty, `"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false`, `{"a":1}`, `{"b":1}`},
		{
			twenty,
			`"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":{}}}],"unevaluatedProperties":false`,
			`{"a":1}`, `{"c":1}`,
		},
		{
			twenty,
			`"if":{"required":["k"],"properties":{"k":{}}},"then":{"properties":{"a":{}}},"unevaluatedProperties":false`,
			`{"k":1,"a":1}`, `{"a":1}`,
		},
		{twenty, `"prefixItems":[{}],"contains":{"const":"x"},"unevaluatedItems":false`, `[1,"x"]`, `[1,"x",2]`},
		{
			twenty, `"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{}}}},"unevaluatedProperties":false`, `{"x":1}`,
			`{"y":1}`,
		},
	}
	cache := schema.New(0)
	for _, tt := range tests {
		dialects := []string{seven, twenty}
		if tt.dialect != both {
			dialects = []string{tt.dialect}
		}
		for _, dialect := range dialects {
			raw := `{"$schema":"` + dialect + `",` + tt.keywords + `}`
			t.Run(raw, func(t *testing.T) {
				t.Parallel()

				s, err := cache.Compile(json.RawMessage(raw))
				require.NoError(t, err)
				require.NoError(t, s.Validate(t.Context(), json.RawMessage(tt.good)))
				err = s.Validate(t.Context(), json.RawMessage(tt.bad))
				require.Error(t, err)
				require.Contains(t, err.Error(), " expected ")
				require.False(t, strings.Contains(err.Error(), "what the schema allows here (") && !strings.Contains(raw, "false"),
					err.Error())
			})
		}
	}
}
