package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/schema"
)

func TestCompare(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name          string
		before, after string
		path          string      // Of the change that demands most.
		input, output schema.Bump // What it demands on either side.
	}{
		{"equal", `{"type":"object"}`, `{ "type": "object" }`, "", schema.NoBump, schema.NoBump},
		{"nothing and any object", ``, `{"type":"object"}`, "", schema.NoBump, schema.NoBump},
		{"words", `{"title":"a"}`, `{"title":"b","description":"c"}`, "", schema.Patch, schema.Patch},
		{
			"words of a property", `{"properties":{"a":{"description":"x"}}}`, `{"properties":{"a":{"description":"y"}}}`, "",
			schema.Patch, schema.Patch,
		},
		{"optional property added", `{"properties":{}}`, `{"properties":{"a":{}}}`, "/a", schema.Minor, schema.Minor},
		{
			"required property added", `{"properties":{}}`, `{"properties":{"a":{}},"required":["a"]}`, "/a", schema.Major,
			schema.Minor,
		},
		{"property removed", `{"properties":{"a":{}}}`, `{"properties":{}}`, "/a", schema.Major, schema.Major},
		{
			"property required", `{"properties":{"a":{}}}`, `{"properties":{"a":{}},"required":["a"]}`, "/a", schema.Major,
			schema.Minor,
		},
		{
			"property no longer required", `{"properties":{"a":{}},"required":["a"]}`, `{"properties":{"a":{}}}`, "/a",
			schema.Minor, schema.Major,
		},
		{
			"type narrowed", `{"properties":{"a":{"type":["string","null"]}}}`, `{"properties":{"a":{"type":"string"}}}`, "/a",
			schema.Major, schema.Minor,
		},
		{
			"type widened", `{"properties":{"a":{"type":"integer"}}}`, `{"properties":{"a":{"type":"number"}}}`, "/a",
			schema.Minor, schema.Major,
		},
		{
			"type changed", `{"properties":{"a":{"type":"integer"}}}`, `{"properties":{"a":{"type":"string"}}}`, "/a",
			schema.Major, schema.Major,
		},
		{
			"type where there was none", `{"properties":{"a":{}}}`, `{"properties":{"a":{"type":"string"}}}`, "/a",
			schema.Major, schema.Minor,
		},
		{
			"enum narrowed", `{"properties":{"a":{"enum":["x","y"]}}}`, `{"properties":{"a":{"enum":["x"]}}}`, "/a",
			schema.Major, schema.Minor,
		},
		{
			"enum widened", `{"properties":{"a":{"enum":["x"]}}}`, `{"properties":{"a":{"enum":["x","y"]}}}`, "/a",
			schema.Minor, schema.Major,
		},
		{
			"enum introduced", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"string","enum":["x"]}}}`,
			"/a", schema.Major, schema.Minor,
		},
		{"closed", `{"type":"object"}`, `{"type":"object","additionalProperties":false}`, "", schema.Major, schema.Minor},
		{"opened", `{"type":"object","additionalProperties":false}`, `{"type":"object"}`, "", schema.Minor, schema.Major},
		{
			"maximum lowered", `{"properties":{"a":{"maximum":10}}}`, `{"properties":{"a":{"maximum":5}}}`, "/a", schema.Major,
			schema.Minor,
		},
		{
			"minimum lowered", `{"properties":{"a":{"minimum":10}}}`, `{"properties":{"a":{"minimum":5}}}`, "/a", schema.Minor,
			schema.Major,
		},
		{
			"exclusive maximum raised", `{"properties":{"a":{"exclusiveMaximum":1}}}`,
			`{"properties":{"a":{"exclusiveMaximum":2}}}`, "/a", schema.Minor, schema.Major,
		},
		{
			"length bounded", `{"properties":{"a":{}}}`, `{"properties":{"a":{"maxLength":5}}}`, "/a", schema.Major,
			schema.Minor,
		},
		{
			"pattern added", `{"properties":{"a":{}}}`, `{"properties":{"a":{"pattern":"x"}}}`, "/a", schema.Major,
			schema.Minor,
		},
		{
			"pattern changed", `{"properties":{"a":{"pattern":"x"}}}`, `{"properties":{"a":{"pattern":"y"}}}`, "/a",
			schema.Major, schema.Major,
		},
		{
			"default changed", `{"properties":{"a":{"default":1}}}`, `{"properties":{"a":{"default":2}}}`, "/a", schema.Minor,
			schema.Minor,
		},
		{
			"item narrowed", `{"items":{"type":["string","null"]}}`, `{"items":{"type":"string"}}`, "/*", schema.Major,
			schema.Minor,
		},
		{
			"map value narrowed", `{"additionalProperties":{"type":["string","null"]}}`,
			`{"additionalProperties":{"type":"string"}}`, "/*", schema.Major, schema.Minor,
		},
		{
			"through references", `{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"number"}}}`,
			`{"properties":{"a":{"$ref":"#/$defs/y"}},"$defs":{"y":{"type":"integer"}}}`, "/a", schema.Major, schema.Minor,
		},
		{
			"a reference for what it says", `{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"number"}}}`,
			`{"properties":{"a":{"type":"number"}}}`, "", schema.Patch, schema.Patch,
		},
		{
			"recursion", `{"properties":{"kids":{"items":{"$ref":"#"}}}}`,
			`{"properties":{"kids":{"items":{"$ref":"#"}},"n":{}}}`, "/n", schema.Minor, schema.Minor,
		},
		{
			"alternative gone", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"}]}`, "",
			schema.Major, schema.Minor,
		},
		{
			"alternative added", `{"oneOf":[{"const":1}]}`, `{"oneOf":[{"const":1},{"const":2}]}`, "", schema.Minor,
			schema.Major,
		},
		{"condition changed", `{"if":{"required":["a"]}}`, `{"if":{"required":["b"]}}`, "", schema.Major, schema.Major},
		{
			"words in a condition", `{"not":{"type":"null","description":"a"}}`, `{"not":{"type":"null","description":"b"}}`,
			"", schema.Patch, schema.Patch,
		},
		{
			"a property named description", `{"not":{"required":["description"]}}`, `{"not":{"required":["title"]}}`, "",
			schema.Major, schema.Major,
		},
		{"shut", `{"properties":{"a":true}}`, `{"properties":{"a":false}}`, "/a", schema.Major, schema.Major},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			for d, want := range map[schema.Direction]schema.Bump{schema.Input: tt.input, schema.Output: tt.output} {
				changes, err := schema.Compare(json.RawMessage(tt.before), json.RawMessage(tt.after), d)
				require.NoError(t, err)
				require.Equal(t, want, schema.MaxBump(changes), "%v", changes)
				if want > schema.Patch {
					require.Contains(t, paths(changes, want), tt.path)
				}
			}
		})
	}
}

func paths(changes []schema.Change, b schema.Bump) []string {
	var out []string
	for _, c := range changes {
		if c.Bump == b {
			out = append(out, c.Path)
		}
	}
	return out
}
