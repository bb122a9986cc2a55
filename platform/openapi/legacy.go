package openapi

import (
	"fmt"
	"maps"
	"slices"
)

// legacyBounds writes the bounds of 3.0 as numbers.
func legacyBounds(in object, out map[string]any) {
	for _, end := range []struct{ bound, exclusive string }{
		{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"},
	} {
		exclusive, isFlag := out[end.exclusive].(bool)
		if !isFlag {
			continue
		}
		delete(out, end.exclusive)
		if exclusive && in[end.bound] != nil {
			out[end.exclusive] = in[end.bound]
			delete(out, end.bound)
		}
	}
}

// legacyNull writes the nullable of 3.0 as a type.
func legacyNull(in object, out map[string]any) {
	if !in.flag("nullable") {
		return
	}
	if enum, ok := out["enum"].([]any); ok && !slices.Contains(enum, nil) {
		out["enum"] = append(slices.Clone(enum), nil)
	}
	if name, ok := out["type"].(string); ok && name != "null" {
		out["type"] = []any{name, "null"}
	}
	null := map[string]any{"type": "null"}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if list, ok := out[keyword].([]any); ok {
			out[keyword] = append(slices.Clone(list), null)
			if out["allOf"] == nil {
				return
			}
		}
	}
	if out["allOf"] == nil {
		return
	}
	whole := maps.Clone(out)
	clear(out)
	for _, keyword := range []string{"title", "description", "default", "examples", "deprecated"} {
		if v, ok := whole[keyword]; ok {
			out[keyword] = v
			delete(whole, keyword)
		}
	}
	out["anyOf"] = []any{whole, null}
}

// typeNames lists the types that a converted schema admits; none for any.
func typeNames(m map[string]any) []string {
	switch t := m["type"].(type) {
	case string:
		return []string{t}
	case []any:
		names := make([]string, len(t))
		for i, name := range t {
			names[i] = fmt.Sprint(name)
		}
		return names
	default:
		return nil
	}
}
