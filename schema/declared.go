package schema

import (
	"encoding/json"
	"strconv"
)

// Undeclared tells which of the names that lead into a value no value can
// have: it returns the index of the first name that raw, a checked schema,
// shuts out, and -1 when all may be there. It follows properties and items
// from the top; what lies behind a reference or a combination is not judged,
// and counts as declared.
func Undeclared(raw json.RawMessage, names []string) int {
	for i, name := range names {
		var s struct {
			Properties           map[string]json.RawMessage `json:"properties"`
			PatternProperties    map[string]json.RawMessage `json:"patternProperties"`    //nolint:tagliatelle // The standard's name.
			AdditionalProperties json.RawMessage            `json:"additionalProperties"` //nolint:tagliatelle // The standard's name.
			Items                json.RawMessage            `json:"items"`
		}
		if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
			return -1 // A boolean, or nothing: it says nothing of names.
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
