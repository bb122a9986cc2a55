package schema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// properties compares the declared properties of an object.
func (c *comparison) properties(a, b map[string]any, path string) {
	old, _ := a["properties"].(map[string]any)
	now, _ := b["properties"].(map[string]any)
	required := stringSet(b["required"])
	for _, name := range slices.Sorted(maps.Keys(old)) {
		at := path + "/" + jsonpointer.Escape(name)
		if sub, ok := now[name]; ok {
			c.schemas(old[name], sub, at)
		} else {
			c.add(at, Major, "the property was removed")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, ok := old[name]; !ok && (c.direction == Output || !slices.Contains(required, name)) {
			c.add(path+"/"+jsonpointer.Escape(name), Minor, "the property was added")
		}
	}
}

// required compares the required properties.
func (c *comparison) required(a, b map[string]any, path string) {
	old, now := stringSet(a["required"]), stringSet(b["required"])
	for _, name := range missingFrom(now, old) {
		c.narrowed(path+"/"+jsonpointer.Escape(name), "the property is required now")
	}
	declared, _ := b["properties"].(map[string]any)
	for _, name := range missingFrom(old, now) {
		if _, still := declared[name]; still { // Otherwise its removal is recorded already.
			c.widened(path+"/"+jsonpointer.Escape(name), "the property is no longer required")
		}
	}
}

// surplus compares the schemas of undeclared properties.
func (c *comparison) surplus(a, b map[string]any, path string) {
	for _, keyword := range []string{"additionalProperties", "unevaluatedProperties"} {
		old, now := a[keyword], b[keyword]
		if old == nil && now == nil {
			continue
		}
		if old == nil {
			old = true
		}
		if now == nil {
			now = true
		}
		switch {
		case old == false && now == false:
		case now == false:
			c.narrowed(path, "undeclared properties are refused now")
		case old == false:
			c.widened(path, "undeclared properties are accepted now")
		default:
			c.schemas(old, now, path+"/*")
		}
	}
}

// opaque compares keywords by their text where narrower and wider cannot be distinguished.
func (c *comparison) opaque(a, b map[string]any, path string) {
	for _, keyword := range []string{
		"pattern", "format", "multipleOf", "uniqueItems", "contentEncoding", "contentMediaType",
	} {
		switch old, now := a[keyword], b[keyword]; {
		case same(old, now):
		case now == nil || now == false:
			c.widened(path, "%s no longer applies", keyword)
		case old == nil || old == false:
			c.narrowed(path, "%s %s applies now", keyword, literal(now))
		default:
			c.add(path, Major, "%s changed", keyword)
		}
	}
	for _, keyword := range []string{
		"not", "if", "then", "else", "allOf", "prefixItems", "additionalItems", "contains", "minContains", "maxContains",
		"propertyNames", "patternProperties", "dependentSchemas", "dependentRequired", "dependencies",
		"unevaluatedItems", "contentSchema", "$dynamicRef", "$recursiveRef",
	} {
		if !same(withoutWords(a[keyword]), withoutWords(b[keyword])) {
			c.add(path, Major, "%s changed", keyword)
		}
	}
	if !same(a["default"], b["default"]) {
		c.add(path, Minor, "the default changed")
	}
}

// withoutWords removes titles, descriptions and the like from a keyword's argument.
func withoutWords(node any) any {
	switch n := node.(type) {
	case map[string]any:
		out := make(map[string]any, len(n))
		for name, sub := range n {
			_, isText := sub.(string)
			if isText && (name == "title" || name == "description" || name == "$comment") || name == "examples" {
				continue
			}
			out[name] = withoutWords(sub)
		}
		return out
	case []any:
		out := make([]any, len(n))
		for i, sub := range n {
			out[i] = withoutWords(sub)
		}
		return out
	default:
		return node
	}
}

func stringSet(v any) []string {
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, item := range list {
		out = append(out, fmt.Sprint(item))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
