package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxEncodings is how often a payload may be JSON text within JSON text.
const maxEncodings = 3

// top coerces a whole payload: what [preparation.value] does, and the mistakes
// that only the top sees. It fails with tool.Invalid for JSON text that was
// cut off.
func (p *preparation) top(v any) (any, error) {
	root := p.schema.root
	sh := shapeOf(root)
	if sh.allows("string") || !sh.allows("object") {
		return p.value(root, v, ""), nil
	}
	v, err := p.decodeText(v)
	if err != nil {
		return nil, err
	}
	var readings []reading
	switch v := v.(type) {
	case nil:
		p.edit("", "null", "object", RuleEmpty)
		return p.value(root, map[string]any{}, ""), nil
	case map[string]any:
		readings = append(readings, p.try(func() any { return p.value(root, v, "") }))
		if inner, ok := unwrap(sh, v); ok {
			readings = append(readings, p.try(func() any {
				p.edit("", "object", "object", RuleUnwrap)
				return p.value(root, inner, "")
			}))
		}
	default:
		readings = append(readings, p.try(func() any { return p.value(root, v, "") }))
		if name, _ := sh.soleRequired(); name != "" {
			readings = append(readings, p.try(func() any {
				p.edit("/"+escapeToken(name), kindOf(v), "object", RuleSoleProperty)
				return p.value(root, map[string]any{name: v}, "")
			}))
		}
	}
	r, ok := only(readings, func(r reading) bool { return accepts(root, r.value) })
	if !ok {
		r = readings[0]
		if kindOf(r.value) != "object" {
			r = readings[len(readings)-1]
		}
	}
	p.edits = append(p.edits, r.edits...)
	return r.value, nil
}

// decodeText replaces a string that holds JSON by what it holds.
func (p *preparation) decodeText(v any) (any, error) {
	for range maxEncodings {
		text, ok := v.(string)
		if !ok {
			return v, nil
		}
		text = strings.TrimSpace(text)
		if text == "" {
			return nil, nil //nolint:nilnil // JSON's null: no arguments.
		}
		if !looksLikeJSON(text) && !strings.HasPrefix(text, "```") && !strings.HasPrefix(text, `"`) {
			return v, nil
		}
		decoded, err := decodeValue(json.RawMessage(text))
		if err != nil {
			var edits Receipt
			if decoded, edits, err = repairText(text); err != nil {
				return nil, err
			}
			p.edits = append(p.edits, edits...)
		}
		p.edit("", "string", kindOf(decoded), RuleJSONText)
		v = decoded
	}
	return v, p.schema.meter(v, MaxArgumentBytes)
}

// Names that models put around arguments, folded.
var (
	wrapperNames = []string{"arguments", "args", "parameters", "params", "input", "inputs", "kwargs", "toolinput", "properties"}
	calleeNames  = []string{"name", "tool", "function", "toolname", "type", "id"}
)

// unwrap returns the arguments that stand under a name such as "arguments",
// alone or beside the name of the tool.
func unwrap(sh *shape, object map[string]any) (any, bool) {
	var inner any
	for name, value := range object {
		_, isText := value.(string)
		switch {
		case sh.declares(name):
			return nil, false
		case slices.Contains(calleeNames, fold(name)) && isText:
		case slices.Contains(wrapperNames, fold(name)) && inner == nil:
			inner = value
		default:
			return nil, false
		}
	}
	if text, ok := inner.(string); ok {
		decoded, ok := structureOf(text)
		inner = decoded
		return inner, ok && kindOf(inner) == "object"
	}
	_, ok := inner.(map[string]any)
	return inner, ok
}
