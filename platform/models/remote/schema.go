package remote

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// combiners are keywords that providers refuse at the top of a tool's schema.
var combiners = []string{"allOf", "anyOf", "oneOf"}

// droppedAtTop are the other keywords there that a provider ignores or refuses.
// Arguments are checked against the whole schema in any case, when the model has
// answered.
var droppedAtTop = []string{
	"$schema", "$id", "$ref", "$comment", "not", "enum", "const", "if", "then", "else", "dependentSchemas",
}

// ProjectSchema returns a tool's input schema in the form that providers
// accept: an object with properties at its top. The properties of combined
// schemas at the top become its own; those that all branches require stay
// required. The other members of the result are those of the schema, each as
// JSON: an SDK's encoder would turn numbers that do not fit a float into
// strings.
func ProjectSchema(raw json.RawMessage) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(field.Bare(raw)))
	dec.UseNumber()
	var root any
	if dec.Decode(&root) != nil {
		root = nil
	}
	top, ok := root.(map[string]any)
	if !ok {
		top = make(map[string]any) // "true", say: any object.
	}
	out := maps.Clone(top)
	g := gatherer{root: top, properties: make(map[string]any), left: maxVisits}
	required := g.gather(top)
	for _, name := range slices.Concat(combiners, droppedAtTop) {
		delete(out, name)
	}
	out["type"], out["properties"] = "object", g.properties
	delete(out, "required")
	if len(required) > 0 {
		out["required"] = required
	}
	for name, value := range out {
		encoded, _ := json.Marshal(value) // It was decoded from JSON.
		out[name] = json.RawMessage(encoded)
	}
	return out
}

// maxVisits bounds how many references and combinations at the top are
// followed: a schema may refer to itself.
const maxVisits = 64

// gatherer collects the properties of a schema's top.
type gatherer struct {
	root       map[string]any
	properties map[string]any
	left       int
}

// gather adds the properties of a schema and its branches, where the first of a
// name wins, and returns the names that all branches require.
func (g *gatherer) gather(s map[string]any) []string {
	if g.left--; g.left < 0 {
		return nil
	}
	if own, ok := s["properties"].(map[string]any); ok {
		for name, property := range own {
			if _, taken := g.properties[name]; !taken {
				g.properties[name] = property
			}
		}
	}
	required := texts(s["required"])
	if ref, ok := s["$ref"].(string); ok {
		required = union(required, g.gather(local(g.root, ref)))
	}
	for _, keyword := range combiners {
		branches, _ := s[keyword].([]any)
		var common []string
		for i, branch := range branches {
			b, _ := branch.(map[string]any) // Nil for true and false.
			needs := g.gather(b)
			if keyword == "allOf" || i == 0 {
				common = union(common, needs)
				continue
			}
			common = slices.DeleteFunc(common, func(name string) bool { return !slices.Contains(needs, name) })
		}
		required = union(required, common)
	}
	return required
}

// local finds the schema that a reference within root names; nil for none.
func local(root map[string]any, ref string) map[string]any {
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := root
	for token := range strings.SplitSeq(pointer, "/") {
		next, ok := at[jsonpointer.Unescape(token)].(map[string]any)
		if !ok {
			return nil
		}
		at = next
	}
	return at
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}
