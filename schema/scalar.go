package schema

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// scalarOf parses a number, a boolean or null written as a string. Numbers must be spelled as
// in JSON: not "007" or "1,000".
func scalarOf(sh *shape, text string) (*jsonvalue.Value, Rule, bool) {
	text = strings.TrimSpace(text)
	switch {
	case (sh.wants("number") || sh.wants("integer")) && jsonvalue.CheckNumber(text) == "":
		return jsonvalue.NewNumber(text), RuleNumber, true
	case sh.wants("boolean") && strings.EqualFold(text, "true"):
		return jsonvalue.NewBool(true), RuleBoolean, true
	case sh.wants("boolean") && strings.EqualFold(text, "false"):
		return jsonvalue.NewBool(false), RuleBoolean, true
	case sh.wants("null") && (strings.EqualFold(text, "null") || strings.EqualFold(text, "none")):
		return jsonvalue.NullValue, RuleNull, true
	default:
		return nil, "", false
	}
}

// structureOf parses an object or an array written as a string; nil if v is neither.
func (p *preparation) structureOf(v *jsonvalue.Value) *jsonvalue.Value {
	text := strings.TrimSpace(v.Text())
	if !looksLikeJSON(text) {
		return nil
	}
	if known, ok := p.texts[v]; ok || !p.work.spend(1+len(text)/4) {
		return known
	}
	out, err := decodeValue(json.RawMessage(text))
	if err != nil && !breaksRule(err) {
		out, _, err = repairText(text)
	}
	if err != nil {
		out = nil
	}
	p.texts[v] = out
	return out
}

// isOneItem reports whether text is one item: "a, b" may be two.
func isOneItem(text string) bool {
	return strings.TrimSpace(text) != "" && !strings.ContainsAny(text, ",;|\n") && !looksLikeJSON(strings.TrimSpace(text))
}

// spellings lists the members of an enum that text may be a spelling of.
func (p *preparation) spellings(sh *shape, text string) []*jsonvalue.Value {
	if len(sh.enum) == 0 || !p.work.spend(1+len(text)/16) {
		return nil
	}
	if sh.spelled == nil {
		p.work.spend(len(sh.enum))
		sh.spelled = make(map[string][]*jsonvalue.Value, len(sh.enum))
		for _, member := range sh.enum {
			key := "number " + member.Text()
			if member.Kind() == jsonvalue.String {
				key = fold(member.Text())
			} else if member.Kind() != jsonvalue.Number {
				continue
			}
			sh.spelled[key] = append(sh.spelled[key], member)
		}
	}
	var out []*jsonvalue.Value
	for _, member := range sh.spelled[fold(text)] {
		if member.Kind() == jsonvalue.String && member.Text() != text {
			out = append(out, member)
		}
	}
	return append(out, sh.spelled["number "+strings.TrimSpace(text)]...)
}
