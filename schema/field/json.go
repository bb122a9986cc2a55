package field

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// object is a schema, or a part of one, as decoded JSON.
type object = map[string]any

// kindOfAll returns the common type of all values; empty if they differ.
func kindOfAll(values []any) string {
	kinds := make(map[string]bool)
	for _, v := range values {
		kinds[kindOf(v)] = true
	}
	if kinds["integer"] && kinds["number"] {
		delete(kinds, "integer")
	}
	if len(kinds) != 1 {
		return ""
	}
	for kind := range kinds {
		return kind
	}
	return ""
}

func kindOf(v any) string {
	switch v := v.(type) {
	case bool:
		return "boolean"
	case json.Number:
		if bytes.ContainsAny([]byte(v), ".eE") {
			return "number"
		}
		return "integer"
	case string:
		return "string"
	default:
		return ""
	}
}

// decode decodes JSON without losing digits.
func decode(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	return v, nil
}

// encode writes JSON without HTML escapes.
func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// rawOf encodes decoded JSON.
func rawOf(v any) json.RawMessage {
	raw, err := encode(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
