package registry

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// withQuery returns raw with a required string property "query", which every
// retrieval tool takes and answers with.
func withQuery(raw json.RawMessage) (json.RawMessage, error) {
	root := map[string]any{"type": "object"}
	if len(raw) > 0 {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&root); err != nil || root == nil {
			return nil, refuse(tool.Invalid, "", "expected a JSON object")
		}
	}
	props, _ := root["properties"].(map[string]any)
	required, _ := root["required"].([]any)
	query, declared := props["query"]
	if of, _ := query.(map[string]any); declared && of["type"] != nil && of["type"] != "string" {
		return nil, refuse(tool.Invalid, "/properties/query/type", "query is what is searched for: expected a string")
	}
	if declared && slices.Contains(required, any("query")) {
		return raw, nil
	}
	if !declared {
		if props == nil {
			props = make(map[string]any)
		}
		props["query"] = map[string]any{"type": "string", "description": "What to search for."}
		root["properties"] = props
	}
	if !slices.Contains(required, any("query")) {
		root["required"] = append(required, "query")
	}
	out, err := json.Marshal(root)
	if err != nil {
		return nil, refuse(tool.Invalid, "", "expected a JSON object")
	}
	return out, nil
}

// schemaWarnings lists features of a schema that some models and clients
// support badly.
func schemaWarnings(s *ToolSpec) []string {
	warnings := looseWarnings(&s.Definition)
	if s.Description == "" {
		warnings = append(warnings, "no description: a model does not know when to use the tool")
	}
	return warnings
}
