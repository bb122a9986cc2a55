package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

const defsPrefix = "#/$defs/"

// subschemas calls fn with each direct subschema of m, and replaces it by the
// result.
func subschemas(m map[string]any, fn func(any) any) {
	for _, keyword := range append([]string{"items"}, oneSchema...) {
		if v, ok := m[keyword]; ok {
			m[keyword] = fn(v)
		}
	}
	for _, keyword := range schemaLists {
		if list, ok := m[keyword].([]any); ok {
			for i := range list {
				list[i] = fn(list[i])
			}
		}
	}
	for _, keyword := range append([]string{"properties"}, schemaMaps...) {
		if members, ok := m[keyword].(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(members)) {
				members[name] = fn(members[name])
			}
		}
	}
}

// copied returns a shallow copy of a schema that can be changed: its subschemas
// are copies, its other values are shared.
func copied(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := maps.Clone(m)
	for _, keyword := range schemaLists {
		if list, ok := out[keyword].([]any); ok {
			out[keyword] = slices.Clone(list)
		}
	}
	for _, keyword := range append([]string{"properties"}, schemaMaps...) {
		if members, ok := out[keyword].(map[string]any); ok {
			out[keyword] = maps.Clone(members)
		}
	}
	subschemas(out, copied)
	return out
}

// assembly makes one self-contained schema.
type assembly struct {
	from      *converter
	defs      map[string]any  // Copies of the definitions that it reaches.
	uses      map[string]int  // References to each.
	recursive map[string]bool // Recursive definitions.
}

// assemble adds to root the definitions that it refers to, or inlines them if
// there is a single reference.
func (c *converter) assemble(root map[string]any, lost *losses) (map[string]any, error) {
	a := &assembly{from: c, defs: make(map[string]any), uses: make(map[string]int), recursive: make(map[string]bool)}
	root, _ = copied(root).(map[string]any)
	if err := a.reach(root, lost); err != nil {
		return nil, err
	}
	a.findCycles()
	subschemas(root, func(v any) any { return a.inline(v, 1) })
	if name, ok := a.target(root); ok && len(root) == 1 && !a.recursive[name] {
		root, _ = a.inline(root, 0).(map[string]any)
	}
	kept := make(map[string]any)
	a.keep(root, kept)
	if len(kept) > 0 {
		root["$defs"] = kept
	}
	return root, nil
}

// target returns the name of the definition that a schema refers to.
func (a *assembly) target(m map[string]any) (string, bool) {
	ref, _ := m["$ref"].(string)
	return strings.CutPrefix(ref, defsPrefix)
}

// reach copies the definitions that v refers to and counts references.
func (a *assembly) reach(v any, lost *losses) error {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if a.from.doc.work--; a.from.doc.work < 0 {
		return errWork
	}
	if name, ok := a.target(m); ok {
		a.uses[name]++
		if def := a.from.named[name]; def != nil && a.uses[name] == 1 {
			lost.merge(&def.lost)
			a.defs[name] = copied(def.schema)
			if err := a.reach(a.defs[name], lost); err != nil {
				return err
			}
		}
	}
	var failed error
	subschemas(m, func(sub any) any {
		if failed == nil {
			failed = a.reach(sub, lost)
		}
		return sub
	})
	return failed
}

// findCycles marks recursive definitions.
func (a *assembly) findCycles() {
	const open, done = 1, 2
	state := make(map[string]int)
	var path []string
	var visit func(v any)
	visit = func(v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		if name, ok := a.target(m); ok {
			switch state[name] {
			case open:
				for _, on := range path[slices.Index(path, name):] {
					a.recursive[on] = true
				}
			case done:
			default:
				state[name] = open
				path = append(path, name)
				visit(a.defs[name])
				path = path[:len(path)-1]
				state[name] = done
			}
		}
		subschemas(m, func(sub any) any { visit(sub); return sub })
	}
	for _, name := range slices.Sorted(maps.Keys(a.defs)) {
		visit(map[string]any{"$ref": defsPrefix + name})
	}
}

// annotations are keywords that do not restrict a reference beside them.
var annotations = []string{"$ref", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}

// inline replaces references to definitions that are used once, or are scalars,
// by the definition.
func (a *assembly) inline(v any, depth int) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if name, ok := a.target(m); ok && !a.recursive[name] && depth < inlineDepth {
		def, isMap := a.defs[name].(map[string]any)
		foreign := slices.ContainsFunc(slices.Collect(maps.Keys(m)), func(keyword string) bool {
			return !slices.Contains(annotations, keyword)
		})
		if isMap && !foreign && (a.uses[name] == 1 || isScalar(def)) {
			merged := maps.Clone(def)
			for keyword, value := range m {
				if keyword != "$ref" {
					merged[keyword] = value
				}
			}
			if a.uses[name] > 1 {
				merged, _ = copied(merged).(map[string]any)
			}
			return a.inline(merged, depth)
		}
	}
	subschemas(m, func(sub any) any { return a.inline(sub, depth+1) })
	return m
}

// isScalar reports whether a schema is small and has no subschemas.
func isScalar(def map[string]any) bool {
	if len(def) > 6 || def["$ref"] != nil {
		return false
	}
	within := false
	subschemas(def, func(sub any) any { within = true; return sub })
	enum, _ := def["enum"].([]any)
	return !within && len(enum) <= 12
}

// keep collects the definitions that are still referenced.
func (a *assembly) keep(v any, kept map[string]any) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	if name, ok := a.target(m); ok && kept[name] == nil {
		def := a.defs[name]
		kept[name] = def
		if sub, ok := def.(map[string]any); ok {
			subschemas(sub, func(sub any) any { return a.inline(sub, 2) })
			a.keep(sub, kept)
		}
	}
	subschemas(m, func(sub any) any { a.keep(sub, kept); return sub })
}

// finish encodes a schema, without the keywords that package schema does not
// support.
func (c *converter) finish(root map[string]any, lost *losses) (json.RawMessage, error) {
	for range maxRepairs {
		raw, err := json.Marshal(root)
		if err != nil {
			return nil, err
		}
		if len(raw) > schema.MaxSchemaBytes {
			return c.shorten(root, lost)
		}
		err = c.check(raw)
		if err == nil {
			return raw, nil
		}
		fault := tool.AsError(err)
		if !repair(root, fault.Path) {
			return nil, err
		}
		lost.add("", "%s: left out", fault.Msg)
	}
	return nil, refuse("", "its schemas have too many faults")
}

// check validates a schema, with a cache for those that several operations use.
func (c *converter) check(raw json.RawMessage) error {
	err, known := c.checked[string(raw)]
	if known {
		return err
	}
	if c.way == sent {
		err = schema.CheckInput(raw)
	} else {
		err = schema.Check(raw)
	}
	c.checked[string(raw)] = err
	return err
}

// shorten removes the examples of a schema that is too large, and then, if it is
// still too large, nested descriptions.
func (c *converter) shorten(root map[string]any, lost *losses) (json.RawMessage, error) {
	for _, step := range []struct{ what, keywords string }{
		{"examples", "examples"}, {"descriptions of parts", "description title deprecated"},
	} {
		strip(root, strings.Fields(step.keywords), 0)
		lost.add("", "the %s are left out: the schema would be larger than %d KiB", step.what, schema.MaxSchemaBytes>>10)
		raw, err := json.Marshal(root)
		if err != nil {
			return nil, err
		}
		if len(raw) <= schema.MaxSchemaBytes {
			return c.finish(root, lost)
		}
	}
	return nil, refuse("", "the schema is larger than %d KiB", schema.MaxSchemaBytes>>10)
}

// strip removes keywords, descriptions from the second level on.
func strip(v any, keywords []string, depth int) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	if depth > 1 || keywords[0] == "examples" {
		for _, keyword := range keywords {
			delete(m, keyword)
		}
	}
	subschemas(m, func(sub any) any { strip(sub, keywords, depth+1); return sub })
	if defs, ok := m["$defs"].(map[string]any); ok {
		for _, def := range defs {
			strip(def, keywords, depth+2)
		}
	}
}

// repair removes the pattern or enum at which validation failed.
func repair(root map[string]any, pointer string) bool {
	var parent map[string]any
	var last string
	var v any = root
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name := jsonpointer.Unescape(token)
		switch at := v.(type) {
		case map[string]any:
			parent, last, v = at, name, at[name]
		case []any:
			parent = nil
			for i := range at {
				if name == itoa(i) {
					v = at[i]
				}
			}
		default:
			return false
		}
	}
	if parent == nil || v == nil ||
		!slices.Contains([]string{"pattern", "patternProperties", "maxLength", "maxItems", "maxProperties"}, last) {
		return false
	}
	delete(parent, last)
	return true
}
