package schema

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/schema/jsonvalue"
	"github.com/toolcrib/toolcrib/tool"
)

// explainer lists the reasons why a value is invalid, up to a maximum, or until the budget is
// used up.
type explainer struct {
	schema   *Schema
	work     *work
	most     int
	problems []problem
}

// place is the position of a value. Its path is computed only for reported problems.
type place struct {
	parent *place
	name   string // Of a member.
	index  int    // Of an item; -1 for a member.
}

func (p *place) member(name string) *place { return &place{parent: p, name: name, index: -1} }
func (p *place) item(i int) *place         { return &place{parent: p, index: i} }

// String returns the JSON Pointer.
func (p *place) String() string {
	var names []string
	for ; p != nil; p = p.parent {
		if p.index >= 0 {
			names = append(names, strconv.Itoa(p.index))
		} else {
			names = append(names, jsonpointer.Escape(tool.Clip(p.name, 240)))
		}
	}
	var out strings.Builder
	for _, name := range slices.Backward(names) {
		out.WriteString("/" + name)
	}
	return out.String()
}

func (e *explainer) add(at *place, expected string, v *jsonvalue.Value) {
	got := "nothing"
	if v != nil {
		got = describe(v)
	}
	if e.work.spend(10) && len(e.problems) < e.most {
		e.problems = append(e.problems, problem{at: at, expected: expected, got: got})
	}
}

func (e *explainer) done() bool { return len(e.problems) >= e.most || e.work.err != nil }

// misses reports whether v is invalid by r, within the budget.
func (e *explainer) misses(r *rule, v *jsonvalue.Value) bool {
	return r != nil && !e.done() && !e.work.accepts(r, v) && e.work.err == nil
}

// inspect explains v by r if it is invalid.
func (e *explainer) inspect(r *rule, v *jsonvalue.Value, at *place) {
	if e.misses(r, v) {
		e.explain(r, v, at)
	}
}

// node returns the source of a rule.
func (e *explainer) node(r *rule) map[string]any {
	node, _ := lookup(e.schema.doc, fragment(r.src.Location))
	m, _ := node.(map[string]any)
	return m
}

// explain lists why v is invalid by r.
func (e *explainer) explain(r *rule, v *jsonvalue.Value, at *place) {
	if !e.work.spend(2) {
		return
	}
	if r.always == never {
		e.add(at, "no value here", v)
		return
	}
	m := e.node(r)
	if !r.takes(v) {
		e.add(at, expectation("type", m), v)
		if n := len(e.problems); n > 0 {
			e.problems[n-1].mistyped = true
		}
		return
	}
	before := len(e.problems)
	for _, keyword := range e.work.failing(r, v) {
		e.add(at, expectation(keyword, m), v)
	}
	switch v.Kind() {
	case jsonvalue.Object:
		e.object(r, v, at)
	case jsonvalue.Array:
		for i, item := range v.Items() {
			if e.misses(r.item(i), item) {
				e.explain(r.item(i), item, at.item(i))
			}
		}
	case jsonvalue.Null, jsonvalue.False, jsonvalue.True, jsonvalue.Number, jsonvalue.String:
	}
	e.inPlace(r, v, at)
	if len(e.problems) == before && !e.done() {
		e.leftOver(r, v, at)
	}
}

func (e *explainer) inPlace(r *rule, v *jsonvalue.Value, at *place) {
	e.inspect(r.ref, v, at)
	for _, sub := range r.all {
		e.inspect(sub, v, at)
	}
	if r.not != nil && e.work.accepts(r.not, v) {
		e.add(at, expectation("not", nil), v)
	}
	if r.anyOf != nil && e.work.matching(r.anyOf, v, nil, 1) == 0 && !e.done() {
		e.alternatives(r.anyOf, v, at)
	}
	if r.oneOf != nil {
		switch n := e.work.matching(r.oneOf, v, nil, 2); {
		case e.done():
		case n == 0:
			e.alternatives(r.oneOf, v, at)
		case n > 1:
			e.add(at, expectation("oneOf", nil), v)
		}
	}
	if r.when != nil {
		if e.work.accepts(r.when, v) {
			e.inspect(r.then, v, at)
		} else {
			e.inspect(r.otherwise, v, at)
		}
	}
}

// alternatives explains a failed anyOf or oneOf by the one branch that the value is probably
// meant for, if there is one.
func (e *explainer) alternatives(branches []*rule, v *jsonvalue.Value, at *place) {
	var meant [][]problem
	typed := true
	var kinds []string
	for _, branch := range branches {
		try := &explainer{schema: e.schema, work: e.work, most: maxBranchTrys}
		try.explain(branch, v, at)
		if len(try.problems) > 0 && !(try.problems[0].mistyped && try.problems[0].at == at) {
			meant = append(meant, try.problems)
		}
		var m map[string]any
		if branch.src != nil {
			m = e.node(branch)
		}
		typed = typed && m["type"] != nil
		if m["type"] != nil {
			kinds = append(kinds, expectation("type", m))
		}
	}
	if len(meant) == 1 && e.work.err == nil {
		e.problems = append(e.problems, meant[0]...)
		return
	}
	expected := fmt.Sprintf("one of %d forms", len(branches))
	if typed && len(kinds) > 0 {
		slices.Sort(kinds)
		expected = tool.Clip(strings.Join(slices.Compact(kinds), " or "), 120)
	}
	e.add(at, expected, v)
}

// object explains the members of an object.
func (e *explainer) object(r *rule, v *jsonvalue.Value, at *place) {
	for _, name := range r.required {
		if v.Index(name) < 0 {
			expected := "a value (it is required)"
			if sub := r.properties[name]; sub != nil && sub.always == undecided && e.node(sub)["type"] != nil {
				expected = expectation("type", e.node(sub)) + " (it is required)"
			}
			e.add(at.member(name), expected, nil)
		}
	}
	for _, m := range v.Members() {
		if e.done() {
			return
		}
		if name := jsonvalue.NewString(m.Name); e.misses(r.propertyNames, name) {
			e.explain(r.propertyNames, name, at.member(m.Name))
		}
		sub, declared := r.properties[m.Name]
		if e.misses(sub, m.Value) {
			e.explain(sub, m.Value, at.member(m.Name))
		}
		for _, p := range r.patterns {
			if e.work.matches(p.pattern, p.size, m.Name) {
				declared = true
				if e.misses(p.rule, m.Value) {
					e.explain(p.rule, m.Value, at.member(m.Name))
				}
			}
		}
		switch {
		case declared || r.additional == nil:
		case r.additional.always == never:
			e.add(at.member(tool.Clip(m.Name, 40)), surplus(r), m.Value)
		case e.misses(r.additional, m.Value):
			e.explain(r.additional, m.Value, at.member(m.Name))
		}
	}
	for _, d := range r.dependents {
		if v.Index(d.name) < 0 {
			continue
		}
		for _, name := range d.required {
			if v.Index(name) < 0 {
				e.add(at.member(name), fmt.Sprintf("a value (it is required beside %s)", tool.Clip(d.name, 40)), nil)
			}
		}
		e.inspect(d.rule, v, at)
	}
}

// surplus describes the allowed properties.
func surplus(r *rule) string {
	expected := "no such property"
	if len(r.properties) > 0 {
		expected += fmt.Sprintf(" (there are %s)", tool.Clip(strings.Join(slices.Sorted(maps.Keys(r.properties)), ", "), 160))
	}
	return expected
}

// leftOver explains unevaluated parts.
func (e *explainer) leftOver(r *rule, v *jsonvalue.Value, at *place) {
	open := *r
	open.unevaluatedProperties, open.unevaluatedItems = nil, nil
	seen := newEvaluated(v)
	if !e.work.meets(&open, v, seen) {
		return
	}
	for i, m := range v.Members() {
		if !seen.has(i) && r.unevaluatedProperties != nil && !e.work.accepts(r.unevaluatedProperties, m.Value) {
			if r.unevaluatedProperties.always == never {
				e.add(at.member(m.Name), surplus(r), m.Value)
			} else {
				e.explain(r.unevaluatedProperties, m.Value, at.member(m.Name))
			}
		}
	}
	for i, item := range v.Items() {
		if !seen.has(i) && e.misses(r.unevaluatedItems, item) {
			e.explain(r.unevaluatedItems, item, at.item(i))
		}
	}
}

// failing lists the failed keywords about v itself, not about its parts.
func (w *work) failing(r *rule, v *jsonvalue.Value) []string {
	var out []string
	check := func(keyword string, ok bool) {
		if !ok && w.err == nil {
			out = append(out, keyword)
		}
	}
	s := r.src
	check("const", r.constant == nil || r.constant.has(w, v))
	check("enum", r.enum == nil || r.enum.has(w, v))
	n := v.Len()
	switch v.Kind() {
	case jsonvalue.Object:
		check("minProperties", n >= s.MinProperties)
		check("maxProperties", s.MaxProperties == -1 || n <= s.MaxProperties)
	case jsonvalue.Array:
		check("minItems", n >= s.MinItems)
		check("maxItems", s.MaxItems == -1 || n <= s.MaxItems)
		check("uniqueItems", !s.UniqueItems || w.distinct(v.Items()))
		check("contains", r.contains == nil || w.contains(r, v, nil))
	case jsonvalue.String:
		length := utf8.RuneCountInString(v.Text())
		check("minLength", length >= s.MinLength)
		check("maxLength", s.MaxLength == -1 || length <= s.MaxLength)
		check("pattern", r.pattern == nil || w.matches(r.pattern, r.patternSize, v.Text()))
		check("format", w.formatted(r, v.Text()))
		check("contentEncoding", w.content(s, v.Text()))
	case jsonvalue.Number:
		w.spend(5 + len(v.Text()))
		x := rational(v.Text())
		check("minimum", s.Minimum == nil || x.Cmp(s.Minimum) >= 0)
		check("maximum", s.Maximum == nil || x.Cmp(s.Maximum) <= 0)
		check("exclusiveMinimum", s.ExclusiveMinimum == nil || x.Cmp(s.ExclusiveMinimum) > 0)
		check("exclusiveMaximum", s.ExclusiveMaximum == nil || x.Cmp(s.ExclusiveMaximum) < 0)
		check("multipleOf", s.MultipleOf == nil || new(big.Rat).Quo(x, s.MultipleOf).IsInt())
	case jsonvalue.Null, jsonvalue.False, jsonvalue.True:
	}
	return out
}
