package schema

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// shape is what a compiled schema says of a value in the open, references and
// allOf followed: enough to guess what a wrong value was meant to be. Whether
// a guess is right, only validation tells.
type shape struct {
	types    []string // Nil for any.
	props    map[string]*jsonschema.Schema
	required []string
	closed   bool // Undeclared properties are refused.
	extra    *jsonschema.Schema
	items    *jsonschema.Schema
	prefix   []*jsonschema.Schema
	enum     []any
	choices  []*jsonschema.Schema // Of anyOf or oneOf.
	parts    []*jsonschema.Schema
}

// maxParts bounds how many schemas a shape is put together from.
const maxParts = 64

// shapeOf returns the shape of s; that of "anything" when s is nil.
func shapeOf(s *jsonschema.Schema) *shape {
	sh := &shape{props: make(map[string]*jsonschema.Schema)}
	sh.add(s)
	slices.Sort(sh.required)
	sh.required = slices.Compact(sh.required)
	return sh
}

func (sh *shape) add(s *jsonschema.Schema) {
	if s == nil || len(sh.parts) >= maxParts || slices.Contains(sh.parts, s) {
		return
	}
	sh.parts = append(sh.parts, s)
	sh.narrow(s.Types)
	for name, sub := range s.Properties {
		if _, ok := sh.props[name]; !ok {
			sh.props[name] = sub
		}
	}
	sh.required = append(sh.required, s.Required...)
	switch extra := s.AdditionalProperties.(type) {
	case bool:
		sh.closed = sh.closed || !extra
	case *jsonschema.Schema:
		sh.extra = extra
	}
	if u := s.UnevaluatedProperties; u != nil && u.Always != nil && !*u.Always {
		sh.closed = true
	}
	sh.addItems(s)
	if sh.enum == nil {
		sh.enum = append(slices.Clone(s.Enum), s.Constant...)
	}
	if sh.choices == nil {
		sh.choices = append(slices.Clone(s.AnyOf), s.OneOf...)
	}
	sh.add(s.Ref)
	sh.add(s.DynamicRef)
	for _, sub := range s.AllOf {
		sh.add(sub)
	}
}

func (sh *shape) addItems(s *jsonschema.Schema) {
	if items, ok := s.Items.(*jsonschema.Schema); ok && sh.items == nil {
		sh.items = items
	}
	if s.Items2020 != nil && sh.items == nil {
		sh.items = s.Items2020
	}
	if prefix, ok := s.Items.([]*jsonschema.Schema); ok && sh.prefix == nil {
		sh.prefix = prefix
	}
	if s.PrefixItems != nil && sh.prefix == nil {
		sh.prefix = s.PrefixItems
	}
}

// narrow intersects the types. An integer is a number.
func (sh *shape) narrow(types []string) {
	if types == nil {
		return
	}
	if sh.types == nil {
		sh.types = types
		return
	}
	both := []string{}
	for _, t := range types {
		if slices.Contains(sh.types, t) || t == "integer" && slices.Contains(sh.types, "number") {
			both = append(both, t)
		}
	}
	if slices.Contains(sh.types, "integer") && slices.Contains(types, "number") && !slices.Contains(both, "integer") {
		both = append(both, "integer")
	}
	sh.types = both
}

// allows reports whether values of kind may meet the schema.
func (sh *shape) allows(kind string) bool {
	if sh.types == nil || slices.Contains(sh.types, kind) {
		return true
	}
	return kind == "integer" && slices.Contains(sh.types, "number") ||
		kind == "number" && slices.Contains(sh.types, "integer") // Such as 5.0.
}

// wants reports whether the schema names kind as one of the types.
func (sh *shape) wants(kind string) bool { return sh.types != nil && sh.allows(kind) }

// soleRequired returns the one required property; no name when there are more
// or none.
func (sh *shape) soleRequired() (string, *jsonschema.Schema) {
	if len(sh.required) != 1 {
		return "", nil
	}
	return sh.required[0], sh.props[sh.required[0]]
}

// declares reports whether the schema speaks of a property called name.
func (sh *shape) declares(name string) bool {
	if _, ok := sh.props[name]; ok {
		return true
	}
	for _, part := range sh.parts {
		for pattern := range part.PatternProperties {
			if pattern.MatchString(name) {
				return true
			}
		}
	}
	return false
}

// item returns the schema of the item at i; nil for any.
func (sh *shape) item(i int) *jsonschema.Schema {
	if i < len(sh.prefix) {
		return sh.prefix[i]
	}
	return sh.items
}

// fold makes spellings of a name alike.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(name))
}
