package httpcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Advise returns what is odd about a configuration beside the input schema of its
// tool: variables of the URL that no argument gives. Calls would fail for want of
// them, or leave them out, wherever the schema allows no other arguments.
func Advise(raw, inputSchema json.RawMessage) []string {
	c, err := decode(raw)
	if err != nil {
		return nil // CheckConfig says what is wrong.
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
