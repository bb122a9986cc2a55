package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// maxWeight bounds the steps that a schema costs per value without recursion.
const maxWeight = 100_000

// edges lists the compiled schemas that s applies to the same value, or to its parts.
func edges(s *jsonschema.Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	add := func(subs ...*jsonschema.Schema) {
		for _, sub := range subs {
			if sub != nil {
				out = append(out, sub)
			}
		}
	}
	add(s.Ref, s.RecursiveRef, s.DynamicRef, s.Not, s.If, s.Then, s.Else)
	add(s.AllOf...)
	add(s.AnyOf...)
	add(s.OneOf...)
	add(slices.Collect(maps.Values(s.DependentSchemas))...)
	for _, sub := range s.Dependencies {
		if sub, ok := sub.(*jsonschema.Schema); ok {
			add(sub)
		}
	}
	add(slices.Collect(maps.Values(s.Properties))...)
	add(slices.Collect(maps.Values(s.PatternProperties))...)
	if sub, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		add(sub)
	}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		add(items)
	case []*jsonschema.Schema:
		add(items...)
	}
	if sub, ok := s.AdditionalItems.(*jsonschema.Schema); ok {
		add(sub)
	}
	add(s.PrefixItems...)
	add(s.PropertyNames, s.Items2020, s.Contains, s.UnevaluatedItems, s.UnevaluatedProperties)
	return out
}

// checkGraph refuses references to places that were not checked as schemas, and schemas that
// cost too much. It returns the schemas that root applies.
func checkGraph(root *jsonschema.Schema, positions map[string]bool) (map[*jsonschema.Schema]int, error) {
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
		for _, to := range edges(s) {
			w := weigh(to)
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
		return nil, invalidSchema(unchecked, "a reference points here, but this is not a schema")
	case weight > maxWeight:
		return nil, invalidSchema("", "references expand too far")
	default:
		return weights, nil
	}
}

// ownCost counts the steps of s itself: one, and one for each part of the values that a value
// is compared with.
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
