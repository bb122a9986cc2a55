package field

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Bare returns a schema without [Keyword], for models: it costs tokens, and some providers refuse
// unknown keywords. A schema without it, and malformed JSON, are returned unchanged.
func Bare(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(Keyword)) {
		return raw
	}
	doc, err := decode(raw)
	if err != nil {
		return raw
	}
	out, err := encode(bare(doc))
	if err != nil {
		return raw
	}
	return out
}

// Keywords by the form of their values.
var (
	named = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	plans = []string{
		"items", "prefixItems", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties",
		"propertyNames", "contains", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
	}
)

// bare returns a schema, or a list of some, without the keyword.
func bare(node any) any {
	switch n := node.(type) {
	case []any:
		out := make([]any, len(n))
		for i, sub := range n {
			out[i] = bare(sub)
		}
		return out
	case object:
		out := maps.Clone(n)
		delete(out, Keyword)
		for _, keyword := range plans {
			if sub, ok := out[keyword]; ok {
				out[keyword] = bare(sub)
			}
		}
		for _, keyword := range named {
			if subs, ok := out[keyword].(object); ok {
				out[keyword] = eachBare(subs)
			}
		}
		return out
	default:
		return node
	}
}

func eachBare(subs object) object {
	out := make(object, len(subs))
	for name, sub := range subs {
		out[name] = bare(sub)
	}
	return out
}
