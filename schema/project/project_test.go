package project_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema/project"
	"github.com/toolcrib/toolcrib/tool"
)

// schemas has one schema for each kind of thing that a schema says, with its forms for strict
// functions and for Google's models. An empty form is a refusal.
var schemas = map[string]struct {
	raw            string
	strict, gemini string
	lost           string // Of the form for Google's models.
}{
	"Closed": {
		raw: `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`,
		strict: `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],` +
			`"additionalProperties":false}`,
		gemini: `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`,
	},
	"NoProperties": {
		raw:    `{"type":"object"}`,
		strict: `{"type":"object","properties":{},"required":[],"additionalProperties":false}`,
		gemini: `{"type":"object","properties":{}}`,
	},
	"Optional": {
		raw: `{"type":"object","properties":{"a":{"type":"integer","description":"A."},"b":{"enum":["x","y"]},
			"c":{"type":"string","enum":["x"]}}}`,
		strict: `{"type":"object","properties":{"a":{"type":["integer","null"],"description":"A."},
			"b":{"anyOf":[{"enum":["x","y"]},{"type":"null"}]},"c":{"type":["string","null"],"enum":["x",null]}},
			"required":["a","b","c"],"additionalProperties":false}`,
		gemini: `{"type":"object","properties":{"a":{"type":"integer","description":"A."},"b":{"type":"string","enum":["x","y"]},
			"c":{"type":"string","enum":["x"]}}}`,
	},
	"OptionalThatMayBeNull": {
		raw:    `{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
		gemini: `{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`,
	},
	"RequiredThatMayBeNull": {
		raw: `{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]}`,
		strict: `{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],
			"additionalProperties":false}`,
		gemini: `{"type":"object","properties":{"a":{"type":"string","nullable":true}},"required":["a"]}`,
	},
	"OpenMap": {
		raw:    `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}}}}`,
		gemini: `{"type":"object","properties":{"m":{"type":"object"}}}`,
		lost:   "additionalProperties at /properties/m",
	},
	"PatternProperties": {
		raw:    `{"type":"object","properties":{"m":{"type":"object","patternProperties":{"^x":{}}}}}`,
		gemini: `{"type":"object","properties":{"m":{"type":"object"}}}`,
		lost:   "patternProperties at /properties/m",
	},
	"Nested": {
		raw: `{"type":"object","required":["o"],"properties":{"o":{"type":"object","required":["l"],"properties":{
			"l":{"type":"array","items":{"type":"number","minimum":1}}}}}}`,
		strict: `{"type":"object","required":["o"],"additionalProperties":false,"properties":{"o":{"type":"object",
			"required":["l"],"additionalProperties":false,"properties":{"l":{"type":"array","items":{"type":"number","minimum":1}}}}}}`,
		gemini: `{"type":"object","required":["o"],"properties":{"o":{"type":"object","required":["l"],"properties":{
			"l":{"type":"array","items":{"type":"number","minimum":1}}}}}}`,
	},
	"ArrayOfAnything": {
		raw: `{"type":"object","properties":{"l":{"type":"array"}}}`,
		gemini: `{"type":"object","properties":{"l":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number"},
			{"type":"boolean"},{"type":"object"}]}}}}`,
	},
	"AnyValue": {
		raw: `{"type":"object","properties":{"v":true}}`,
		gemini: `{"type":"object","properties":{"v":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},
			{"type":"object"}]}}}`,
	},
	"Tuple": {
		raw: `{"type":"object","properties":{"p":{"type":"array","prefixItems":[{"type":"string"}],"items":false}}}`,
		gemini: `{"type":"object","properties":{"p":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number"},
			{"type":"boolean"},{"type":"object"}]}}}}`,
		lost: "prefixItems at /properties/p, false at /properties/p/items",
	},
	"Types": {
		raw: `{"type":"object","required":["v"],"properties":{"v":{"type":["string","integer"]}}}`,
		strict: `{"type":"object","required":["v"],"additionalProperties":false,
			"properties":{"v":{"type":["string","integer"]}}}`,
		gemini: `{"type":"object","required":["v"],"properties":{"v":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`,
	},
	"AnyOf": {
		raw: `{"type":"object","required":["v"],"properties":{"v":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`,
		strict: `{"type":"object","required":["v"],"additionalProperties":false,
			"properties":{"v":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`,
		gemini: `{"type":"object","required":["v"],"properties":{"v":{"anyOf":[{"type":"string"}],"nullable":true}}}`,
	},
	"OneOf": {
		raw:    `{"type":"object","properties":{"v":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`,
		gemini: `{"type":"object","properties":{"v":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`,
	},
	"AllOf": {
		raw: `{"type":"object","properties":{"v":{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},
			{"properties":{"b":{"type":"string"}},"required":["b"]}]}}}`,
		gemini: `{"type":"object","properties":{"v":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},
			"required":["a","b"]}}}`,
	},
	"AllOfThatDisagrees": {
		raw:    `{"type":"object","properties":{"v":{"type":"integer","minimum":1,"allOf":[{"minimum":2}]}}}`,
		gemini: `{"type":"object","properties":{"v":{"type":"integer","minimum":1}}}`,
		lost:   "allOf at /properties/v",
	},
	"Not": {
		raw:    `{"type":"object","properties":{"v":{"type":"string","not":{"const":"x"}}}}`,
		gemini: `{"type":"object","properties":{"v":{"type":"string"}}}`,
		lost:   "not at /properties/v",
	},
	"If": {
		raw:    `{"type":"object","properties":{"v":{"type":"string","if":{"const":"x"},"then":{"maxLength":1}}}}`,
		gemini: `{"type":"object","properties":{"v":{"type":"string"}}}`,
		lost:   "if at /properties/v, then at /properties/v",
	},
	"Const": {
		raw: `{"type":"object","required":["a","n"],"properties":{"a":{"const":"x"},"n":{"const":5}}}`,
		strict: `{"type":"object","required":["a","n"],"additionalProperties":false,
			"properties":{"a":{"const":"x"},"n":{"const":5}}}`,
		gemini: `{"type":"object","required":["a","n"],"properties":{"a":{"type":"string","enum":["x"]},
			"n":{"type":"integer","description":"One of: 5."}}}`,
	},
	"EnumOfNumbers": {
		raw: `{"type":"object","required":["n"],"properties":{"n":{"description":"Size.","enum":[1,2.5]}}}`,
		strict: `{"type":"object","required":["n"],"additionalProperties":false,
			"properties":{"n":{"description":"Size.","enum":[1,2.5]}}}`,
		gemini: `{"type":"object","required":["n"],"properties":{"n":{"type":"number","description":"Size. One of: 1,2.5."}}}`,
	},
	"Bounds": {
		raw: `{"type":"object","required":["n","s"],"properties":{"n":{"type":"number","exclusiveMinimum":0,"multipleOf":0.5},
			"s":{"type":"string","pattern":"^a"}}}`,
		strict: `{"type":"object","required":["n","s"],"additionalProperties":false,"properties":{
			"n":{"type":"number","exclusiveMinimum":0,"multipleOf":0.5},"s":{"type":"string","pattern":"^a"}}}`,
		gemini: `{"type":"object","required":["n","s"],"properties":{
			"n":{"type":"number","description":"More than 0. A multiple of 0.5."},"s":{"type":"string","pattern":"^a"}}}`,
	},
	"Lengths": {
		raw:    `{"type":"object","properties":{"s":{"type":"string","minLength":1,"maxLength":9}}}`,
		gemini: `{"type":"object","properties":{"s":{"type":"string","minLength":1,"maxLength":9}}}`,
	},
	"Formats": {
		raw: `{"type":"object","required":["d","u"],"properties":{"d":{"type":"string","format":"date-time"},
			"u":{"type":"string","format":"uuid","description":"Id."}}}`,
		strict: `{"type":"object","required":["d","u"],"additionalProperties":false,"properties":{
			"d":{"type":"string","format":"date-time"},"u":{"type":"string","format":"uuid","description":"Id."}}}`,
		gemini: `{"type":"object","required":["d","u"],"properties":{"d":{"type":"string","format":"date-time"},
			"u":{"type":"string","description":"Id. Format: uuid."}}}`,
	},
	"FormatOfOurOwn": {
		raw:    `{"type":"object","required":["u"],"properties":{"u":{"type":"string","format":"iban"}}}`,
		gemini: `{"type":"object","required":["u"],"properties":{"u":{"type":"string","description":"Format: iban."}}}`,
	},
	"Annotations": {
		raw: `{"$schema":"https://json-schema.org/draft/2020-12/schema","$comment":"x","type":"object","required":["a"],
			"properties":{"a":{"type":"string","default":"x","description":"A.","examples":["x"],"deprecated":true}}}`,
		strict: `{"type":"object","required":["a"],"additionalProperties":false,
			"properties":{"a":{"type":"string","description":"A. Default: \"x\"."}}}`,
		gemini: `{"type":"object","required":["a"],"properties":{"a":{"type":"string","default":"x","description":"A."}}}`,
	},
	"Reference": {
		raw: `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"number"}}}`,
		strict: `{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/n"}},
			"$defs":{"n":{"type":"number"}}}`,
		gemini: `{"type":"object","required":["a"],"properties":{"a":{"type":"number"}}}`,
	},
	"OptionalReference": {
		raw: `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"number"}}}`,
		strict: `{"type":"object","required":["a"],"additionalProperties":false,
			"properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"$defs":{"n":{"type":"number"}}}`,
		gemini: `{"type":"object","properties":{"a":{"type":"number"}}}`,
	},
	"Recursion": {
		raw: `{"type":"object","required":["t"],"properties":{"t":{"$ref":"#/$defs/t"}},"$defs":{"t":{"type":"object",
			"required":["l"],"properties":{"l":{"type":"array","items":{"$ref":"#/$defs/t"}}}}}}`,
		strict: `{"type":"object","required":["t"],"additionalProperties":false,"properties":{"t":{"$ref":"#/$defs/t"}},
			"$defs":{"t":{"type":"object","required":["l"],"additionalProperties":false,
			"properties":{"l":{"type":"array","items":{"$ref":"#/$defs/t"}}}}}}`,
		gemini: `{"type":"object","required":["t"],"properties":{"t":{"type":"object","required":["l"],"properties":{
			"l":{"type":"array","items":{"type":"object","description":"As the object that it is in."}}}}}}`,
		lost: "$ref at /properties/t/properties/l/items",
	},
	"UnionAtTheTop": {
		raw:    `{"oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}]}`,
		gemini: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`,
		lost:   "oneOf",
	},
	"RequiredThatIsNotDeclared": {
		raw:    `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`,
		gemini: `{"type":"object","properties":{"a":{"type":"string"}}}`,
	},
	"FieldForms": {
		raw: `{"type":"object","x-toolcrib-field":{"order":["a"]},"required":["a"],
			"properties":{"a":{"type":"string","x-toolcrib-field":{"display":"textarea"}}}}`,
		strict: `{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"type":"string"}}}`,
		gemini: `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`,
	},
}

// Every kind of schema has the form that each dialect has for it, or is refused by strict
// functions; what is lost is listed.
func TestInput(t *testing.T) {
	t.Parallel()

	for name, tt := range schemas {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := project.Input(json.RawMessage(tt.raw), project.OpenAIStrict)
			if tt.strict == "" {
				require.Equal(t, tool.Invalid, tool.KindOf(err), "%s", got.Schema)
				require.Contains(t, err.Error(), "the dialect cannot say")
			} else {
				require.NoError(t, err)
				require.JSONEq(t, tt.strict, string(got.Schema))
				require.Empty(t, got.Losses, "strict functions lose nothing")
			}

			got, err = project.Input(json.RawMessage(tt.raw), project.Gemini)
			require.NoError(t, err)
			require.JSONEq(t, tt.gemini, string(got.Schema))
			var lost []string
			for _, l := range got.Losses {
				lost = append(lost, l.String())
			}
			require.Equal(t, tt.lost, strings.Join(lost, ", "))

			for _, d := range []project.Dialect{project.OpenAI, project.Anthropic} {
				got, err = project.Input(json.RawMessage(tt.raw), d)
				require.NoError(t, err)
				require.Contains(t, string(got.Schema), `"type":"object"`)
			}
		})
	}
}

// A schema that accepts no object, or is none, is refused by every dialect.
func TestInputRefuses(t *testing.T) {
	t.Parallel()

	for _, raw := range []string{`{`, `false`, `5`, `[]`, `"x"`, `null`, `{"type":"array"}`, `{"type":["string","null"]}`} {
		for _, d := range project.Dialects() {
			_, err := project.Input(json.RawMessage(raw), d)
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%s %s", d, raw)
		}
	}
	for _, d := range project.Dialects() {
		got, err := project.Input(nil, d)
		require.NoError(t, err, d)
		require.Contains(t, string(got.Schema), `"properties":{}`)
	}
}

// References that multiply when they are written out are refused, in linear time.
func TestInputIsBounded(t *testing.T) {
	t.Parallel()

	var defs []string
	for i := range 24 {
		next := `{"$ref":"#/$defs/d` + string(rune('A'+i+1)) + `"}`
		defs = append(defs, `"d`+string(rune('A'+i))+`":{"type":"object","properties":{"a":`+next+`,"b":`+next+`}}`)
	}
	raw := `{"type":"object","properties":{"x":{"$ref":"#/$defs/dA"}},"$defs":{` + strings.Join(defs, ",") + `}}`
	_, err := project.Input(json.RawMessage(raw), project.Gemini)
	require.Equal(t, tool.Invalid, tool.KindOf(err))
	require.Contains(t, err.Error(), "too large")

	raw = `{"type":"object","properties":{"x":{"allOf":[{"$ref":"#/$defs/a"}]}},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}`
	_, err = project.Input(json.RawMessage(raw), project.Gemini)
	require.Equal(t, tool.Invalid, tool.KindOf(err))
}

// FuzzInput projects anything: it is refused, or has an object at its top, and no keyword that
// the dialect does not know.
func FuzzInput(f *testing.F) {
	for _, s := range schemas {
		f.Add(s.raw)
	}
	for _, seed := range []string{`{"$ref":"#"}`, `{"allOf":[{"$ref":"#"}]}`, `{"properties":{"a":{"$ref":"#"}}}`, `{"anyOf":[{}]}`} {
		f.Add(seed)
	}
	unknown := []string{"$ref", "const", "oneOf", "allOf", "not", "additionalProperties", "$defs"}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, d := range project.Dialects() {
			got, err := project.Input(json.RawMessage(raw), d)
			if err != nil {
				require.Equal(t, tool.Invalid, tool.KindOf(err))
				continue
			}
			var top map[string]any
			require.NoError(t, json.Unmarshal(got.Schema, &top))
			require.Equal(t, "object", top["type"])
			require.NotNil(t, top["properties"])
			if d == project.Gemini {
				eachSchema(top, func(s map[string]any) {
					for name := range s {
						require.False(t, slices.Contains(unknown, name), "%s in %s", name, got.Schema)
					}
				})
			}
		}
	})
}

// eachSchema calls fn for every subschema of a projection for Google's models.
func eachSchema(s map[string]any, fn func(map[string]any)) {
	fn(s)
	if properties, ok := s["properties"].(map[string]any); ok {
		for _, p := range properties {
			if sub, ok := p.(map[string]any); ok {
				eachSchema(sub, fn)
			}
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		eachSchema(items, fn)
	}
	branches, _ := s["anyOf"].([]any)
	for _, b := range branches {
		if sub, ok := b.(map[string]any); ok {
			eachSchema(sub, fn)
		}
	}
}
