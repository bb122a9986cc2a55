package field

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
)

// same reports whether two schemas are equivalent in other spellings: the order of types and required
// names, empty lists, an implied type of an enum, and subschemas that accept anything.
func same(a, b any) bool { return reflect.DeepEqual(plain(a), plain(b)) }

// plain returns the normal form of a schema for [same].
func plain(node any) any {
	switch n := node.(type) {
	case []any:
		out := make([]any, len(n))
		for i, item := range n {
			out[i] = plain(item)
		}
		return out
	case object:
		out := maps.Clone(n)
		if anything(out["additionalProperties"]) {
			delete(out, "additionalProperties")
		}
		if names, ok := textsOf(out["required"]); ok {
			if out["required"] = sorted(names); len(names) == 0 {
				delete(out, "required")
			}
		}
		if names, ok := textsOf(out["type"]); ok && len(names) > 0 {
			if out["type"] = sorted(names); len(names) == 1 {
				out["type"] = names[0]
			}
		}
		if values, ok := out["enum"].([]any); ok && out["type"] == nil {
			if kind := kindOfAll(values); kind != "" {
				out["type"] = kind
			}
		}
		if h, ok := out[Keyword].(object); ok {
			h = maps.Clone(h)
			delete(h, "order")
			if out[Keyword] = h; len(h) == 0 {
				delete(out, Keyword)
			}
		}
		for name, sub := range out {
			if name != "default" && name != "enum" && name != "const" && name != "examples" {
				out[name] = plain(sub)
			}
		}
		return out
	default:
		return node
	}
}

// sorted returns the distinct names in order.
func sorted(names []string) []any {
	names = slices.Compact(slices.SortedFunc(slices.Values(names), cmp.Compare[string]))
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}
