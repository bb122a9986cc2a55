package schema

import (
	"encoding/json"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// meets reports whether v, whose type is right, is valid by r.
func (w *work) meets(r *rule, v *jsonvalue.Value, seen *evaluated) bool {
	if r.constant != nil && !r.constant.has(w, v) || r.enum != nil && !r.enum.has(w, v) {
		return false
	}
	own := seen
	if r.unevaluatedProperties != nil && v.Kind() == jsonvalue.Object ||
		r.unevaluatedItems != nil && v.Kind() == jsonvalue.Array {
		own = newEvaluated(v)
	}
	ok := false
	switch v.Kind() {
	case jsonvalue.Object:
		ok = w.sizesOf(r, v) && w.members(r, v, own) && w.dependents(r, v, own)
	case jsonvalue.Array:
		ok = w.sizesOf(r, v) && w.items(r, v, own)
	case jsonvalue.String:
		ok = w.text(r, v.Text())
	case jsonvalue.Number:
		ok = w.number(r, v.Text())
	case jsonvalue.Null, jsonvalue.True, jsonvalue.False:
		ok = true
	}
	if !ok || !w.inPlace(r, v, own) {
		return false
	}
	if own == seen {
		return true
	}
	if !w.unevaluated(r, v, own) {
		return false
	}
	if seen != nil {
		seen.markAll()
	}
	return true
}

// sizesOf checks the number of parts of v.
func (w *work) sizesOf(r *rule, v *jsonvalue.Value) bool {
	n := v.Len()
	if v.Kind() == jsonvalue.Object {
		return (r.src.MinProperties == -1 || n >= r.src.MinProperties) &&
			(r.src.MaxProperties == -1 || n <= r.src.MaxProperties)
	}
	return (r.src.MinItems == -1 || n >= r.src.MinItems) && (r.src.MaxItems == -1 || n <= r.src.MaxItems)
}

// members validates the members of an object.
func (w *work) members(r *rule, v *jsonvalue.Value, own *evaluated) bool {
	if !w.spend(len(r.required) / 4) {
		return false
	}
	for _, name := range r.required {
		if v.Index(name) < 0 {
			return false
		}
	}
	if r.properties == nil && r.patterns == nil && r.additional == nil && r.propertyNames == nil {
		return true
	}
	w.spend(v.Len() / 4)
	for i, m := range v.Members() {
		if r.propertyNames != nil && !w.accepts(r.propertyNames, jsonvalue.NewString(m.Name)) {
			return false
		}
		sub, declared := r.properties[m.Name]
		if declared && !w.accepts(sub, m.Value) {
			return false
		}
		for _, p := range r.patterns {
			if !w.matches(p.pattern, p.size, m.Name) {
				continue
			}
			if declared = true; !w.accepts(p.rule, m.Value) {
				return false
			}
		}
		if !declared && r.additional != nil {
			if declared = true; !w.accepts(r.additional, m.Value) {
				return false
			}
		}
		if declared {
			own.mark(i)
		}
		if w.err != nil {
			return false
		}
	}
	return true
}

// matches searches text for a pattern, within the budget.
func (w *work) matches(pattern interface{ MatchString(string) bool }, size int, text string) bool {
	return w.spend(1+size*(len(text)+8)/32) && pattern.MatchString(text)
}

// dependents checks requirements that depend on the presence of members.
func (w *work) dependents(r *rule, v *jsonvalue.Value, own *evaluated) bool {
	for _, d := range r.dependents {
		if !w.spend(1) {
			return false
		}
		if v.Index(d.name) < 0 {
			continue
		}
		for _, name := range d.required {
			if v.Index(name) < 0 {
				return false
			}
		}
		if d.rule != nil && !w.visit(d.rule, v, own) {
			return false
		}
	}
	return true
}

// items validates the items of an array.
func (w *work) items(r *rule, v *jsonvalue.Value, own *evaluated) bool {
	items := v.Items()
	if r.src.UniqueItems && len(items) > 1 && !w.distinct(items) {
		return false
	}
	for i, item := range items {
		sub := r.item(i)
		if sub == nil {
			break
		}
		if !w.accepts(sub, item) {
			return false
		}
		own.mark(i)
	}
	return r.contains == nil || w.contains(r, v, own)
}

// contains checks the number of items of an array that are valid by "contains".
func (w *work) contains(r *rule, v *jsonvalue.Value, own *evaluated) bool {
	found := 0
	for i, item := range v.Items() {
		if w.accepts(r.contains, item) {
			found++
			if r.src.ContainsEval {
				own.mark(i)
			}
		}
		if w.err != nil {
			return false
		}
	}
	return (r.src.MinContains == -1 || found >= r.src.MinContains) &&
		(r.src.MaxContains == -1 || found <= r.src.MaxContains)
}

// text validates a string.
func (w *work) text(r *rule, text string) bool {
	s := r.src
	if s.MinLength != -1 || s.MaxLength != -1 {
		w.spend(len(text) / 64)
		if n := utf8.RuneCountInString(text); n < s.MinLength || s.MaxLength != -1 && n > s.MaxLength {
			return false
		}
	}
	if r.pattern != nil && !w.matches(r.pattern, r.patternSize, text) {
		return false
	}
	return w.formatted(r, text) && w.content(s, text)
}

// formatted checks the format of a string in draft 7; later drafts only annotate.
func (w *work) formatted(r *rule, text string) bool {
	switch {
	case r.format == nil:
		return true
	case r.src.Format == "regex":
		total := 0
		return w.spend(100+len(text)) && checkPattern(text, &total) == nil
	default:
		return w.spend(1+len(text)/16) && r.format(text)
	}
}

// content checks the content encoding of a string in draft 7.
func (w *work) content(s *jsonschema.Schema, text string) bool {
	if s.Draft != jsonschema.Draft7 || s.ContentEncoding == "" && s.ContentMediaType == "" {
		return true
	}
	if !w.spend(1 + len(text)/16) {
		return false
	}
	content := []byte(text)
	if decode := jsonschema.Decoders[s.ContentEncoding]; decode != nil {
		var err error
		if content, err = decode(text); err != nil {
			return false
		}
	} else if s.ContentEncoding != "" {
		return true
	}
	return s.ContentMediaType != "application/json" || json.Valid(content)
}

// number validates a number by its exact value.
func (w *work) number(r *rule, literal string) bool {
	s := r.src
	if s.Minimum == nil && s.Maximum == nil && s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil &&
		s.MultipleOf == nil {
		return true
	}
	if !w.spend(1 + len(literal)/4) {
		return false
	}
	n := rational(literal)
	return (s.Minimum == nil || n.Cmp(s.Minimum) >= 0) && (s.ExclusiveMinimum == nil || n.Cmp(s.ExclusiveMinimum) > 0) &&
		(s.Maximum == nil || n.Cmp(s.Maximum) <= 0) && (s.ExclusiveMaximum == nil || n.Cmp(s.ExclusiveMaximum) < 0) &&
		(s.MultipleOf == nil || new(big.Rat).Quo(n, s.MultipleOf).IsInt())
}

// rational returns the value of a number's spelling.
func rational(literal string) *big.Rat {
	if n, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return new(big.Rat).SetInt64(n)
	}
	d := jsonvalue.DecimalOf(literal)
	if d.Digits == "" {
		return new(big.Rat)
	}
	n, _ := new(big.Rat).SetString(d.Digits + "e" + strconv.Itoa(d.Exponent))
	if d.Negative {
		n.Neg(n)
	}
	return n
}

// inPlace validates v by the subschemas that apply to v itself.
func (w *work) inPlace(r *rule, v *jsonvalue.Value, own *evaluated) bool {
	if r.ref != nil && !w.visit(r.ref, v, own) {
		return false
	}
	for _, sub := range r.all {
		if !w.visit(sub, v, own) {
			return false
		}
	}
	if r.not != nil && (w.accepts(r.not, v) || w.err != nil) {
		return false
	}
	if r.anyOf != nil && w.matching(r.anyOf, v, own, 1) == 0 {
		return false
	}
	if r.oneOf != nil && w.matching(r.oneOf, v, own, 2) != 1 {
		return false
	}
	if r.when != nil {
		next := r.otherwise
		if w.matching([]*rule{r.when}, v, own, 1) == 1 {
			next = r.then
		}
		if next != nil && !w.visit(next, v, own) {
			return false
		}
	}
	return w.err == nil
}

// matching counts the rules by which v is valid, up to most; with positions recorded, all of
// an anyOf are evaluated.
func (w *work) matching(rules []*rule, v *jsonvalue.Value, own *evaluated, most int) int {
	found := 0
	for _, sub := range rules {
		var seen *evaluated
		if own != nil {
			w.spend(len(own.bits))
			seen = newEvaluated(v)
		}
		if w.visit(sub, v, seen) {
			found++
			if own != nil {
				own.add(seen)
			}
		}
		if w.err != nil {
			return 0
		}
		if found >= most && (own == nil || most > 1) {
			break
		}
	}
	return found
}

// unevaluated validates the parts of v that no other subschema has evaluated.
func (w *work) unevaluated(r *rule, v *jsonvalue.Value, own *evaluated) bool {
	if v.Kind() == jsonvalue.Object {
		for i, m := range v.Members() {
			if !own.has(i) && !w.accepts(r.unevaluatedProperties, m.Value) {
				return false
			}
		}
		return true
	}
	for i, item := range v.Items() {
		if !own.has(i) && !w.accepts(r.unevaluatedItems, item) {
			return false
		}
	}
	return true
}
