package manage

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// spec returns the definition that a request asks for: its fields in place of those of before,
// which is nil for a new tool. Members of execution and interaction are replaced one by one.
func (r *Request) spec(before *tool.Tool) (definition.ToolSpec, error) {
	doc := map[string]json.RawMessage{}
	if before != nil {
		doc = stored(before)
	}
	for name, raw := range r.given {
		if name == "execution" || name == "interaction" {
			merged, err := merge(doc[name], raw)
			if err != nil {
				return definition.ToolSpec{}, refuse("/"+name, "manageTools: '%s' has to be an object", name)
			}
			raw = merged
		}
		doc[name] = raw
	}
	doc["slug"] = encoded(r.Slug)
	d, err := definition.Parse(encoded(doc))
	if err != nil {
		return definition.ToolSpec{}, err //nolint:wrapcheck // It says what is wrong, and where.
	}
	return *d.Tool, nil
}

// stored returns the definition of a tool as its stored head has it, secrets included.
func stored(t *tool.Tool) map[string]json.RawMessage {
	spec := definition.ToolSpec{
		Slug: t.Slug, Definition: t.Definition, Policy: t.Policy, ArtifactID: t.ArtifactID,
		ArtifactVersion: t.ArtifactVersion,
	}
	spec.Artifact = nil // The registry sets it.
	doc := map[string]json.RawMessage{}
	_ = json.Unmarshal(encoded(spec), &doc) // It was encoded just now.
	for name, raw := range doc {
		switch string(raw) {
		case `""`, "{}", "null", "[]":
			delete(doc, name)
		}
	}
	return doc
}

// shown returns a definition with its secrets redacted.
func shown(doc map[string]json.RawMessage) json.RawMessage {
	out := maps.Clone(doc)
	for _, name := range []string{"input_schema", "output_schema", "implementation_config", "interaction"} {
		if raw := out[name]; raw != nil {
			out[name] = redact.JSON(raw)
		}
	}
	return encoded(out)
}

// merge returns an object with the members of another in place of its own.
func merge(into, from json.RawMessage) (json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if len(into) > 0 {
		if err := json.Unmarshal(into, &out); err != nil {
			return nil, fmt.Errorf("reading the stored object: %w", err)
		}
	}
	if err := json.Unmarshal(from, &out); err != nil {
		return nil, fmt.Errorf("reading the given object: %w", err)
	}
	return encoded(out), nil
}

// encoded returns the JSON of values that always encode.
func encoded(v any) json.RawMessage {
	raw, _ := json.Marshal(v)
	return raw
}
