package agentspec

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Members of bindings.
const (
	keyFrom    = "$from"
	keyDefault = "$default"
	keyLiteral = "$literal"
)

// reference binds to what a pointer leads to.
func reference(tokens ...string) map[string]any {
	return map[string]any{keyFrom: jsonpointer.New(tokens...).String()}
}

// orElse adds a default to a reference, unless it has one.
func orElse(b, fallback any) any {
	ref, ok := b.(map[string]any)
	if _, has := ref[keyDefault]; !ok || has || ref[keyFrom] == nil {
		return b
	}
	return map[string]any{keyFrom: ref[keyFrom], keyDefault: fallback}
}

// literal binds to a value itself.
func literal(v any) any {
	if special(v) {
		return map[string]any{keyLiteral: v}
	}
	return v
}

// special reports whether a value holds members that bindings look into.
func special(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			if strings.HasPrefix(key, "$") || special(below) {
				return true
			}
		}
	case []any:
		if slices.ContainsFunc(v, special) {
			return true
		}
	}
	return false
}

// leadsTo reports whether a binding refers to something below a root, such as "item".
func leadsTo(b any, root string) bool {
	switch b := b.(type) {
	case map[string]any:
		if from, ok := b[keyFrom].(string); ok {
			return from == "/"+root || strings.HasPrefix(from, "/"+root+"/")
		}
		if _, ok := b[keyLiteral]; ok {
			return false
		}
		for _, below := range b {
			if leadsTo(below, root) {
				return true
			}
		}
	case []any:
		for _, below := range b {
			if leadsTo(below, root) {
				return true
			}
		}
	}
	return false
}
