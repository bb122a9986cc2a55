package project

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// combiners are keywords that providers refuse at the top of a tool's schema.
var combiners = []string{"allOf", "anyOf", "oneOf"}

// droppedAtTop are the other keywords there that a provider ignores or refuses.
var (
	droppedAtTop = []string{"not", "enum", "const", "if", "then", "else", "dependentSchemas"}
	meaningless  = []string{"$schema", "$id", "$ref", "$comment"} // Nothing is lost by them.
)

// top returns a schema in the form that all providers accept: an object with properties. The
// properties of combined schemas at its top become its own; those that all branches require
// stay required. The other members are those of the schema.
func (p *projector) top(s map[string]any) map[string]any {
	out := maps.Clone(s)
	if out == nil {
		out = make(map[string]any) // "true": any object.
	}
	g := gatherer{root: s, properties: make(map[string]any), left: maxVisits}
	required := g.gather(s)
	for _, name := range slices.Concat(combiners, droppedAtTop) {
		if _, ok := out[name]; ok && name != "allOf" {
			p.lose("", name)
		}
		delete(out, name)
	}
	if g.lossy {
		p.lose("", "allOf")
	}
	for _, name := range meaningless {
		delete(out, name)
	}
	out["type"], out["properties"] = "object", g.properties
	delete(out, "required")
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// maxVisits bounds how many references and combinations at the top are followed: a schema may
// refer to itself.
const maxVisits = 64

// gatherer collects the properties of a schema's top.
type gatherer struct {
	root       map[string]any
	properties map[string]any
	left       int
	lossy      bool // A part that must hold too says more than properties.
}

// gather adds the properties of a schema and its branches, where the first of a name wins, and
// returns the names that all branches require.
func (g *gatherer) gather(s map[string]any) []string {
	if g.left--; g.left < 0 {
		g.lossy = true
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
		to := local(g.root, ref)
		g.note(to)
		required = union(required, g.gather(to))
	}
	for _, keyword := range combiners {
		branches, _ := s[keyword].([]any)
		var common []string
		for i, branch := range branches {
			b, _ := branch.(map[string]any) // Nil for true and false.
			needs := g.gather(b)
			if keyword == "allOf" {
				g.note(b)
			}
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

// note records whether a branch that must hold says more than what is gathered.
func (g *gatherer) note(s map[string]any) {
	for name := range s {
		switch name {
		case "properties", "required", "type", "$ref", "allOf", "title", "description", "$comment", "$defs", "definitions":
		default:
			g.lossy = true
		}
	}
}

// local finds the schema that a reference within root names; nil for none.
func local(root map[string]any, ref string) map[string]any {
	if ref == "#" {
		return root
	}
	pointer, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	var at any = root
	for token := range strings.SplitSeq(pointer, "/") {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[jsonpointer.Unescape(token)]
	}
	out, _ := at.(map[string]any)
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
