package schema

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// Prepare converts raw, as written by a model, to valid arguments in canonical form: members
// sorted by name, no white space, numbers with their spelling. These are recorded and sent.
//
// A valid payload keeps its value, with an empty receipt. Otherwise the text is repaired and
// the value coerced, only where nothing is lost and only one reading is possible; the result
// is validated again, and the receipt lists each change without values. A truncated payload
// is never completed. Defaults are not filled in.
//
// Prepare fails with tool.Invalid, and the Path of the first offending value, for a payload
// that stays invalid or that [Decode] refuses, and when it exceeds the work budget for its
// size. It fails with the error of ctx when that ends first.
func (s *Schema) Prepare(ctx context.Context, raw json.RawMessage) (json.RawMessage, Receipt, error) {
	if len(raw) > MaxArgumentBytes {
		_, err := decodeValue(raw)
		return nil, nil, err
	}
	w := newWork(ctx.Err, len(raw))
	if len(bytes.TrimSpace(raw)) == 0 {
		return s.prepareEmpty(w)
	}
	v, err := decodeValue(raw)
	if err == nil && w.accepts(s.root, v) {
		return v.Append(make([]byte, 0, len(raw)+8)), nil, nil
	}
	if w.err != nil || breaksRule(err) {
		return nil, nil, cmp.Or(w.err, err)
	}
	p := newPreparation(s, w)
	if err != nil {
		if v, err = p.read(strings.TrimSpace(string(raw)), err); err != nil {
			return nil, nil, err
		}
	}
	return p.finish(v)
}

// prepareEmpty makes an omitted argument list the empty object.
func (s *Schema) prepareEmpty(w *work) (json.RawMessage, Receipt, error) {
	if err := s.judge(w, jsonvalue.NewObject(nil)); err != nil {
		return nil, nil, err
	}
	return json.RawMessage("{}"), Receipt{{From: "nothing", To: "object", Rule: RuleEmpty}}, nil
}

// preparation is the state of one call of [Schema.Prepare].
type preparation struct {
	schema   *Schema
	work     *work
	edits    Receipt // For the whole payload.
	shapes   map[*rule]*shape
	readings map[visit]reading
	texts    map[*jsonvalue.Value]*jsonvalue.Value // JSON text in strings; nil where there is none.
}

func newPreparation(s *Schema, w *work) *preparation {
	w.remember = w.left // Verdicts are needed repeatedly from now on.
	return &preparation{
		schema: s, work: w,
		shapes: make(map[*rule]*shape), readings: make(map[visit]reading), texts: make(map[*jsonvalue.Value]*jsonvalue.Value),
	}
}

func (p *preparation) edit(from, to string, rule Rule) {
	p.edits = append(p.edits, Edit{From: from, To: to, Rule: rule})
}

// read parses text that the strict decoder refused for the given reason: JSON in a fence,
// malformed JSON, or, where the schema accepts a bare string, the text itself.
func (p *preparation) read(text string, reason error) (*jsonvalue.Value, error) {
	if !p.work.spend(len(text) / 8) {
		return nil, p.work.err
	}
	if looksLikeJSON(text) || strings.HasPrefix(text, "```") || strings.HasPrefix(text, `"`) {
		v, edits, err := repairText(text)
		p.edits = append(p.edits, edits...)
		return v, err
	}
	if jsonvalue.CheckString(text) != "" {
		return nil, reason
	}
	if strings.ContainsAny(text, "{[") || !p.takesText() {
		return nil, invalidValue("", "not JSON: expected JSON and nothing else")
	}
	p.edit("text", "string", RuleBareText)
	return jsonvalue.NewString(text), nil
}

// finish coerces a decoded value, validates it again and writes it.
func (p *preparation) finish(v *jsonvalue.Value) (json.RawMessage, Receipt, error) {
	v, err := p.top(v)
	if err == nil {
		err = p.work.err
	}
	if err != nil {
		return nil, nil, err
	}
	if err := p.schema.judge(p.work, v); err != nil {
		return nil, nil, err
	}
	args := v.Append(nil)
	// Decoded JSON text may nest deeper than a payload may.
	if _, err := jsonvalue.Check(args, MaxArgumentDepth); err != nil || len(args) > MaxArgumentBytes {
		return nil, nil, invalidValue("", "too large or too deeply nested once repaired")
	}
	return args, p.edits, nil
}

// takesText reports whether a bare string can only be the value of one property.
func (p *preparation) takesText() bool {
	name, sub := p.shape(p.schema.root).soleRequired()
	return name != "" && p.shape(sub).allows("string")
}

// cancelled reports whether err means that the caller's context ended.
func cancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
