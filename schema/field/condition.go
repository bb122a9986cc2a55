package field

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
)

// Condition compares a field with its siblings, the fields of the same object. Without In and NotIn, it
// is met where the sibling has a value.
type Condition struct {
	Field string            `json:"field"`            // Key of the sibling.
	In    []json.RawMessage `json:"in,omitempty"`     // It has one of these values; a list of values has one of them.
	NotIn []json.RawMessage `json:"not_in,omitempty"` // It has no value, or others than these.
}

// severalOf reports whether the value of a field is a list of values.
func (f *Field) severalOf() bool { return f.Multiple || f.Type == Array }

// schema returns the condition as the schema of the object. several says that the sibling's value is a list.
func (c *Condition) schema(several bool) (object, error) {
	out := object{}
	if len(c.NotIn) == 0 {
		out["required"] = []any{c.Field}
	}
	if len(c.In)+len(c.NotIn) == 0 {
		return out, nil
	}
	values := make([]any, 0, len(c.In)+len(c.NotIn))
	for _, raw := range append(slices.Clone(c.In), c.NotIn...) {
		v, err := decode(raw)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	one := object{"enum": values}
	if several {
		one = object{"contains": one}
	}
	if len(c.NotIn) > 0 {
		one = object{"not": one}
	}
	out["properties"] = object{c.Field: one}
	return out, nil
}

// condition reads what [Condition.schema] wrote, and reports false for any other schema.
func condition(node any) (Condition, bool) {
	m, _ := node.(object)
	props, _ := m["properties"].(object)
	required, plain := textsOf(m["required"])
	if !plain || len(required) > 1 || len(props) > 1 {
		return Condition{}, false
	}
	var c Condition
	if len(required) == 1 {
		c.Field = required[0]
	}
	for name, sub := range props {
		c.Field = name
		one, _ := sub.(object)
		to := &c.In
		if not, ok := one["not"].(object); ok {
			one, to = not, &c.NotIn
		}
		if inner, ok := one["contains"].(object); ok {
			one = inner
		}
		values, _ := one["enum"].([]any)
		for _, v := range values {
			*to = append(*to, rawOf(v))
		}
	}
	return c, c.Field != "" // takeRules writes it again, and compares.
}

// shownWhen is the schema of the fields that are shown under the same conditions.
type shownWhen struct {
	when    []Condition
	needed  []any  // Keys of those that are required where they are shown.
	refused object // What none may be where they are not.
}

// rules returns the keywords if, then and else for the fields that are shown under conditions; none
// where there are none. Several rules are in an allOf below then: at the top, clients and providers
// refuse it.
func rules(fields []Field) (object, error) {
	var all []shownWhen
	for i := range fields {
		f := &fields[i]
		if len(f.VisibleWhen) == 0 {
			continue
		}
		at := slices.IndexFunc(all, func(r shownWhen) bool { return sameConditions(r.when, f.VisibleWhen) })
		if at < 0 {
			at = len(all)
			all = append(all, shownWhen{when: f.VisibleWhen, refused: object{}})
		}
		all[at].refused[f.Key] = false
		if f.Required {
			all[at].needed = append(all[at].needed, f.Key)
		}
	}
	list := make([]any, len(all))
	for i, r := range all {
		m, err := r.schema(fields)
		if err != nil {
			return nil, err
		}
		list[i] = m
	}
	switch len(list) {
	case 0:
		return nil, nil
	case 1:
		only, _ := list[0].(object)
		return only, nil
	default:
		return object{"if": object{"type": "object"}, "then": object{"allOf": list}}, nil
	}
}

func sameConditions(a, b []Condition) bool {
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}

func (r *shownWhen) schema(fields []Field) (object, error) {
	parts := make([]any, len(r.when))
	for i := range r.when {
		c := &r.when[i]
		at := slices.IndexFunc(fields, func(f Field) bool { return f.Key == c.Field })
		m, err := c.schema(at >= 0 && fields[at].severalOf())
		if err != nil {
			return nil, err
		}
		parts[i] = m
	}
	out := object{"else": object{"properties": r.refused}}
	if len(r.needed) > 0 {
		out["then"] = object{"required": r.needed}
	}
	if len(parts) == 1 {
		out["if"] = parts[0]
	} else {
		out["if"] = object{"allOf": parts}
	}
	return out, nil
}

// takeRules gives the fields of an object the conditions that [rules] wrote into its schema, and removes
// them from rest. Where the keywords say anything else, it changes nothing.
func takeRules(fields []Field, rest object) {
	given := object{}
	for _, name := range []string{"if", "then", "else"} {
		if sub, ok := rest[name]; ok {
			given[name] = sub
		}
	}
	if len(given) == 0 {
		return
	}
	list := []any{given}
	if then, ok := given["then"].(object); ok && given["else"] == nil {
		if several, ok := then["allOf"].([]any); ok {
			list = several
		}
	}
	with := slices.Clone(fields)
	for _, node := range list {
		if !takeRule(with, node) {
			return
		}
	}
	again, err := rules(with)
	if err != nil || !reflect.DeepEqual(plain(again), plain(given)) {
		return
	}
	copy(fields, with)
	for name := range given {
		delete(rest, name)
	}
}

func takeRule(fields []Field, node any) bool {
	m, _ := node.(object)
	otherwise, _ := m["else"].(object)
	refused, _ := otherwise["properties"].(object)
	then, _ := m["then"].(object)
	needed, plain := textsOf(then["required"])
	parts := []any{m["if"]}
	if when, ok := m["if"].(object); ok {
		if list, ok := when["allOf"].([]any); ok {
			parts = list
		}
	}
	when := make([]Condition, len(parts))
	for i, part := range parts {
		var ok bool
		if when[i], ok = condition(part); !ok {
			return false
		}
	}
	if !plain || len(refused) == 0 {
		return false
	}
	for key := range refused {
		at := slices.IndexFunc(fields, func(f Field) bool { return f.Key == key })
		if at < 0 || fields[at].Required || len(fields[at].VisibleWhen) > 0 {
			return false
		}
		fields[at].VisibleWhen, fields[at].Required = when, slices.Contains(needed, key)
	}
	return true
}
