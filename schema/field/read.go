package field

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Read returns the form of a schema. Parts that fields cannot express are kept unchanged and listed in
// the form's Kept, so that [Form.Write] returns a schema that accepts the same values. Fields are in
// the order given by [Keyword], then in alphabetical order. An empty raw accepts any object. Read fails
// with tool.Invalid like [schema.Check].
func Read(raw json.RawMessage) (Form, error) {
	if err := schema.Check(raw); err != nil {
		return Form{}, err
	}
	if len(strings.TrimSpace(string(raw))) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	doc, err := decode(raw)
	if err != nil {
		return Form{}, err
	}
	m, ok := doc.(object)
	if !ok || m["type"] != "object" {
		return Form{Fields: []Field{}, Schema: raw, Kept: []Kept{{"", "not the schema of an object"}}}, nil
	}
	r := &reader{}
	g, rest := r.group(m, "")
	form := Form{Fields: g.Fields, Open: g.Open, Keywords: make(map[string]json.RawMessage)}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		if form.Keywords[name], err = encode(rest[name]); err != nil {
			return Form{}, err
		}
		if !silent[name] && !strings.HasPrefix(name, "x-") {
			r.kept = append(r.kept, Kept{"/" + jsonpointer.Escape(name), "not expressible as a field"})
		}
	}
	slices.SortStableFunc(r.kept, func(a, b Kept) int { return strings.Compare(a.Pointer, b.Pointer) })
	form.Kept = r.kept
	return form, nil
}

// silent are keywords at the top that do not affect which values are accepted.
var silent = map[string]bool{
	"$schema": true, "$id": true, "$comment": true, "$defs": true, "definitions": true, "title": true, "description": true,
	"examples": true, "default": true, "deprecated": true, "readOnly": true, "writeOnly": true,
}

// annotations are keywords of a field that do not affect which values are
// accepted.
var annotations = []string{"examples", "deprecated", "readOnly", "writeOnly", "$comment", entityKeyword, selectKeyword}

// reader reads fields, and lists the kept parts.
type reader struct{ kept []Kept }

// group reads an object's fields. It returns the other keywords.
func (r *reader) group(m object, path string) (g Field, rest object) {
	rest = maps.Clone(m)
	delete(rest, "type")
	g.Fields, g.Open = []Field{}, m["additionalProperties"] != false
	if extra := m["additionalProperties"]; extra == false || anything(extra) {
		delete(rest, "additionalProperties")
	}
	props, ok := m["properties"].(object)
	if ok {
		delete(rest, "properties")
	}
	required, plain := textsOf(m["required"])
	missing := slices.ContainsFunc(required, func(name string) bool { _, there := props[name]; return !there })
	if plain && !missing {
		delete(rest, "required")
	}
	for _, name := range r.order(m, rest, props) {
		f := r.field(props[name], path+"/properties/"+jsonpointer.Escape(name))
		f.Key, f.Required = name, plain && !missing && slices.Contains(required, name)
		g.Fields = append(g.Fields, f)
	}
	takeRules(g.Fields, rest)
	return g, rest
}

// order returns the names of properties in the order of the hint, and removes the order from rest.
func (r *reader) order(m, rest, props object) []string {
	names := slices.Sorted(maps.Keys(props))
	h, ok := m[Keyword].(object)
	wanted, plain := textsOf(h["order"])
	if !ok || !plain {
		return names
	}
	if h = maps.Clone(h); len(h) > 0 {
		delete(h, "order")
	}
	if rest[Keyword] = h; len(h) == 0 {
		delete(rest, Keyword)
	}
	var out []string
	for _, name := range wanted {
		if _, there := props[name]; there && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// field reads the schema of one value: as the field that it looks like, if writing that gives the same
// schema, else as JSON.
func (r *reader) field(node any, path string) Field {
	m, ok := node.(object)
	if !ok {
		r.keep(path, node)
		return Field{Type: Object, Display: JSON, Schema: rawOf(node)}
	}
	before := len(r.kept)
	f := r.guess(m, path)
	if again, err := f.write(); err == nil && same(again, m) {
		return f
	}
	r.kept = r.kept[:before] // Nested kept parts are part of this one.
	r.keep(path, m)
	f = Field{Type: Object, Display: JSON}
	rest := f.common(m)
	f.Schema = rawOf(rest)
	if again, err := f.write(); err == nil && same(again, m) {
		return f
	}
	return Field{Type: Object, Display: JSON, Schema: rawOf(m)}
}

// keep records a part that cannot be expressed.
func (r *reader) keep(path string, node any) {
	reason := "anything, or nothing"
	if m, ok := node.(object); ok {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !silent[name] && name != Keyword {
				names = append(names, name)
			}
		}
		switch {
		case len(names) == 0:
			reason = "a value without a type"
		case len(names) > 6:
			reason = "no field can express: " + strings.Join(names[:6], ", ") + " and more"
		default:
			reason = "no field can express: " + strings.Join(names, ", ")
		}
	}
	r.kept = append(r.kept, Kept{path, reason})
}

// common reads the keywords of every field, and returns the rest.
func (f *Field) common(m object) object {
	rest := maps.Clone(m)
	for name, to := range map[string]*string{"title": &f.Label, "description": &f.Description} {
		if text, ok := m[name].(string); ok && text != "" {
			*to = text
			delete(rest, name)
		}
	}
	if v, ok := m["default"]; ok {
		f.Default = rawOf(v)
		delete(rest, "default")
	}
	for _, name := range annotations {
		if v, ok := m[name]; ok {
			if f.Annotations == nil {
				f.Annotations = make(map[string]json.RawMessage)
			}
			f.Annotations[name] = rawOf(v)
			delete(rest, name)
		}
	}
	h, ok := hintOf(m)
	if !ok {
		return rest
	}
	delete(rest, Keyword)
	f.Placeholder, f.Help, f.Unit = h.Placeholder, h.Help, h.Unit
	f.Accept, f.MaxBytes, f.Entity = h.Accept, h.MaxBytes, h.Entity
	f.Section, f.Advanced, f.Hidden = h.Section, h.Advanced, h.Hidden
	return rest
}

// guess reads m as the field that it looks like. The caller verifies it by writing it back.
func (r *reader) guess(m object, path string) Field {
	h, _ := hintOf(m)
	var f Field
	f.common(m)
	f.Type, f.Display = shape(m, h.Type)
	if h.Display != "" {
		f.Display = h.Display
	}
	if f.Type == Relation && f.Entity == "" {
		f.Entity = entity(m)
	}
	m = maps.Clone(m)
	if t, null := nullable(m["type"]); null {
		f.Nullable, m["type"] = true, t
	}
	if values, ok := m["enum"].([]any); ok && len(values) > 0 && values[len(values)-1] == nil {
		f.Nullable, m["enum"] = true, values[:len(values)-1]
	}
	one := m
	if m["type"] == "array" && f.Type != Array {
		f.Multiple = true
		one, _ = m["items"].(object)
	}
	if m["type"] == "array" {
		f.MinItems, f.MaxItems = count(m["minItems"]), count(m["maxItems"])
		f.Unique = m["uniqueItems"] == true
	}
	f.read(r, one, path)
	for i := range f.Options {
		if i < len(h.Labels) {
			f.Options[i].Label = h.Labels[i]
		}
	}
	return f
}

// read reads the keywords of f's type.
func (f *Field) read(r *reader, m object, path string) {
	switch f.Type {
	case Number:
		f.Integer = m["type"] == "integer"
		f.Min, _ = m["minimum"].(json.Number)
		f.Max, _ = m["maximum"].(json.Number)
		f.Above, _ = m["exclusiveMinimum"].(json.Number)
		f.Below, _ = m["exclusiveMaximum"].(json.Number)
		f.Step, _ = m["multipleOf"].(json.Number)
	case Boolean, Upload:
	case Enum:
		values, _ := m["enum"].([]any)
		for _, v := range values {
			f.Options = append(f.Options, Option{Value: rawOf(v)})
		}
	case Object:
		f.members(r, m, path)
	case Array:
		if items, ok := m["items"]; ok {
			item := r.field(items, path+"/items")
			f.Items = &item
		}
	case Text, Date, URL, Email, Phone, Media, Relation:
		f.Pattern, _ = m["pattern"].(string)
		f.MinLength, f.MaxLength = count(m["minLength"]), count(m["maxLength"])
		if format, _ := m["format"].(string); formats[f.Type] == "" && (f.Type != Date || f.Display == Time) {
			f.Format = format
		}
	}
}

// members reads the fields of a nested object.
func (f *Field) members(r *reader, m object, path string) {
	if f.Display == Group {
		g, _ := r.group(m, path)
		f.Open = g.Open
		if len(g.Fields) > 0 {
			f.Fields = g.Fields
		}
	}
	if f.Display != Map {
		return
	}
	f.MinItems, f.MaxItems = count(m["minProperties"]), count(m["maxProperties"])
	if extra, ok := m["additionalProperties"]; ok {
		item := r.field(extra, path+"/additionalProperties")
		f.Items = &item
	}
}

// hintOf reads [Keyword]. It reports false if it has unknown members.
func hintOf(m object) (hint, bool) {
	var h hint
	raw, ok := m[Keyword].(object)
	if !ok {
		return h, false
	}
	text, err := encode(raw)
	if err != nil || json.Unmarshal(text, &h) != nil {
		return hint{}, false
	}
	again := make(object)
	if addHint(again, h) != nil || !reflect.DeepEqual(again[Keyword], m[Keyword]) && len(raw) > 0 {
		return hint{}, false
	}
	return h, true
}

// count reads a number of characters or items; nil if it is not one.
func count(v any) *int {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	i, err := n.Int64()
	if err != nil || i < 0 || i > maxCount {
		return nil
	}
	c := int(i)
	return &c
}

// textsOf reads a list of strings; empty for nil.
func textsOf(v any) ([]string, bool) {
	list, ok := v.([]any)
	var out []string
	for _, item := range list {
		text, is := item.(string)
		if !is {
			return nil, false
		}
		out = append(out, text)
	}
	return out, ok || v == nil
}
