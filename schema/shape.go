package schema

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// shape is a summary of a subschema, with references and allOf followed: enough to guess the
// intended value of a wrong one. Validation decides whether a guess is right.
type shape struct {
	types    []string // Nil for any.
	props    map[string]*rule
	required []string
	closed   bool // Undeclared properties are refused.
	extra    *rule
	items    *rule
	prefix   []*rule
	enum     []*jsonvalue.Value
	spelled  map[string][]*jsonvalue.Value // Members of enum by folded spelling, computed on demand.
	choices  []*rule                       // Of anyOf or oneOf.
	parts    []*rule
}

// maxParts bounds the subschemas that a shape summarizes.
const maxParts = 64

// shape returns the shape of r; of "anything" when r is nil.
func (p *preparation) shape(r *rule) *shape {
	if sh, ok := p.shapes[r]; ok {
		return sh
	}
	sh := &shape{props: make(map[string]*rule)}
	sh.add(r)
	slices.Sort(sh.required)
	sh.required = slices.Compact(sh.required)
	p.shapes[r] = sh
	p.work.spend(4 + len(sh.parts) + 2*len(sh.props) + len(sh.enum)/4)
	return sh
}

func (sh *shape) add(r *rule) {
	if r == nil || r.src == nil || len(sh.parts) >= maxParts || slices.Contains(sh.parts, r) {
		return
	}
	sh.parts = append(sh.parts, r)
	sh.narrow(r.src.Types)
	for name, sub := range r.properties {
		if _, ok := sh.props[name]; !ok {
			sh.props[name] = sub
		}
	}
	sh.required = append(sh.required, r.required...)
	switch {
	case r.additional == nil || r.additional.always == always:
	case r.additional.always == never:
		sh.closed = true
	default:
		sh.extra = r.additional
	}
	sh.closed = sh.closed || r.unevaluatedProperties != nil && r.unevaluatedProperties.always == never
	if sh.items == nil {
		sh.items = r.items
	}
	if sh.prefix == nil {
		sh.prefix = r.prefix
	}
	if sh.enum == nil {
		sh.enum = append(r.enum.values(), r.constant.values()...)
	}
	if sh.choices == nil {
		sh.choices = append(slices.Clone(r.anyOf), r.oneOf...)
	}
	sh.add(r.ref)
	for _, sub := range r.all {
		sh.add(sub)
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

// allows reports whether values of kind may be valid.
func (sh *shape) allows(kind string) bool {
	if sh.types == nil || slices.Contains(sh.types, kind) {
		return true
	}
	return kind == "integer" && slices.Contains(sh.types, "number") ||
		kind == "number" && slices.Contains(sh.types, "integer") // Such as 5.0.
}

// wants reports whether the schema lists kind as a type.
func (sh *shape) wants(kind string) bool { return sh.types != nil && sh.allows(kind) }

// soleRequired returns the one required property; an empty name for none or several.
func (sh *shape) soleRequired() (string, *rule) {
	if len(sh.required) != 1 {
		return "", nil
	}
	return sh.required[0], sh.props[sh.required[0]]
}

// declares reports whether the schema declares a property called name.
func (sh *shape) declares(w *work, name string) bool {
	if _, ok := sh.props[name]; ok {
		return true
	}
	for _, part := range sh.parts {
		for _, p := range part.patterns {
			if w.matches(p.pattern, p.size, name) {
				return true
			}
		}
	}
	return false
}

// item returns the rule of the item at i; nil for any.
func (sh *shape) item(i int) *rule {
	if i < len(sh.prefix) {
		return sh.prefix[i]
	}
	return sh.items
}

var folder = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

// fold normalizes the spelling of a name.
func fold(name string) string { return strings.ToLower(folder.Replace(name)) }
