package project

import (
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of strict functions.
const (
	maxStrictProperties = 5000
	maxStrictDepth      = 10
	maxStrictEnum       = 1000
)

// Keywords of strict functions, beside "properties", "required" and "additionalProperties".
var (
	strictKept = []string{
		"type", "description", "title", "enum", "const", "pattern", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "multipleOf", "minItems", "maxItems", "$ref",
	}
	strictFormats = []string{
		"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
	}
	// annotations tell people or programs something; a model loses nothing that is checked.
	annotations = []string{
		"$schema", "$id", "$comment", "title", "examples", "deprecated", "readOnly", "writeOnly", "contentMediaType",
		"contentEncoding",
	}
)

// strictTop returns a projection for strict functions. It fails where anything would be lost.
func (p *projector) strictTop(top map[string]any) (map[string]any, error) {
	if len(p.losses) > 0 {
		return nil, inexpressible(p.losses[0].Path, p.losses[0].Keyword)
	}
	s := &strict{root: p.root, nodes: p.nodes}
	out, err := s.node(top, "", 0)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"$defs", "definitions"} {
		defs, ok := p.root[name].(map[string]any)
		if !ok {
			continue
		}
		written := make(map[string]any, len(defs))
		for _, def := range sortedKeys(defs) {
			if written[def], err = s.node(defs[def], "/"+name+"/"+jsonpointer.Escape(def), 1); err != nil {
				return nil, err
			}
		}
		out[name] = written
	}
	return out, nil
}

type strict struct {
	root       map[string]any
	nodes      int
	properties int
	enum       int
}

// node returns a subschema.
func (s *strict) node(v any, path string, depth int) (map[string]any, error) {
	node, ok := v.(map[string]any)
	s.nodes--
	switch {
	case !ok || len(node) == 0:
		return nil, inexpressible(path, "any value")
	case depth > maxStrictDepth || s.nodes < 0:
		return nil, inexpressible(path, "so many levels")
	}
	out := make(map[string]any, len(node)+2)
	for _, name := range sortedKeys(node) {
		value := node[name]
		var err error
		switch {
		case slices.Contains(strictKept, name):
			if _, described := out[name]; !described {
				out[name] = value
			}
		case slices.Contains(annotations, name), name == "$defs", name == "definitions":
		case name == "properties", name == "required", name == "additionalProperties":
		case name == "default":
			describe(out, node, "Default: "+string(encode(value))+".")
		case name == "format" && isOneOf(value, strictFormats):
			out[name] = value
		case name == "items":
			out[name], err = s.node(value, path+"/items", depth+1)
		case name == "anyOf":
			out[name], err = s.each(value, path+"/anyOf", depth+1)
		default:
			return nil, inexpressible(path, name)
		}
		if err != nil {
			return nil, err
		}
	}
	if list, ok := node["enum"].([]any); ok {
		if s.enum += len(list); s.enum > maxStrictEnum {
			return nil, inexpressible(path, "so many values of enum")
		}
	}
	kinds := typesOf(node["type"])
	_, declares := node["properties"]
	if slices.Contains(kinds, "array") && out["items"] == nil {
		return nil, inexpressible(path, "an array of anything")
	}
	if slices.Contains(kinds, "object") || declares {
		return s.object(out, node, path, depth)
	}
	if len(kinds) == 0 && out["$ref"] == nil && out["anyOf"] == nil && out["enum"] == nil && out["const"] == nil {
		return nil, inexpressible(path, "any value")
	}
	return out, nil
}

// each returns the subschemas of a list.
func (s *strict) each(v any, path string, depth int) ([]any, error) {
	list, _ := v.([]any)
	out := make([]any, len(list))
	for i, item := range list {
		var err error
		if out[i], err = s.node(item, path, depth); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// object closes an object and requires its properties. What is optional may be null, which
// is read as absent.
func (s *strict) object(out, node map[string]any, path string, depth int) (map[string]any, error) {
	properties, _ := node["properties"].(map[string]any)
	if open, said := node["additionalProperties"]; said && open != false || len(properties) == 0 && !said && depth > 0 {
		return nil, inexpressible(path, "an object of anything")
	}
	if s.properties += len(properties); s.properties > maxStrictProperties {
		return nil, inexpressible(path, "so many properties")
	}
	required := required(node)
	names := sortedKeys(properties)
	written := make(map[string]any, len(names))
	for _, name := range names {
		at := path + "/properties/" + jsonpointer.Escape(name)
		property, err := s.node(properties[name], at, depth+1)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(required, name) {
			if property, err = s.optional(property, at); err != nil {
				return nil, err
			}
		}
		written[name] = property
	}
	for _, name := range required {
		if written[name] == nil {
			return nil, inexpressible(path, "a required property that is not declared")
		}
	}
	out["properties"], out["additionalProperties"] = written, false
	out["required"] = names
	if names == nil {
		out["required"] = []string{}
	}
	if out["type"] == nil {
		out["type"] = "object"
	}
	return out, nil
}

// optional returns a property that may be null too. One that may be null anyway is refused:
// null would not mean that it is absent.
func (s *strict) optional(property map[string]any, path string) (map[string]any, error) {
	if nullable(s.root, property, 0) {
		return nil, inexpressible(path, "an optional property that may be null")
	}
	kinds := typesOf(property["type"])
	if _, fixed := property["const"]; fixed || len(kinds) == 0 || property["anyOf"] != nil || property["$ref"] != nil {
		out := map[string]any{"anyOf": []any{property, map[string]any{"type": "null"}}}
		if text, ok := property["description"]; ok {
			out["description"] = text
			delete(property, "description")
		}
		return out, nil
	}
	out := maps.Clone(property)
	out["type"] = append(slices.Clone(kinds), "null")
	if list, ok := property["enum"].([]any); ok {
		out["enum"] = append(slices.Clone(list), nil)
	}
	return out, nil
}

// nullable reports whether a subschema may accept null.
func nullable(root, node map[string]any, depth int) bool {
	if depth > maxStrictDepth || node == nil {
		return true
	}
	if ref, ok := node["$ref"].(string); ok && nullable(root, local(root, ref), depth+1) {
		return true
	}
	if list, ok := node["anyOf"].([]any); ok {
		return slices.ContainsFunc(list, func(v any) bool {
			sub, _ := v.(map[string]any)
			return nullable(root, sub, depth+1)
		})
	}
	if list, ok := node["enum"].([]any); ok {
		return slices.Contains(list, nil)
	}
	if value, ok := node["const"]; ok {
		return value == nil
	}
	return slices.Contains(typesOf(node["type"]), "null")
}

func required(node map[string]any) []string {
	if list, ok := node["required"].([]string); ok { // Of the top, which is written already.
		return list
	}
	return texts(node["required"])
}

func isOneOf(v any, list []string) bool {
	text, ok := v.(string)
	return ok && slices.Contains(list, text)
}

// describe adds a sentence to the description of out, which begins with that of node.
func describe(out, node map[string]any, sentence string) {
	text, ok := out["description"].(string)
	if !ok {
		text, _ = node["description"].(string)
	}
	if text != "" {
		text += " "
	}
	out["description"] = text + tool.Clip(sentence, 500)
}
