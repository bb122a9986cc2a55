package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// references returns the ids of the calls that v refers to.
func references(v any) []string {
	switch v := v.(type) {
	case map[string]any:
		if id, _, ok := reference(v); ok {
			return []string{id}
		}
		var ids []string
		for _, value := range v {
			ids = append(ids, references(value)...)
		}
		slices.Sort(ids)
		return ids
	case []any:
		var ids []string
		for _, value := range v {
			ids = append(ids, references(value)...)
		}
		return ids
	default:
		return nil
	}
}

func reference(m map[string]any) (id, pointer string, ok bool) {
	id, ok = m["$from"].(string)
	pointer, _ = m["pointer"].(string)
	return id, pointer, ok
}

// fill replaces the references in v by the values that they refer to.
func fill(v any, answers map[string]agent.Message) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if id, pointer, ok := reference(v); ok {
			return lookup(answers, id, pointer)
		}
		out := make(map[string]any, len(v))
		for key, value := range v {
			filled, err := fill(value, answers)
			if err != nil {
				return nil, err
			}
			out[key] = filled
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			filled, err := fill(value, answers)
			if err != nil {
				return nil, err
			}
			out[i] = filled
		}
		return out, nil
	default:
		return v, nil
	}
}

func lookup(answers map[string]agent.Message, id, pointer string) (any, error) {
	answer, ok := answers[id]
	if !ok {
		return nil, fmt.Errorf("call %q has no answer in the transcript", id)
	}
	for _, c := range answer.Content {
		if c.Type != tool.ContentJSON {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(c.JSON))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("reading the answer to call %q: %w", id, err)
		}
		return at(v, pointer)
	}
	return nil, fmt.Errorf("the answer to call %q has no JSON", id)
}

// at returns the value that a JSON Pointer names.
func at(v any, pointer string) (any, error) {
	p, err := jsonpointer.Parse(pointer)
	if err != nil {
		return nil, err
	}
	found, ok := p.Lookup(v)
	if !ok {
		return nil, fmt.Errorf("pointer %s: the answer has no such value", pointer)
	}
	return found, nil
}
