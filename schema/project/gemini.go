package project

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// geminiKept are the keywords that are taken over as they are.
var geminiKept = []string{
	"description", "title", "minItems", "maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum",
	"minProperties", "maxProperties", "default",
}

// geminiFormats are the formats by type. Others become words.
var geminiFormats = map[string][]string{
	"string": {"date-time", "enum"}, "integer": {"int32", "int64"}, "number": {"float", "double"},
}

// geminiTop returns a projection for Google's models.
func (p *projector) geminiTop(top map[string]any) (map[string]any, error) {
	g := &gemini{projector: p}
	out := g.node(top, "", nil)
	if p.nodes < 0 {
		return nil, invalid("it is too large for the dialect, once references are written out")
	}
	delete(out, "nullable")
	return out, nil
}

type gemini struct{ *projector }

// node returns a subschema. refs are the references that lead to it.
func (g *gemini) node(v any, path string, refs []string) map[string]any {
	node, ok := v.(map[string]any)
	if g.nodes--; g.nodes < 0 {
		return anything()
	}
	if !ok || len(node) == 0 {
		if v == false {
			g.lose(path, "false")
		}
		return anything()
	}
	if ref, ok := node["$ref"].(string); ok {
		to := local(g.root, ref)
		if to == nil || slices.Contains(refs, ref) {
			g.lose(path, "$ref")
			return map[string]any{"type": "object", "description": "As the object that it is in."}
		}
		merged := maps.Clone(to)
		maps.Copy(merged, node)
		delete(merged, "$ref")
		if inner, nested := to["$ref"]; nested {
			merged["$ref"] = inner
		}
		return g.node(merged, path, append(slices.Clip(refs), ref))
	}
	if _, ok := node["allOf"]; ok {
		node = g.merge(node, path, refs)
	}
	out := make(map[string]any)
	for _, name := range sortedKeys(node) {
		g.keyword(out, node, name, path, refs)
	}
	g.types(out, node, path)
	return out
}

// anything is a value of any type but lists, which need a type of their own.
func anything() map[string]any {
	var branches []any
	for _, kind := range []string{"string", "number", "boolean", "object"} {
		branches = append(branches, map[string]any{"type": kind})
	}
	return map[string]any{"anyOf": branches}
}

// keyword writes one keyword of node.
func (g *gemini) keyword(out, node map[string]any, name, path string, refs []string) {
	value := node[name]
	switch name {
	case "type", "$defs", "definitions", "additionalProperties", "unevaluatedProperties", "required", "allOf", "nullable":
		if _, open := value.(map[string]any); open && name == "additionalProperties" {
			g.lose(path, name) // It gives a type to properties without names.
		}
	case "properties":
		properties, _ := value.(map[string]any)
		written := make(map[string]any, len(properties))
		for _, property := range sortedKeys(properties) {
			written[property] = g.node(properties[property], path+"/properties/"+jsonpointer.Escape(property), refs)
		}
		out[name] = written
		needed := slices.DeleteFunc(slices.Clone(required(node)), func(s string) bool { return written[s] == nil })
		if len(needed) > 0 {
			out["required"] = needed
		}
	case "items":
		out[name] = g.node(value, path+"/items", refs)
	case "anyOf", "oneOf":
		g.alternatives(out, value, path+"/"+name, refs)
	case "enum":
		list, _ := value.([]any)
		g.values(out, node, list)
	case "const":
		g.values(out, node, []any{value})
	case "format":
		text, _ := value.(string)
		if kinds := typesOf(node["type"]); len(kinds) == 0 || !slices.Contains(geminiFormats[kinds[0]], text) {
			describe(out, node, "Format: "+text+".")
			return
		}
		out[name] = value
	case "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems":
		describe(out, node, words[name]+string(encode(value))+".")
	default:
		switch {
		case slices.Contains(geminiKept, name):
			if _, written := out[name]; !written { // A description may have been extended.
				out[name] = value
			}
		case slices.Contains(annotations, name), strings.HasPrefix(name, "x-"):
		default:
			g.lose(path, name)
		}
	}
}

// words tell of bounds in descriptions.
var words = map[string]string{
	"exclusiveMinimum": "More than ", "exclusiveMaximum": "Less than ", "multipleOf": "A multiple of ",
	"uniqueItems": "Items differ: ",
}

// alternatives writes branches of which one holds. Null among them is a property of the whole.
func (g *gemini) alternatives(out map[string]any, value any, path string, refs []string) {
	list, _ := value.([]any)
	branches, _ := out["anyOf"].([]any)
	for _, branch := range list {
		if b, ok := branch.(map[string]any); ok && slices.Equal(typesOf(b["type"]), []string{"null"}) {
			out["nullable"] = true
			continue
		}
		branches = append(branches, g.node(branch, path, refs))
	}
	if len(branches) > 0 {
		out["anyOf"] = branches
	}
}

// values writes an enum. The dialect has texts only: other values are described.
func (g *gemini) values(out, node map[string]any, list []any) {
	var strs []any
	for _, v := range list {
		switch v.(type) {
		case nil:
			out["nullable"] = true
		case string:
			strs = append(strs, v)
		default:
			describe(out, node, "One of: "+strings.Trim(string(encode(list)), "[]")+".")
			return
		}
	}
	if len(strs) > 0 {
		out["enum"] = strs
	}
}

// types writes the types of node.
func (g *gemini) types(out, node map[string]any, path string) {
	kinds := slices.Clone(typesOf(node["type"]))
	if i := slices.Index(kinds, "null"); i >= 0 {
		out["nullable"] = true
		kinds = slices.Delete(kinds, i, i+1)
	}
	if len(kinds) == 0 && out["anyOf"] == nil {
		kinds = g.implied(out, node)
	}
	switch {
	case len(kinds) == 1:
		out["type"] = kinds[0]
		if kinds[0] == "array" && out["items"] == nil {
			out["items"] = anything()
		}
	case len(kinds) > 1 && out["anyOf"] == nil:
		var branches []any
		for _, kind := range kinds {
			branch := map[string]any{"type": kind}
			if kind == "array" {
				branch["items"] = anything()
			}
			branches = append(branches, branch)
		}
		if out["properties"] != nil || out["items"] != nil {
			g.lose(path, "type")
		}
		for _, name := range []string{"properties", "required", "items", "enum", "format"} {
			delete(out, name)
		}
		out["anyOf"] = branches
	case out["anyOf"] == nil:
		maps.Copy(out, anything())
	}
}

// implied returns the type of a subschema that does not give one.
func (g *gemini) implied(out, node map[string]any) []string {
	switch {
	case out["properties"] != nil || node["required"] != nil:
		return []string{"object"}
	case out["items"] != nil:
		return []string{"array"}
	case out["enum"] != nil:
		return []string{"string"}
	}
	list, _ := node["enum"].([]any)
	if value, ok := node["const"]; ok {
		list = []any{value}
	}
	var kinds []string
	for _, v := range list {
		kind := ""
		switch n := v.(type) {
		case bool:
			kind = "boolean"
		case string:
			kind = "string"
		case json.Number:
			if kind = "integer"; strings.ContainsAny(n.String(), ".eE") {
				kind = "number"
			}
		}
		if kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if slices.Contains(kinds, "number") {
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "integer" })
	}
	return kinds
}

// merge returns node with the subschemas of its allOf written into it. Where two say
// something else of one keyword, the first counts.
func (g *gemini) merge(node map[string]any, path string, refs []string) map[string]any {
	out := maps.Clone(node)
	parts, _ := node["allOf"].([]any)
	delete(out, "allOf")
	for _, part := range parts {
		p, _ := part.(map[string]any)
		for hops := 0; p["$ref"] != nil && hops < maxVisits; hops++ {
			ref, _ := p["$ref"].(string)
			if slices.Contains(refs, ref) {
				g.lose(path, "$ref")
				p = nil
				break
			}
			p = local(g.root, ref)
		}
		for _, name := range sortedKeys(p) {
			has, taken := out[name]
			switch {
			case !taken:
				out[name] = p[name]
			case name == "properties":
				both := make(map[string]any)
				more, _ := p[name].(map[string]any)
				own, _ := has.(map[string]any)
				maps.Copy(both, more)
				maps.Copy(both, own)
				out[name] = both
			case name == "required":
				out[name] = union(slices.Clone(required(out)), texts(p[name]))
			case string(encode(has)) != string(encode(p[name])) && !slices.Contains(annotations, name) && name != "description":
				g.lose(path, "allOf")
			}
		}
	}
	if out["allOf"] != nil { // Of a part.
		if g.nodes--; g.nodes < 0 {
			delete(out, "allOf")
			return out
		}
		return g.merge(out, path, refs)
	}
	return out
}
