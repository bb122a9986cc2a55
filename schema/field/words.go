package field

import (
	"encoding/json"
	"slices"
	"strings"
)

// ConditionWords returns when a field is shown, in words for people, such as "Kind is Parcel or Freight"; empty for
// a field that always is. fields are those of the same object.
func ConditionWords(fields []Field, f *Field) string {
	parts := make([]string, len(f.VisibleWhen))
	for i := range f.VisibleWhen {
		c := &f.VisibleWhen[i]
		of := &Field{Key: c.Field}
		if at := slices.IndexFunc(fields, func(x Field) bool { return x.Key == c.Field }); at >= 0 {
			of = &fields[at]
		}
		name := of.Label
		if name == "" {
			name = of.Key
		}
		switch {
		case len(c.NotIn) > 0:
			parts[i] = name + " is not " + of.valueWords(c.NotIn)
		case len(c.In) > 0 && of.severalOf():
			parts[i] = name + " has " + of.valueWords(c.In)
		case len(c.In) > 0:
			parts[i] = name + " is " + of.valueWords(c.In)
		default:
			parts[i] = name + " is given"
		}
	}
	return strings.Join(parts, " and ")
}

func (f *Field) valueWords(values []json.RawMessage) string {
	out := make([]string, len(values))
	for i, raw := range values {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = map[string]string{"true": "yes", "false": "no"}[string(raw)]
		}
		if text == "" {
			text = string(raw)
		}
		at := slices.IndexFunc(f.Options, func(o Option) bool { return equalJSON(o.Value, raw) })
		if at >= 0 && f.Options[at].Label != "" {
			text = f.Options[at].Label
		}
		out[i] = text
	}
	return strings.Join(out, " or ")
}
