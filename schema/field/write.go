package field

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// Write returns the schema of the form. It is the inverse of [Read], without checks: see [Compile] for
// user-written fields.
func (f *Form) Write() (json.RawMessage, error) {
	if len(f.Schema) > 0 {
		return f.Schema, nil
	}
	m, err := group(f.Fields, f.Open)
	if err != nil {
		return nil, err
	}
	if f.Open && len(f.Fields) == 0 {
		delete(m, "properties")
	}
	for name, raw := range f.Keywords {
		if m[name], err = decode(raw); err != nil {
			return nil, err
		}
	}
	return encode(m)
}

// group returns the schema of an object with the given fields.
func group(fields []Field, open bool) (object, error) {
	props := make(object, len(fields))
	var required []any
	var order []string
	for i := range fields {
		f := &fields[i]
		if _, twice := props[f.Key]; twice {
			return nil, fmt.Errorf("the key %.64q is given twice", f.Key)
		}
		sub, err := f.write()
		if err != nil {
			return nil, err
		}
		props[f.Key] = sub
		order = append(order, f.Key)
		if f.Required && len(f.VisibleWhen) == 0 {
			required = append(required, f.Key)
		}
	}
	m := object{"type": "object", "properties": props}
	conditions, err := rules(fields)
	if err != nil {
		return nil, err
	}
	maps.Copy(m, conditions)
	if len(required) > 0 {
		m["required"] = required
	}
	if !open {
		m["additionalProperties"] = false
	}
	if slices.IsSorted(order) {
		return m, nil
	}
	return m, addHint(m, hint{Order: order})
}

// write returns the schema of a field's value: an object, or true or false.
func (f *Field) write() (any, error) {
	if f.Type == Object && f.Display == JSON && len(f.Schema) > 0 {
		kept, err := decode(f.Schema)
		m, ok := kept.(object)
		if err != nil || !ok {
			return kept, err
		}
		return m, f.annotate(m)
	}
	m, err := f.constraints()
	if err != nil {
		return nil, err
	}
	if f.Nullable {
		f.takeNull(m)
	}
	return m, f.annotate(m)
}

// annotate adds the keywords that do not affect validation.
func (f *Field) annotate(m object) error {
	setText(m, "title", f.Label)
	setText(m, "description", f.Description)
	for name, raw := range f.Annotations {
		v, err := decode(raw)
		if err != nil {
			return err
		}
		m[name] = v
	}
	if len(f.Default) > 0 {
		v, err := decode(f.Default)
		if err != nil {
			return err
		}
		m["default"] = v
	}
	h := hint{
		Placeholder: f.Placeholder, Help: f.Help, Unit: f.Unit, Accept: f.Accept, MaxBytes: f.MaxBytes, Entity: f.Entity,
		Section: f.Section, Advanced: f.Advanced, Hidden: f.Hidden, Labels: labelsOf(f.Options),
	}
	if h.Entity == entity(m) {
		h.Entity = "" // The schema has it in another vendor's keyword.
	}
	if len(f.Schema) == 0 {
		t, d := shape(m, "")
		if t != f.Type {
			h.Type = f.Type
			t, d = shape(m, f.Type)
		}
		if shown := f.shown(); t != f.Type || d != shown {
			h.Display = shown
		}
	}
	return addHint(m, h)
}

// shown returns the display, or its default.
func (f *Field) shown() Display {
	if all := displays[f.Type]; f.Display == "" && len(all) > 0 {
		return all[0]
	}
	return f.Display
}

// constraints returns the keywords of validation, except for null.
func (f *Field) constraints() (object, error) {
	one, err := f.single()
	if err != nil || !f.Multiple {
		return one, err
	}
	m := object{"type": "array", "items": one}
	f.counts(m, "minItems", "maxItems")
	if f.Unique {
		m["uniqueItems"] = true
	}
	return m, nil
}

// single returns the keywords of one value.
func (f *Field) single() (object, error) {
	switch f.Type {
	case Number:
		return f.number(), nil
	case Boolean:
		return object{"type": "boolean"}, nil
	case Enum:
		return f.enum()
	case Object:
		return f.object()
	case Upload:
		return reference(), nil
	case Array:
		m := object{"type": "array"}
		f.counts(m, "minItems", "maxItems")
		if f.Unique {
			m["uniqueItems"] = true
		}
		return m, f.each(m, "items")
	case Text, Date, URL, Email, Phone, Media, Relation:
		return f.text(), nil
	default:
		return nil, fmt.Errorf("type %.40q is none of a field", f.Type)
	}
}

// reference is the schema of the reference to an uploaded file. Its id is enough: a server fills in
// the other members, and never believes them.
func reference() object {
	text := object{"type": "string"}
	return object{
		"type": "object", "additionalProperties": false, "required": []any{"file_id"},
		"properties": object{
			"file_id": object{"type": "string", "format": "uuid"}, "name": text, "media_type": text,
			"size": object{"type": "integer", "minimum": json.Number("1")}, "sha256": text,
		},
	}
}

// formats are the formats of types that have one.
var formats = map[Type]string{URL: "uri", Email: "email", Media: "uri"}

func (f *Field) text() object {
	m := object{"type": "string"}
	format := formats[f.Type]
	switch {
	case f.Type == Date && f.shown() == Day:
		format = "date"
	case f.Type == Date && f.shown() == Moment:
		format = "date-time"
	case format == "":
		format = f.Format
	}
	setText(m, "format", format)
	setText(m, "pattern", f.Pattern)
	setCount(m, "minLength", f.MinLength)
	setCount(m, "maxLength", f.MaxLength)
	return m
}

func (f *Field) number() object {
	m := object{"type": "number"}
	if f.Integer {
		m["type"] = "integer"
	}
	for name, n := range map[string]json.Number{
		"minimum": f.Min, "maximum": f.Max, "exclusiveMinimum": f.Above, "exclusiveMaximum": f.Below, "multipleOf": f.Step,
	} {
		if n != "" {
			m[name] = n
		}
	}
	return m
}

func (f *Field) enum() (object, error) {
	values := make([]any, 0, len(f.Options))
	for _, o := range f.Options {
		v, err := decode(o.Value)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	m := object{"enum": values}
	setText(m, "type", kindOfAll(values))
	return m, nil
}

func (f *Field) object() (object, error) {
	m := object{"type": "object"}
	if f.shown() == Group {
		return group(f.Fields, f.Open)
	}
	if f.shown() == Map {
		f.counts(m, "minProperties", "maxProperties")
		return m, f.each(m, "additionalProperties")
	}
	return m, nil
}

// each writes the schema of items.
func (f *Field) each(m object, keyword string) error {
	if f.Items == nil {
		return nil
	}
	item, err := f.Items.write()
	m[keyword] = item
	return err
}

func (f *Field) counts(m object, least, most string) {
	setCount(m, least, f.MinItems)
	setCount(m, most, f.MaxItems)
}

// takeNull makes a schema accept null too.
func (f *Field) takeNull(m object) {
	if t, ok := m["type"].(string); ok {
		m["type"] = []any{t, "null"}
	}
	if values, ok := m["enum"].([]any); ok {
		m["enum"] = append(slices.Clone(values), nil)
	}
}

// addHint adds a hint to m.
func addHint(m object, h hint) error {
	if reflect.ValueOf(h).IsZero() {
		return nil
	}
	raw, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("writing hints: %w", err)
	}
	v, err := decode(raw)
	if err != nil {
		return err
	}
	added, _ := v.(object)
	if before, ok := m[Keyword].(object); ok {
		merged := maps.Clone(before)
		maps.Copy(merged, added)
		added = merged
	}
	m[Keyword] = added
	return nil
}

// labelsOf returns the labels of options; nil where none has one.
func labelsOf(options []Option) []string {
	labels := make([]string, len(options))
	for i, o := range options {
		labels[i] = o.Label
	}
	if !slices.ContainsFunc(labels, func(l string) bool { return l != "" }) {
		return nil
	}
	return labels
}

func setText(m object, name, text string) {
	if text != "" {
		m[name] = text
	}
}

func setCount(m object, name string, n *int) {
	if n != nil {
		m[name] = json.Number(strconv.Itoa(*n))
	}
}
