package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// maxEncodings bounds nested JSON text in JSON text.
const maxEncodings = 3

// top coerces a whole payload: by [preparation.value], and for mistakes that only occur at the
// top. It fails with tool.Invalid for truncated JSON text.
func (p *preparation) top(v *jsonvalue.Value) (*jsonvalue.Value, error) {
	root := p.schema.root
	sh := p.shape(root)
	if sh.allows("string") || !sh.allows("object") {
		return p.choose(p.value(root, v)), nil
	}
	v, err := p.decodeText(v)
	if err != nil {
		return nil, err
	}
	var readings []reading
	switch v.Kind() {
	case jsonvalue.Null:
		p.edit("null", "object", RuleEmpty)
		return p.choose(p.value(root, jsonvalue.NewObject(nil))), nil
	case jsonvalue.Object:
		readings = append(readings, p.value(root, v))
		if inner := p.unwrap(sh, v); inner != nil {
			readings = append(readings, p.after("", "object", RuleUnwrap, inner))
		}
	case jsonvalue.False, jsonvalue.True, jsonvalue.Number, jsonvalue.String, jsonvalue.Array:
		readings = append(readings, p.value(root, v))
		if name, _ := sh.soleRequired(); name != "" {
			whole := jsonvalue.NewObject([]jsonvalue.Member{{Name: name, Value: v}})
			readings = append(readings, p.after("/"+jsonpointer.Escape(name), kindName(v), RuleSoleProperty, whole))
		}
	}
	r, ok := p.only(readings, func(r reading) bool { return p.work.accepts(root, r.value) })
	if !ok {
		r = readings[0]
		if r.value.Kind() != jsonvalue.Object {
			r = readings[len(readings)-1]
		}
	}
	return p.choose(r), nil
}

// after coerces v as the whole payload after an edit.
func (p *preparation) after(at, from string, rule Rule, v *jsonvalue.Value) reading {
	var t trail
	t.record(at, from, "object", rule)
	read := p.value(p.schema.root, v)
	t.include("", read.trail)
	return reading{read.value, t}
}

// choose selects a reading of the whole payload.
func (p *preparation) choose(r reading) *jsonvalue.Value {
	p.edits = r.trail.appendTo(p.edits, "")
	return r.value
}

// decodeText replaces a string of JSON text by its value.
func (p *preparation) decodeText(v *jsonvalue.Value) (*jsonvalue.Value, error) {
	for range maxEncodings {
		if v.Kind() != jsonvalue.String {
			return v, nil
		}
		text := strings.TrimSpace(v.Text())
		if text == "" {
			return jsonvalue.NullValue, nil // No arguments.
		}
		if !looksLikeJSON(text) && !strings.HasPrefix(text, "```") && !strings.HasPrefix(text, `"`) {
			return v, nil
		}
		if !p.work.spend(len(text) / 4) {
			return nil, p.work.err
		}
		decoded, err := decodeValue(json.RawMessage(text))
		if err != nil {
			var edits Receipt
			if decoded, edits, err = repairText(text); err != nil {
				return nil, err
			}
			p.edits = append(p.edits, edits...)
		}
		p.edit("string", kindName(decoded), RuleJSONText)
		v = decoded
	}
	return v, nil
}

// Names that models wrap around arguments, folded.
var (
	wrapperNames = []string{
		"arguments", "args", "parameters", "params", "input", "inputs", "kwargs", "toolinput", "properties",
	}
	calleeNames = []string{"name", "tool", "function", "toolname", "type", "id"}
)

// unwrap returns the arguments under a name such as "arguments", alone or beside the name of the
// tool; nil when there are none.
func (p *preparation) unwrap(sh *shape, object *jsonvalue.Value) *jsonvalue.Value {
	if object.Len() > len(calleeNames)+1 {
		return nil
	}
	var inner *jsonvalue.Value
	for _, m := range object.Members() {
		switch {
		case sh.declares(p.work, m.Name):
			return nil
		case slices.Contains(calleeNames, fold(m.Name)) && m.Value.Kind() == jsonvalue.String:
		case slices.Contains(wrapperNames, fold(m.Name)) && inner == nil:
			inner = m.Value
		default:
			return nil
		}
	}
	if inner != nil && inner.Kind() == jsonvalue.String {
		inner = p.structureOf(inner)
	}
	if inner == nil || inner.Kind() != jsonvalue.Object {
		return nil
	}
	return inner
}
