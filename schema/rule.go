package schema

import (
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// Whether a rule accepts or refuses every value.
const (
	undecided = iota
	always
	never
)

// rule is a subschema compiled for validation. Rules form a graph like that of the compiled
// schema. They are immutable.
type rule struct {
	src    *jsonschema.Schema
	always int

	kinds    kindSet // Empty for any.
	enum     *choice // Of enum.
	constant *choice
	format   func(any) bool

	properties    map[string]*rule
	required      []string
	patterns      []patternRule
	additional    *rule
	propertyNames *rule
	dependents    []dependent

	items       *rule
	prefix      []*rule
	beyond      *rule // Of items after prefix, in draft 7.
	contains    *rule
	pattern     *regexp.Regexp
	patternSize int

	ref, not, when, then, otherwise *rule
	all, anyOf, oneOf               []*rule

	unevaluatedProperties, unevaluatedItems *rule
}

type patternRule struct {
	pattern *regexp.Regexp
	size    int
	rule    *rule
}

// dependent are requirements if a member is present.
type dependent struct {
	name     string
	required []string
	rule     *rule // nil when only names are required.
}

// ruler compiles schemas to rules.
type ruler struct {
	rules map[*jsonschema.Schema]*rule
	meta  *jsonschema.Schema // The meta-schema of 2020-12, if it is referenced.
}

// metaURL is the URL of the meta-schema; its parts refer to it dynamically.
const metaURL = "https://json-schema.org/draft/2020-12/schema"

func newRule(root *jsonschema.Schema, graph map[*jsonschema.Schema]int) *rule {
	c := &ruler{rules: make(map[*jsonschema.Schema]*rule, len(graph))}
	for s := range graph {
		if strings.TrimSuffix(s.Location, "#") == metaURL {
			c.meta = s
		}
	}
	return c.rule(root)
}

func (c *ruler) rule(s *jsonschema.Schema) *rule {
	if s == nil {
		return nil
	}
	if r, ok := c.rules[s]; ok {
		return r
	}
	r := &rule{src: s}
	c.rules[s] = r
	if s.Always != nil {
		r.always = never
		if *s.Always {
			r.always = always
		}
		return r
	}
	r.kinds = kindsOf(s.Types)
	r.enum, r.constant = newChoice(s.Enum), newChoice(s.Constant)
	if s.Draft == jsonschema.Draft7 {
		r.format = jsonschema.Formats[s.Format]
	}
	c.object(r, s)
	c.array(r, s)
	if s.Pattern != nil {
		r.pattern, r.patternSize = s.Pattern, sizeOf(s.Pattern)
	}
	r.ref = c.rule(s.Ref)
	if s.DynamicRef != nil {
		target := s.DynamicRef
		if c.meta != nil && strings.Contains(s.Location, "://json-schema.org/") {
			target = c.meta // The outermost place that has the anchor.
		}
		r.all = append(r.all, c.rule(target))
	}
	r.not, r.when, r.then, r.otherwise = c.rule(s.Not), c.rule(s.If), c.rule(s.Then), c.rule(s.Else)
	r.all = append(r.all, c.list(s.AllOf)...)
	r.anyOf, r.oneOf = c.list(s.AnyOf), c.list(s.OneOf)
	r.unevaluatedProperties, r.unevaluatedItems = c.rule(s.UnevaluatedProperties), c.rule(s.UnevaluatedItems)
	return r
}

func (c *ruler) list(schemas []*jsonschema.Schema) []*rule {
	var out []*rule
	for _, s := range schemas {
		out = append(out, c.rule(s))
	}
	return out
}

func (c *ruler) object(r *rule, s *jsonschema.Schema) {
	if len(s.Properties) > 0 {
		r.properties = make(map[string]*rule, len(s.Properties))
		for name, sub := range s.Properties {
			r.properties[name] = c.rule(sub)
		}
	}
	r.required = s.Required
	for pattern, sub := range s.PatternProperties {
		r.patterns = append(r.patterns, patternRule{pattern, sizeOf(pattern), c.rule(sub)})
	}
	slices.SortFunc(r.patterns, func(a, b patternRule) int {
		return strings.Compare(a.pattern.String(), b.pattern.String())
	})
	r.additional = c.either(s.AdditionalProperties)
	r.propertyNames = c.rule(s.PropertyNames)
	for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
		d := dependent{name: name}
		switch of := s.Dependencies[name].(type) {
		case []string:
			d.required = of
		case *jsonschema.Schema:
			d.rule = c.rule(of)
		}
		r.dependents = append(r.dependents, d)
	}
	for _, name := range slices.Sorted(maps.Keys(s.DependentRequired)) {
		r.dependents = append(r.dependents, dependent{name: name, required: s.DependentRequired[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(s.DependentSchemas)) {
		r.dependents = append(r.dependents, dependent{name: name, rule: c.rule(s.DependentSchemas[name])})
	}
}

func (c *ruler) array(r *rule, s *jsonschema.Schema) {
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		r.items = c.rule(items)
	case []*jsonschema.Schema:
		r.prefix = c.list(items)
		r.beyond = c.either(s.AdditionalItems)
	}
	if s.PrefixItems != nil {
		r.prefix = c.list(s.PrefixItems)
	}
	if s.Items2020 != nil && r.prefix != nil {
		r.beyond = c.rule(s.Items2020)
	} else if s.Items2020 != nil {
		r.items = c.rule(s.Items2020)
	}
	if s.MinContains != -1 || s.MaxContains != -1 {
		r.contains = c.rule(s.Contains)
	}
}

// either returns the rule of a boolean or a schema; nil for nil.
func (c *ruler) either(of any) *rule {
	switch of := of.(type) {
	case bool:
		if of {
			return &rule{always: always}
		}
		return &rule{always: never}
	case *jsonschema.Schema:
		return c.rule(of)
	default:
		return nil
	}
}

// item returns the rule of the item at i; nil for any.
func (r *rule) item(i int) *rule {
	switch {
	case r.items != nil:
		return r.items
	case i < len(r.prefix):
		return r.prefix[i]
	default:
		return r.beyond
	}
}

// takes reports whether the rule allows v's type.
func (r *rule) takes(v *jsonvalue.Value) bool {
	return r.kinds == 0 || r.kinds.has(v)
}

// kindSet is a bit set of JSON types; integer has its own bit.
type kindSet uint16

const integerBit kindSet = 1 << 15

func kindsOf(types []string) kindSet {
	var set kindSet
	for _, t := range types {
		switch t {
		case "null":
			set |= 1 << jsonvalue.Null
		case "boolean":
			set |= 1<<jsonvalue.True | 1<<jsonvalue.False
		case "number":
			set |= 1 << jsonvalue.Number
		case "integer":
			set |= integerBit
		case "string":
			set |= 1 << jsonvalue.String
		case "array":
			set |= 1 << jsonvalue.Array
		case "object":
			set |= 1 << jsonvalue.Object
		}
	}
	return set
}

func (set kindSet) has(v *jsonvalue.Value) bool {
	if set&(1<<v.Kind()) != 0 {
		return true
	}
	return set&integerBit != 0 && v.Kind() == jsonvalue.Number && isInteger(v.Text())
}

// isInteger reports whether a number is an integer; 3.0 and 1e3 are.
func isInteger(literal string) bool {
	return !strings.ContainsAny(literal, ".eE") || jsonvalue.DecimalOf(literal).Integer()
}

// sizeOf is [patternSize] of a compiled pattern.
func sizeOf(re *regexp.Regexp) int {
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil { // It was compiled before.
		return maxPatternSize
	}
	return patternSize(parsed)
}
