package httpcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Advise returns warnings about a configuration and the input schema of its tool:
// variables of the URL without a declared argument, and destinations that the schema
// does not list or that are not there. Calls would fail or leave variables out,
// unless the schema allows other arguments.
func Advise(raw, inputSchema json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		AllOf      json.RawMessage            `json:"allOf"` //nolint:tagliatelle // JSON Schema's name.
		Ref        string                     `json:"$ref"`
	}
	if json.Unmarshal(inputSchema, &s) != nil || len(s.AllOf) > 0 || s.Ref != "" {
		return nil // Properties may stand elsewhere.
	}
	var warnings []string
	for _, c := range requests(raw) {
		t, err := parseTemplate(c.URL)
		if err != nil {
			continue // CheckConfig reports the fault.
		}
		names := slices.Clone(t.names)
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if _, given := c.Variables[name]; given {
				continue
			}
			first, _, _ := strings.Cut(name, ".")
			if s.Properties[name] == nil && s.Properties[first] == nil {
				warnings = append(
					warnings,
					fmt.Sprintf("the URL has {%s}, and input_schema declares no property %q: declare it, or a model cannot give it",
						name, first),
				)
			}
		}
	}
	if c, err := decode(raw); err == nil && c.Destinations != nil {
		warnings = append(warnings, c.Destinations.advise(inputSchema)...)
	}
	return warnings
}

// advise compares the destinations with those that the schema of their argument lists.
func (d *Destinations) advise(schema json.RawMessage) []string {
	var at struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Enum       []json.RawMessage          `json:"enum"`
	}
	for _, token := range append(d.From.Tokens(), "") {
		at.Properties, at.Enum = nil, nil
		if json.Unmarshal(schema, &at) != nil {
			return nil
		}
		schema = at.Properties[token]
	}
	if at.Enum == nil {
		return []string{fmt.Sprintf("input_schema does not list the destinations: give %s an enum of %s, "+
			"or callers do not know them", d.From, strings.Join(d.names(), ", "))}
	}
	var warnings []string
	listed := make(map[string]bool, len(at.Enum))
	for _, raw := range at.Enum {
		name, _ := scalar(raw)
		listed[name] = true
		if _, ok := d.Of[name]; !ok {
			warnings = append(warnings, fmt.Sprintf("input_schema lists %.80q at %s, which is no destination: "+
				"a call that names it fails", name, d.From))
		}
	}
	for _, name := range d.names() {
		if !listed[name] {
			warnings = append(warnings, fmt.Sprintf("the destination %q is not in the enum of %s in input_schema: "+
				"no call can name it", name, d.From))
		}
	}
	return warnings
}
