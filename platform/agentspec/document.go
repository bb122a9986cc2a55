package agentspec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/platform/yamlvalue"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Members of components.
const (
	keyRef        = "$component_ref"
	keyReferenced = "$referenced_components"
	keyType       = "component_type"
	keyMetadata   = "metadata"
	keyOwn        = "toolcrib" // Of the metadata: what [Export] wrote there.
)

// scope is where references are resolved: the referenced components of a component, and those around it.
type scope struct {
	known map[string]any
	path  string
	up    *scope
}

// component is a component of a document, with where it is.
type component struct {
	fields map[string]any
	path   string
	scope  *scope
}

// decode reads a document, JSON or YAML.
func decode(raw []byte) (map[string]any, error) {
	if len(raw) > MaxDocument {
		return nil, fmt.Errorf("%d bytes: at most %d are read", len(raw), MaxDocument)
	}
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	text := bytes.TrimSpace(raw)
	if len(text) == 0 {
		return nil, errors.New("it is empty")
	}
	var value any
	var err error
	if text[0] == '{' {
		if value, err = decodeJSON(raw); err != nil {
			if flow, yamlErr := yamlvalue.Read(raw, yamlLimits); yamlErr == nil { // YAML in its flow style.
				value, err = flow, nil
			}
		}
	} else {
		value, err = yamlvalue.Read(raw, yamlLimits)
	}
	if err != nil {
		return nil, err
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("want an object: a component with component_type Flow or Agent")
	}
	return root, nil
}

var yamlLimits = yamlvalue.Limits{Nodes: maxValues, Depth: maxDepth}

func decodeJSON(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value in it")
	}
	values := 0
	return v, measure(v, 0, &values)
}

// measure holds JSON to the limits that YAML is read within.
func measure(v any, depth int, values *int) error {
	*values++
	switch {
	case *values > maxValues:
		return fmt.Errorf("more than %d values", maxValues)
	case depth > maxDepth:
		return fmt.Errorf("nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			if err := measure(below, depth+1, values); err != nil {
				return err
			}
		}
	case []any:
		for _, below := range v {
			if err := measure(below, depth+1, values); err != nil {
				return err
			}
		}
	}
	return nil
}

// component returns the component that a value is or refers to; nil with a fault where there is none.
func (f *findings) component(v any, path string, sc *scope) *component {
	for range maxRefs {
		fields, ok := v.(map[string]any)
		if !ok {
			f.fault(path, "want a component, or a reference to one as {%q: id}", keyRef)
			return nil
		}
		ref, is := fields[keyRef]
		if !is {
			c := &component{fields, path, sc}
			if known, ok := fields[keyReferenced].(map[string]any); ok {
				c.scope = &scope{known, path + "/" + keyReferenced, sc}
			}
			return c
		}
		id, ok := ref.(string)
		found := sc
		for ok && found != nil && found.known[id] == nil {
			found = found.up
		}
		if !ok || found == nil {
			f.fault(path+"/"+keyRef, "no component %.80q is among the %s", fmt.Sprint(ref), keyReferenced)
			return nil
		}
		v, path, sc = found.known[id], found.path+"/"+jsonpointer.Escape(id), found
	}
	f.fault(path, "references lead to references, more than %d of them", maxRefs)
	return nil
}

// below returns the component of a member; nil with a fault where there is none.
func (f *findings) below(c *component, name string) *component {
	v, ok := c.fields[name]
	if !ok || v == nil {
		f.fault(c.path+"/"+name, "%s %.80q has no %s", c.kind(), c.text("name"), name)
		return nil
	}
	return f.component(v, c.path+"/"+name, c.scope)
}

// list returns the components of a list.
func (f *findings) list(c *component, name string) []*component {
	v, ok := c.fields[name]
	if !ok || v == nil {
		return nil
	}
	items, ok := v.([]any)
	if !ok {
		f.fault(c.path+"/"+name, "want a list of components")
		return nil
	}
	var out []*component
	for i, item := range items {
		if found := f.component(item, fmt.Sprintf("%s/%s/%d", c.path, name, i), c.scope); found != nil {
			out = append(out, found)
		}
	}
	return out
}

func (c *component) kind() string { return c.text(keyType) }

// text returns a member that is a text; empty where it is missing or none.
func (c *component) text(name string) string {
	s, _ := c.fields[name].(string)
	return s
}

func (c *component) object(name string) map[string]any {
	o, _ := c.fields[name].(map[string]any)
	return o
}

// own returns what [Export] wrote into the metadata.
func (c *component) own() map[string]any {
	o, _ := c.object(keyMetadata)[keyOwn].(map[string]any)
	return o
}

// property is an input or output of a component.
type property struct {
	name     string
	schema   map[string]any // With its title, without its default.
	fallback any
	has      bool // Whether it has a default.
}

// properties reads inputs or outputs; given is false where there are none.
func (f *findings) properties(c *component, name string) (out []property, given bool) {
	v, ok := c.fields[name]
	if !ok || v == nil {
		return nil, false
	}
	items, ok := v.([]any)
	if !ok {
		f.fault(c.path+"/"+name, "want a list of properties: JSON Schemas with titles")
		return nil, true
	}
	for i, item := range items {
		at := fmt.Sprintf("%s/%s/%d", c.path, name, i)
		raw, ok := item.(map[string]any)
		title, named := raw["title"].(string)
		switch {
		case !ok:
			f.fault(at, "want a property: a JSON Schema with a title")
			continue
		case !named || title == "":
			f.fault(at+"/title", "a property needs a title: it is its name")
			continue
		case slices.ContainsFunc(out, func(p property) bool { return p.name == title }):
			f.fault(at+"/title", "another of the %s has the title %.80q", name, title)
			continue
		}
		p := property{name: title, schema: map[string]any{}}
		for key, value := range raw {
			switch key {
			case "title":
			case "default":
				p.fallback, p.has = value, true
			default:
				p.schema[key] = value
			}
		}
		out = append(out, p)
	}
	return out, true
}

// objectSchema returns the JSON Schema of an object with the properties; nil for none of them.
func objectSchema(all []property, closed bool) map[string]any {
	members, required := map[string]any{}, []any{}
	for _, p := range all {
		member := map[string]any{}
		maps.Copy(member, p.schema)
		if p.has {
			member["default"] = p.fallback
		} else {
			required = append(required, p.name)
		}
		members[p.name] = member
	}
	out := map[string]any{"type": "object", "properties": members}
	if len(required) > 0 {
		out["required"] = required
	}
	if closed {
		out["additionalProperties"] = false
	}
	return out
}

func find(all []property, name string) (property, bool) {
	for _, p := range all {
		if p.name == name {
			return p, true
		}
	}
	return property{}, false
}
