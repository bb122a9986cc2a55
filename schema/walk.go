package schema

import (
	"strconv"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Keywords by the form of their subschemas.
var (
	schemaKeywords = []string{
		"not", "if", "then", "else", "items", "additionalItems", "additionalProperties", "propertyNames",
		"contains", "unevaluatedItems", "unevaluatedProperties", "contentSchema",
	}
	listKeywords = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	mapKeywords  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

// walk calls visit with each subschema of doc and its JSON Pointer, doc first, until visit returns
// false. Values that are not schemas, such as those of "enum" and "default", are skipped.
func walk(doc any, pointer string, visit func(node any, pointer string) bool) bool {
	if !visit(doc, pointer) {
		return false
	}
	m, ok := doc.(map[string]any)
	if !ok {
		return true
	}
	for _, keyword := range schemaKeywords {
		if isSchema(m[keyword]) && !walk(m[keyword], pointer+"/"+keyword, visit) {
			return false
		}
	}
	for _, keyword := range listKeywords {
		list, _ := m[keyword].([]any)
		for i, sub := range list {
			if isSchema(sub) && !walk(sub, pointer+"/"+keyword+"/"+strconv.Itoa(i), visit) {
				return false
			}
		}
	}
	for _, keyword := range mapKeywords {
		subs, _ := m[keyword].(map[string]any)
		for name, sub := range subs {
			if isSchema(sub) && !walk(sub, pointer+"/"+keyword+"/"+jsonpointer.Escape(name), visit) {
				return false
			}
		}
	}
	return true
}

func isSchema(v any) bool {
	switch v.(type) {
	case map[string]any, bool:
		return true
	default:
		return false
	}
}
