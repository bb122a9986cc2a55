package schema

import (
	"slices"
	"strconv"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// value coerces v to r, or returns it unchanged when that is ambiguous. The result depends
// on r and v alone and is cached.
func (p *preparation) value(r *rule, v *jsonvalue.Value) reading {
	asIs := reading{value: v}
	if r == nil || p.work.accepts(r, v) || !p.work.spend(4) {
		return asIs
	}
	key := visit{r, v}
	if known, ok := p.readings[key]; ok {
		return known // Also while it is being coerced: schemas may be recursive.
	}
	p.work.frames++
	defer func() { p.work.frames-- }()
	if len(p.readings) >= maxVerdicts || p.work.frames > maxFrames {
		p.work.err = tooCostly()
		return asIs
	}
	p.readings[key] = asIs
	found := p.interpret(r, v)
	p.readings[key] = found
	return found
}

func (p *preparation) interpret(r *rule, v *jsonvalue.Value) reading {
	sh := p.shape(r)
	var readings []reading
	for _, choice := range sh.choices {
		readings = append(readings, p.value(choice, v))
	}
	readings = append(readings, p.convert(r, sh, v)...)
	readings = append(readings, p.parts(sh, v))

	if found, ok := p.only(readings, func(read reading) bool { return p.work.accepts(r, read.value) }); ok {
		return found
	}
	// No reading is valid. The only one of an allowed kind gives the better message.
	if found, ok := p.only(readings, func(read reading) bool { return sh.allows(kindName(read.value)) }); ok {
		return found
	}
	return reading{value: v}
}

// only returns the one distinct value among the readings that pass, with the shortest
// trail; none if there are several.
func (p *preparation) only(readings []reading, pass func(reading) bool) (reading, bool) {
	var found *reading
	for i, r := range readings {
		if !pass(r) {
			continue
		}
		switch {
		case found == nil:
			found = &readings[i]
		case !p.work.same(found.value, r.value):
			return reading{}, false
		case r.trail.count < found.trail.count:
			found = &readings[i]
		}
	}
	if found == nil || p.work.err != nil {
		return reading{}, false
	}
	return *found, true
}

// same reports whether two values are equal, spelling included.
func (w *work) same(a, b *jsonvalue.Value) bool {
	if a == b {
		return true
	}
	if !w.spend(1) || a.Kind() != b.Kind() || a.Text() != b.Text() || a.Len() != b.Len() {
		return false
	}
	others := b.Items()
	for i, item := range a.Items() {
		if !w.same(item, others[i]) {
			return false
		}
	}
	named := b.Members()
	for i, m := range a.Members() {
		if m.Name != named[i].Name || !w.same(m.Value, named[i].Value) {
			return false
		}
	}
	return true
}

// parts coerces the members or items of v.
func (p *preparation) parts(sh *shape, v *jsonvalue.Value) reading {
	switch v.Kind() {
	case jsonvalue.Object:
		return p.object(sh, v)
	case jsonvalue.Array:
		return p.array(sh, v)
	case jsonvalue.Null, jsonvalue.False, jsonvalue.True, jsonvalue.Number, jsonvalue.String:
	}
	return reading{value: v}
}

func (p *preparation) array(sh *shape, v *jsonvalue.Value) reading {
	var t trail
	var out []*jsonvalue.Value // Nil while nothing changed.
	p.work.spend(v.Len() / 4)
	for i, item := range v.Items() {
		read := p.value(sh.item(i), item)
		if read.value != item && out == nil {
			out = slices.Clone(v.Items())
		}
		if out != nil {
			out[i] = read.value
		}
		t.include("/"+strconv.Itoa(i), read.trail)
	}
	if out == nil {
		return reading{value: v}
	}
	return reading{jsonvalue.NewArray(out), t}
}

// object coerces names and values of members.
func (p *preparation) object(sh *shape, v *jsonvalue.Value) reading {
	if !p.work.spend(6 * v.Len()) {
		return reading{value: v}
	}
	o := newObjectReading(v)
	p.respell(sh, o)
	p.dealias(sh, o)
	for _, name := range o.sorted() {
		item := o.members[name]
		sub, declared := sh.props[name]
		if !declared && !sh.declares(p.work, name) {
			sub = sh.extra
		}
		at := "/" + jsonpointer.Escape(name)
		if item.Kind() == jsonvalue.Null && declared && !slices.Contains(sh.required, name) && !p.work.accepts(sub, item) {
			delete(o.members, name)
			o.changed = true
			o.trail.record(at, "null", "nothing", RuleDropNull)
			continue
		}
		read := p.value(sub, item)
		o.changed = o.changed || read.value != item
		o.members[name] = read.value
		o.trail.include(at, read.trail)
	}
	if !o.changed {
		return reading{value: v}
	}
	return reading{o.value(), o.trail}
}

// convert lists the possible readings of v of a wrong kind.
func (p *preparation) convert(r *rule, sh *shape, v *jsonvalue.Value) []reading {
	kind := kindName(v)
	var out []reading
	add := func(w *jsonvalue.Value, rule Rule) {
		var t trail
		t.record("", kind, kindName(w), rule)
		read := p.parts(sh, w)
		t.include("", read.trail)
		out = append(out, reading{read.value, t})
	}
	if v.Kind() == jsonvalue.String {
		for _, member := range p.spellings(sh, v.Text()) {
			add(member, RuleEnum)
		}
	}
	if sh.allows(kind) {
		return out
	}
	switch v.Kind() {
	case jsonvalue.String:
		if w, rule, ok := scalarOf(sh, v.Text()); ok {
			add(w, rule)
		}
		if w := p.structureOf(v); w != nil && sh.wants(kindName(w)) {
			add(w, RuleJSONText)
			return out
		}
		if sh.wants("array") && isOneItem(v.Text()) {
			add(jsonvalue.NewArray([]*jsonvalue.Value{v}), RuleList)
		}
		return out
	case jsonvalue.Number:
		if sh.wants("string") {
			add(jsonvalue.NewString(v.Text()), RuleText)
		}
	case jsonvalue.True, jsonvalue.False:
		if sh.wants("string") {
			add(jsonvalue.NewString(strconv.FormatBool(v.Kind() == jsonvalue.True)), RuleText)
		}
	case jsonvalue.Array:
		if v.Len() == 1 {
			var t trail
			t.record("", kind, kindName(v.Items()[0]), RuleSingle)
			read := p.value(r, v.Items()[0])
			t.include("", read.trail)
			out = append(out, reading{read.value, t})
		}
	case jsonvalue.Null, jsonvalue.Object:
	}
	if sh.wants("array") && v.Kind() != jsonvalue.Null {
		add(jsonvalue.NewArray([]*jsonvalue.Value{v}), RuleList)
	}
	return out
}
