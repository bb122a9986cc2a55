package field

import (
	"encoding/json"
	"fmt"
	"slices"
)

// maxConditions bounds the conditions of a field.
const maxConditions = 16

// checkConditions checks the conditions of the fields of a form or a group.
func checkConditions(fields []Field, path string) error {
	for i := range fields {
		f := &fields[i]
		at := fmt.Sprintf("%s/%d/visible_when", path, i)
		if len(f.VisibleWhen) > maxConditions {
			return refuse(at, "more than %d conditions", maxConditions)
		}
		for j := range f.VisibleWhen {
			if err := checkCondition(fields, f, &f.VisibleWhen[j], fmt.Sprintf("%s/%d", at, j)); err != nil {
				return err
			}
		}
		if leadsTo(fields, f.Key, f.Key, make(map[string]bool)) {
			return refuse(at, "whether %q is shown depends on itself", f.Key)
		}
	}
	return nil
}

func checkCondition(fields []Field, of *Field, c *Condition, path string) error {
	at := slices.IndexFunc(fields, func(f Field) bool { return f.Key == c.Field })
	switch {
	case at < 0:
		return refuse(path+"/field", "there is no field %.80q beside %q", c.Field, of.Key)
	case len(c.In) > 0 && len(c.NotIn) > 0:
		return refuse(path, "expected in or not_in, not both")
	case len(c.In)+len(c.NotIn) > MaxOptions:
		return refuse(path, "more than %d values", MaxOptions)
	}
	name, values := "in", c.In
	if len(c.NotIn) > 0 {
		name, values = "not_in", c.NotIn
	}
	for i, raw := range values {
		if v, err := decode(raw); err != nil || kindOf(v) == "" {
			return refuse(fmt.Sprintf("%s/%s/%d", path, name, i), "expected a string, a number, true or false")
		}
		if !fields[at].mayBe(raw) {
			return refuse(fmt.Sprintf("%s/%s/%d", path, name, i), "%q is never %.80s", c.Field, raw)
		}
	}
	return nil
}

// mayBe reports whether a field, or one of its values where it has several, may be a plain value, by its type.
func (f *Field) mayBe(raw json.RawMessage) bool {
	v, err := decode(raw)
	if err != nil {
		return false
	}
	if f.Type == Array && f.Items != nil {
		return f.Items.mayBe(raw)
	}
	kind := kindOf(v)
	switch f.Type {
	case Enum:
		return slices.ContainsFunc(f.Options, func(o Option) bool { return equalJSON(o.Value, raw) })
	case Boolean:
		return kind == "boolean"
	case Number:
		return kind == "number" || kind == "integer"
	case Object:
		return f.shown() == JSON
	case Upload:
		return false
	case Text, Date, URL, Email, Phone, Media, Relation, Array:
		return kind == "string"
	}
	return false
}

// leadsTo reports whether the conditions of a field depend on another, directly or not.
func leadsTo(fields []Field, from, key string, seen map[string]bool) bool {
	at := slices.IndexFunc(fields, func(f Field) bool { return f.Key == from })
	if at < 0 || seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(fields[at].VisibleWhen, func(c Condition) bool {
		return c.Field == key || leadsTo(fields, c.Field, key, seen)
	})
}
