package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Loose is a part of an input schema that leaves out what MCP clients and strict providers
// need before a model can call the tool.
type Loose struct {
	Path string // JSON Pointer into the schema; empty for its top.
	Msg  string // The fault and the remedy.
	// Hidden means that clients see no properties at all because of it, rather than
	// one property of unknown type.
	Hidden bool
}

// Messages of [Loose].
const (
	unionMsg = " at the top of the input schema: clients see no properties. Flatten it into one object: " +
		"an action with an enum, and the fields of every action, optional"
	refMsg = "$ref at the top of the input schema: clients see no properties. Write what it refers to in " +
		"its place"
	inputLessMsg = `no properties: declare them, or declare that there are none by "properties": {} and "additionalProperties": false`
	anyValueMsg  = "any value: give it a type"
	anyMapMsg    = `an object of anything: name its properties, give "additionalProperties" a type, or say false`
	anyItemMsg   = `an array of anything: give "items" a type`
)

// LoosePlaces returns the loose parts of an input schema, in the order of their pointers: a
// union or a reference at the top, which hides the properties from clients; no properties,
// unless declared; and values that may be anything. A schema that is not an object has none.
// An empty raw accepts any object, and is loose at its top.
func LoosePlaces(raw json.RawMessage) []Loose {
	if len(raw) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	doc, err := decodeSchema(raw)
	root, ok := doc.(map[string]any)
	if err != nil || !ok {
		return nil
	}
	var l looseness
	hidden := false
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if root[keyword] != nil {
			l.add("/"+keyword, keyword+unionMsg, true)
			hidden = true
		}
	}
	if root["$ref"] != nil {
		l.add("/$ref", refMsg, true)
		hidden = true
	}
	if !hidden && inputLess(root) && root["additionalProperties"] != false {
		l.add("", inputLessMsg, true)
	}
	l.within(root, "")
	slices.SortStableFunc(l.places, func(a, b Loose) int { return slices.Compare(tokens(a.Path), tokens(b.Path)) })
	return l.places
}

// inputLess reports whether an object's schema declares no members.
func inputLess(m map[string]any) bool {
	props, _ := m["properties"].(map[string]any)
	patterns, _ := m["patternProperties"].(map[string]any)
	return len(props) == 0 && len(patterns) == 0 && !typed(m["additionalProperties"])
}

// typed reports whether a subschema declares a type.
func typed(node any) bool {
	m, ok := node.(map[string]any)
	if !ok {
		return false
	}
	for _, keyword := range []string{
		"type", "enum", "const", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "properties", "items",
		"prefixItems",
	} {
		if _, said := m[keyword]; said {
			return true
		}
	}
	return false
}

// looseness collects places.
type looseness struct{ places []Loose }

func (l *looseness) add(path, msg string, hidden bool) {
	l.places = append(l.places, Loose{Path: path, Msg: msg, Hidden: hidden})
}

// within checks the values in a subschema.
func (l *looseness) within(m map[string]any, path string) {
	for _, keyword := range []string{"properties", "patternProperties", "$defs", "definitions"} {
		subs, _ := m[keyword].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(subs)) {
			l.value(subs[name], path+"/"+keyword+"/"+jsonpointer.Escape(name))
		}
	}
	if extra, ok := m["additionalProperties"].(map[string]any); ok && typed(extra) {
		l.value(extra, path+"/additionalProperties")
	}
	if items, ok := m["items"].(map[string]any); ok {
		l.value(items, path+"/items")
	}
	for _, keyword := range []string{"items", "prefixItems"} {
		list, _ := m[keyword].([]any)
		for i, item := range list {
			l.value(item, path+"/"+keyword+"/"+strconv.Itoa(i))
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := m[keyword].([]any)
		for i, branch := range list {
			if b, ok := branch.(map[string]any); ok { // A branch may be partial.
				l.within(b, path+"/"+keyword+"/"+strconv.Itoa(i))
			}
		}
	}
}

// value checks the subschema of a value.
func (l *looseness) value(node any, path string) {
	if node == false {
		return
	}
	if !typed(node) {
		l.add(path, anyValueMsg, false)
		return
	}
	m, _ := node.(map[string]any)
	switch kinds := typeSet(m["type"]); {
	case combined(m):
	case m["type"] != nil && slices.Contains(kinds, "object") && inputLess(m) && m["additionalProperties"] != false:
		l.add(path, anyMapMsg, false)
	case m["type"] != nil && slices.Contains(kinds, "array") && m["prefixItems"] == nil && anyItems(m["items"]):
		l.add(path, anyItemMsg, false)
		return
	}
	l.within(m, path)
}

// combined reports whether a subschema declares its value by other subschemas.
func combined(m map[string]any) bool {
	for _, keyword := range []string{"enum", "const", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf"} {
		if m[keyword] != nil {
			return true
		}
	}
	return false
}

// anyItems reports whether "items" accepts anything.
func anyItems(items any) bool {
	if _, list := items.([]any); list || items == false {
		return false
	}
	return !typed(items)
}
