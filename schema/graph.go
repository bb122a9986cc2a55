package schema

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// maxWeight is how many steps a schema may cost per value without recursion.
const maxWeight = 100_000

// edge leads from a compiled schema to one it applies.
type edge struct {
	to *jsonschema.Schema
	// in gives the values the schema is applied to, of the value at hand.
	in func(n *node) []*node
}

// edges lists what s applies: to the same value, or to its parts.
func edges(s *jsonschema.Schema) []edge {
	var out []edge
	add := func(to *jsonschema.Schema, in func(*node) []*node) {
		if to != nil {
			out = append(out, edge{to, in})
		}
	}
	for _, sub := range []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.DynamicRef, s.Not, s.If, s.Then, s.Else} {
		add(sub, itself)
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, sub := range list {
			add(sub, itself)
		}
	}
	for _, sub := range s.DependentSchemas {
		add(sub, itself)
	}
	for _, sub := range s.Dependencies {
		if sub, ok := sub.(*jsonschema.Schema); ok {
			add(sub, itself)
		}
	}
	for name, sub := range s.Properties {
		add(sub, func(n *node) []*node { return n.property(name) })
	}
	for _, sub := range s.PatternProperties {
		add(sub, everyProperty)
	}
	if sub, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		add(sub, everyProperty)
	}
	add(s.UnevaluatedProperties, everyProperty)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		add(items, everyItem)
	case []*jsonschema.Schema:
		for i, sub := range items {
			add(sub, func(n *node) []*node { return n.item(i) })
		}
	}
	if sub, ok := s.AdditionalItems.(*jsonschema.Schema); ok {
		add(sub, everyItem)
	}
	for i, sub := range s.PrefixItems {
		add(sub, func(n *node) []*node { return n.item(i) })
	}
	add(s.Items2020, everyItem)
	add(s.Contains, everyItem)
	add(s.UnevaluatedItems, everyItem)
	return out
}

// checkGraph refuses references into places that were not checked as schemas,
// and schemas that cost too much. It returns the weight of root.
func checkGraph(root *jsonschema.Schema, positions map[string]bool) (int, error) {
	weights := make(map[*jsonschema.Schema]int)
	unchecked := ""
	var weigh func(s *jsonschema.Schema) int
	weigh = func(s *jsonschema.Schema) int {
		if w, ok := weights[s]; ok {
			return w // Negative while s is being weighed: a cycle.
		}
		weights[s] = -1
		if !strings.Contains(s.Location, "://json-schema.org/") && !positions[fragment(s.Location)] {
			unchecked = fragment(s.Location)
		}
		total := ownCost(s)
		for _, e := range edges(s) {
			w := weigh(e.to)
			switch {
			case w < 0 || total < 0:
				total = -1
			default:
				total = min(total+w, maxWeight+1)
			}
		}
		weights[s] = total
		return total
	}
	weight := weigh(root)
	switch {
	case unchecked != "":
		return 0, invalidSchema(unchecked, "a reference leads here, which is no place for a schema")
	case weight > maxWeight:
		return 0, invalidSchema("", "references expand too far")
	default:
		return weight, nil
	}
}

// ownCost counts the steps s takes by itself: one, and one for each part of the
// values that a value is compared with.
func ownCost(s *jsonschema.Schema) int {
	total := 1
	for _, values := range [][]any{s.Enum, s.Constant} {
		for _, v := range values {
			total += parts(v)
		}
	}
	return total
}

func parts(v any) int {
	total := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			total += parts(item)
		}
	case map[string]any:
		for _, item := range v {
			total += parts(item)
		}
	}
	return total
}
