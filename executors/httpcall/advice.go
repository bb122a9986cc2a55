package httpcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Advise returns warnings about a configuration and the input schema of its tool:
// variables of the URL without a declared argument. Calls would fail or leave
// them out, unless the schema allows other arguments.
func Advise(raw, inputSchema json.RawMessage) []string {
	c, err := decode(raw)
	if err != nil {
		return nil // CheckConfig reports the fault.
	}
	t, err := parseTemplate(c.URL)
	if err != nil {
		return nil
	}
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		AllOf      json.RawMessage            `json:"allOf"` //nolint:tagliatelle // JSON Schema's name.
		Ref        string                     `json:"$ref"`
	}
	if json.Unmarshal(inputSchema, &s) != nil || len(s.AllOf) > 0 || s.Ref != "" {
		return nil // Properties may stand elsewhere.
	}
	var warnings []string
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
	return warnings
}
