package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// reading is one way to understand a value: what it becomes, and the edits.
type reading struct {
	value any
	edits Receipt
}

// value returns v as sch wants it, or as it is when that is not certain. v
// itself is never changed.
func (p *preparation) value(sch *jsonschema.Schema, v any, path string) any {
	if p.budget--; p.budget < 0 || sch == nil || accepts(sch, v) {
		return v
	}
	sh := shapeOf(sch)
	var readings []reading
	for _, choice := range sh.choices {
		readings = append(readings, p.try(func() any { return p.value(choice, v, path) }))
	}
	readings = append(readings, p.convert(sch, sh, v, path)...)
	readings = append(readings, p.try(func() any { return p.parts(sh, v, path) }))

	if r, ok := only(readings, func(r reading) bool { return accepts(sch, r.value) }); ok {
		p.edits = append(p.edits, r.edits...)
		return r.value
	}
	// Nothing fits. The one reading of a right kind makes the better message.
	if r, ok := only(readings, func(r reading) bool { return sh.allows(kindOf(r.value)) }); ok {
		p.edits = append(p.edits, r.edits...)
		return r.value
	}
	return v
}

// try runs read and takes its edits back.
func (p *preparation) try(read func() any) reading {
	before := len(p.edits)
	v := read()
	r := reading{v, slices.Clone(p.edits[before:])}
	p.edits = p.edits[:before]
	return r
}

// only returns the one value among the readings that pass, however often it
// was arrived at; the shortest way to it counts.
func only(readings []reading, pass func(reading) bool) (reading, bool) {
	var found *reading
	var key []byte
	for i, r := range readings {
		if !pass(r) {
			continue
		}
		raw, err := encode(r.value)
		if err != nil {
			continue
		}
		switch {
		case found == nil:
			found, key = &readings[i], raw
		case !bytes.Equal(key, raw):
			return reading{}, false
		case len(r.edits) < len(found.edits):
			found = &readings[i]
		}
	}
	if found == nil {
		return reading{}, false
	}
	return *found, true
}

// parts coerces the properties or items of v.
func (p *preparation) parts(sh *shape, v any, path string) any {
	switch v := v.(type) {
	case map[string]any:
		return p.object(sh, v, path)
	case []any:
		out := slices.Clone(v)
		for i, item := range v {
			out[i] = p.value(sh.item(i), item, path+"/"+strconv.Itoa(i))
		}
		return out
	default:
		return v
	}
}

// object coerces names and values of properties.
func (p *preparation) object(sh *shape, v map[string]any, path string) any {
	out := maps.Clone(v)
	p.respell(sh, out, path)
	p.dealias(sh, out, path)
	for _, name := range slices.Sorted(maps.Keys(out)) {
		sub, declared := sh.props[name]
		if !declared && !sh.declares(name) {
			sub = sh.extra
		}
		at := path + "/" + escapeToken(name)
		if out[name] == nil && declared && !slices.Contains(sh.required, name) && !accepts(sub, nil) {
			delete(out, name)
			p.edit(at, "null", "nothing", RuleDropNull)
			continue
		}
		out[name] = p.value(sub, out[name], at)
	}
	return out
}

// convert lists what v of a wrong kind may have been meant to be.
func (p *preparation) convert(sch *jsonschema.Schema, sh *shape, v any, path string) []reading {
	kind := kindOf(v)
	var out []reading
	add := func(w any, rule Rule) {
		out = append(out, p.try(func() any {
			p.edit(path, kind, kindOf(w), rule)
			return p.parts(sh, w, path)
		}))
	}
	if text, ok := v.(string); ok {
		for _, member := range spellings(sh.enum, text) {
			add(member, RuleEnum)
		}
	}
	if sh.allows(kind) {
		return out
	}
	switch v := v.(type) {
	case string:
		if w, rule, ok := scalarOf(sh, v); ok {
			add(w, rule)
		}
		if w, ok := structureOf(v); ok && sh.wants(kindOf(w)) && !tooCostly(sch, w) {
			add(w, RuleJSONText)
			return out
		}
		if sh.wants("array") && isOneItem(v) {
			add([]any{v}, RuleList)
		}
		return out
	case json.Number:
		if sh.wants("string") {
			add(string(v), RuleText)
		}
	case bool:
		if sh.wants("string") {
			add(strconv.FormatBool(v), RuleText)
		}
	case []any:
		if len(v) == 1 {
			out = append(out, p.try(func() any {
				p.edit(path, kind, kindOf(v[0]), RuleSingle)
				return p.value(sch, v[0], path)
			}))
		}
	}
	if sh.wants("array") && v != nil {
		add([]any{v}, RuleList)
	}
	return out
}
