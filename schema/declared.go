package schema

import (
	"encoding/json"
	"strconv"
)

// Undeclared returns the index of the first name in a path that raw, a checked
// schema, does not allow, and -1 when all are allowed. It follows properties
// and items from the top; names behind a reference or a combination are not
// checked, and count as declared.
func Undeclared(raw json.RawMessage, names []string) int {
	for i, name := range names {
		var s struct {
			Properties           map[string]json.RawMessage `json:"properties"`
			PatternProperties    map[string]json.RawMessage `json:"patternProperties"`    //nolint:tagliatelle // The standard's name.
			AdditionalProperties json.RawMessage            `json:"additionalProperties"` //nolint:tagliatelle // The standard's name.
			Items                json.RawMessage            `json:"items"`
		}
		if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
			return -1 // A boolean, or empty: all names are allowed.
		}
		next, ok := s.Properties[name]
		if !ok && string(s.AdditionalProperties) == "false" && len(s.PatternProperties) == 0 {
			if _, err := strconv.Atoi(name); err != nil || len(s.Items) == 0 {
				return i
			}
		}
		if !ok {
			next = s.Items
			if _, err := strconv.Atoi(name); err != nil {
				return -1
			}
		}
		raw = next
	}
	return -1
}
