package field_test

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func split(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(pointer[1:], "/")
	for i, p := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	return parts
}

var names = []string{"a", "b", "type", "required", "enum", "x/y", "default", "order"}

// drawObjectSchema draws what people and other systems write.
func drawObjectSchema(t *rapid.T, depth int) map[string]any {
	out := map[string]any{"type": "object"}
	if rapid.Bool().Draw(t, "declares") {
		props := make(map[string]any)
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(t, "names") {
			props[name] = drawSchema(t, depth-1)
		}
		out["properties"] = props
	}
	if rapid.Bool().Draw(t, "requires") {
		out["required"] = rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 2, rapid.ID).Draw(t, "required")
	}
	switch rapid.IntRange(0, 5).Draw(t, "additional") {
	case 0:
		out["additionalProperties"] = false
	case 1:
		out["additionalProperties"] = true
	case 2:
		out["additionalProperties"] = drawSchema(t, 0)
	}
	for name, value := range map[string]any{
		"minProperties":    1,
		"anyOf":            []any{map[string]any{"required": []string{"a"}}, map[string]any{"required": []string{"b"}}},
		"x-toolcrib-field": map[string]any{"order": []string{"b", "a", "gone"}, "section": "S"},
		"$schema":          "http://json-schema.org/draft-07/schema#",
	} {
		if depth == 3 && rapid.IntRange(0, 4).Draw(t, name) == 0 ||
			name != "$schema" && rapid.IntRange(0, 15).Draw(t, name) == 0 {
			out[name] = value
		}
	}
	return out
}

func drawSchema(t *rapid.T, depth int) any {
	most := 13
	if depth > 0 {
		most = 16
	}
	var out map[string]any
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return rapid.Bool().Draw(t, "boolean schema")
	case 1:
		out = map[string]any{}
	case 2, 3:
		out = map[string]any{"type": "string", "minLength": 1, "pattern": "^[a-z]"}
	case 4:
		out = map[string]any{
			"type":   "string",
			"format": rapid.SampledFrom([]string{"date", "date-time", "uri", "email", "uuid"}).Draw(t, "format"),
		}
	case 5:
		out = map[string]any{
			"type": rapid.SampledFrom([]string{"number", "integer"}).Draw(t, "number"), "minimum": -1, "exclusiveMaximum": 3,
			"multipleOf": 0.5,
		}
	case 6:
		out = map[string]any{"type": "boolean"}
	case 7:
		out = map[string]any{"enum": []any{"a", "b"}}
	case 8:
		out = map[string]any{"type": []string{"string", "null"}, "enum": []any{"a", nil}}
	case 9:
		out = map[string]any{"type": []any{"null", "integer"}}
	case 10:
		out = map[string]any{"type": "array", "uniqueItems": true, "items": map[string]any{"enum": []any{"a", 1}}}
	case 11:
		out = map[string]any{"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "null"}}}
	case 12:
		out = map[string]any{"const": "a"}
	case 13:
		out = map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "maxItems": 2}
	case 14:
		out = map[string]any{"type": "array", "items": drawSchema(t, depth-1)}
	default:
		out = drawObjectSchema(t, depth)
	}
	for name, value := range map[string]any{
		"title": "T", "description": "", "default": "a", "examples": []any{"a"}, "deprecated": true, "format": "email",
		"minLength": 2,
		"x-toolcrib-field": rapid.SampledFrom([]any{
			map[string]any{"type": "phone"},
			map[string]any{"type": "media", "accept": []any{"a/b"}},
			map[string]any{"display": "textarea"},
			map[string]any{"type": "nothing"},
			map[string]any{"other": 1},
			map[string]any{},
			true,
			map[string]any{"labels": []any{"A"}},
		}).Draw(t, "hint"),
	} {
		if rapid.IntRange(0, 7).Draw(t, name) == 0 {
			out[name] = value
		}
	}
	return out
}

// drawValueOf draws an object that speaks of the schema's properties.
func drawValueOf(t *rapid.T, raw []byte) any {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(raw, &s))
	out := make(map[string]any)
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID).Draw(t, "members") {
		out[name] = drawValue(t, 3)
	}
	return out
}

func drawValue(t *rapid.T, depth int) any {
	most := 7
	if depth > 0 {
		most = 11
	}
	switch rapid.IntRange(0, most).Draw(t, "value") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2, 3:
		return rapid.SampledFrom([]float64{-2, -1, 0, 0.5, 1, 2.25, 3}).Draw(t, "number")
	case 4, 5, 6, 7:
		return rapid.SampledFrom([]string{
			"", "a", "b", "ab", "A", "2026-01-31", "2026-01-31T10:00:00Z", "https://example.com/a", "a@example.com",
		}).Draw(t, "text")
	case 8, 9:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	default:
		out := make(map[string]any)
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID).Draw(t, "members") {
			out[name] = drawValue(t, depth-1)
		}
		return out
	}
}
