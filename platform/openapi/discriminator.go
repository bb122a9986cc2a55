package openapi

import (
	"maps"
	"slices"
	"strings"
)

// discriminate expresses a discriminator, which JSON Schema does not have, by
// keywords: each alternative requires the values that select it.
func (c *converter) discriminate(in object, out map[string]any, pointer string, lost *losses) {
	property := in.object("discriminator").text("propertyName")
	if property == "" {
		return
	}
	keyword := "oneOf"
	if in[keyword] == nil {
		keyword = "anyOf"
	}
	branches, ok := out[keyword].([]any)
	if !ok {
		lost.add(
			pointer+"/discriminator",
			"a discriminator without oneOf or anyOf is not mapped: the schemas that extend this one are not listed",
		)
		return
	}
	for i, branch := range in.list(keyword) {
		ref := asObject(branch).text("$ref")
		values := discriminating(in.object("discriminator").object("mapping"), ref)
		if ref == "" || i >= len(branches) || c.decided(branch, property) {
			continue
		}
		value := map[string]any{"const": values[0]}
		if len(values) > 1 {
			value = map[string]any{"enum": values}
		}
		branches[i] = map[string]any{
			"allOf": []any{branches[i]}, "properties": map[string]any{property: value}, "required": []any{property},
		}
	}
}

// discriminating lists the values that select a schema: those in the mapping, or
// else the schema's name.
func discriminating(mapping object, ref string) []any {
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	var values []any
	for _, value := range slices.Sorted(maps.Keys(mapping)) {
		if to, _ := mapping[value].(string); to == ref || to == name {
			values = append(values, value)
		}
	}
	if len(values) == 0 {
		values = []any{name}
	}
	return values
}

// decided reports whether an alternative itself restricts the values of a member.
func (c *converter) decided(branch any, property string) bool {
	o, _, err := c.doc.follow(branch, "")
	if err != nil {
		return true
	}
	for _, part := range append([]any{map[string]any(o)}, o.list("allOf")...) {
		of, _, err := c.doc.follow(part, "")
		if err != nil {
			continue
		}
		member, _, err := c.doc.follow(of.object("properties")[property], "")
		if err == nil && (member["enum"] != nil || member["const"] != nil) {
			return true
		}
	}
	return false
}
