package schema

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Prepare makes raw, as a model wrote it, into arguments that meet the schema.
//
// A valid payload comes back byte for byte, with an empty receipt. Otherwise
// the text is repaired and the value coerced, only where nothing is lost and
// only one reading is possible; the result is validated again, and the receipt
// lists each change without values. A payload that was cut off is never
// completed: it fails, as does all that stays invalid, with tool.Invalid and
// the Path of the first offending value. Defaults are not filled in.
func (s *Schema) Prepare(raw json.RawMessage) (json.RawMessage, Receipt, error) {
	if err := checkText(raw); err != nil {
		return nil, nil, err
	}
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return s.prepareEmpty()
	}
	v, err := decodeValue(raw)
	if err == nil && s.validate(v, len(raw)) == nil {
		return raw, nil, nil
	}
	p := &preparation{schema: s, budget: maxCoercions}
	if err != nil {
		if v, err = p.read(text); err != nil {
			return nil, nil, err
		}
	}
	return p.finish(v, len(raw))
}

// prepareEmpty makes an omitted argument list the empty object.
func (s *Schema) prepareEmpty() (json.RawMessage, Receipt, error) {
	if err := s.validate(map[string]any{}, 0); err != nil {
		return nil, nil, err
	}
	return json.RawMessage("{}"), Receipt{{From: "nothing", To: "object", Rule: RuleEmpty}}, nil
}

// preparation is the state of one call of [Schema.Prepare].
type preparation struct {
	schema *Schema
	edits  Receipt
	budget int // Values that may still be looked at.
}

// maxCoercions bounds the work of coercing one payload.
const maxCoercions = 20_000

func (p *preparation) edit(path, from, to string, rule Rule) {
	p.edits = append(p.edits, Edit{Path: clip(path, 240), From: from, To: to, Rule: rule})
}

// read makes a value of text that is no JSON: JSON in a fence, JSON with
// mistakes, or, where the schema takes a bare string, the text itself.
func (p *preparation) read(text string) (any, error) {
	if looksLikeJSON(text) || strings.HasPrefix(text, "```") || strings.HasPrefix(text, `"`) {
		v, edits, err := repairText(text)
		p.edits = append(p.edits, edits...)
		return v, err
	}
	if strings.ContainsAny(text, "{[") || !p.schema.takesText() {
		return nil, invalidValue("", "not JSON: expected JSON and nothing else")
	}
	p.edit("", "text", "string", RuleBareText)
	return text, nil
}

// finish coerces a decoded value, validates it again and writes it.
func (p *preparation) finish(v any, size int) (json.RawMessage, Receipt, error) {
	if err := p.schema.meter(v, size); err != nil {
		return nil, nil, err
	}
	v, err := p.top(v)
	if err != nil {
		return nil, nil, err
	}
	args, err := encode(v)
	if err != nil {
		return nil, nil, &tool.Error{Kind: tool.InternalError, Op: "schema.Prepare", Msg: "internal error", Err: err}
	}
	if len(args) > MaxArgumentBytes {
		return nil, nil, invalidValue("", "too large once repaired")
	}
	if err := p.schema.validate(v, len(args)); err != nil {
		return nil, nil, err
	}
	return args, p.edits, nil
}

// takesText reports whether a bare string can only mean one property.
func (s *Schema) takesText() bool {
	name, sub := shapeOf(s.root).soleRequired()
	return name != "" && shapeOf(sub).allows("string")
}
