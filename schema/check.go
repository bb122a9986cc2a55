package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
	"github.com/toolcrib/toolcrib/tool"
)

// Supported dialects, by $schema without its trailing "#".
const (
	draft7    = "://json-schema.org/draft-07/schema"
	draft2020 = "://json-schema.org/draft/2020-12/schema"
)

// Check checks a schema before it is stored. It refuses, with tool.Invalid and the Path
// of the fault: anything other than a JSON Schema of draft 7 or 2020-12; references
// outside the schema; schemas larger or deeper than [MaxSchemaBytes] and
// [MaxSchemaDepth]; empty enums; patterns that Go cannot match in linear time or that
// grow too large; and keywords that the validation library is known to handle wrongly.
// An empty raw is allowed: it accepts any object.
func Check(raw json.RawMessage) error {
	_, err := compile(raw)
	return err
}

// CheckInput is [Check] for the input of a tool, which must be an object at
// the top for models to call it with named arguments.
func CheckInput(raw json.RawMessage) error {
	s, err := compile(raw)
	if err != nil {
		return err
	}
	if root, ok := s.doc.(map[string]any); !ok || root["type"] != "object" {
		return invalidSchema("", `expected "type": "object" at the top of an input schema`)
	}
	return nil
}

// decodeSchema decodes a schema document within its limits.
func decodeSchema(raw json.RawMessage) (any, error) {
	if len(raw) > MaxSchemaBytes {
		return nil, invalidSchema("", fmt.Sprintf("larger than %d KiB", MaxSchemaBytes>>10))
	}
	doc, err := jsonvalue.Decode(raw, MaxSchemaDepth)
	if e, ok := errors.AsType[*jsonvalue.Error](err); ok {
		return nil, invalidSchema(e.Path, e.Msg)
	}
	switch doc.Kind() {
	case jsonvalue.Object, jsonvalue.True, jsonvalue.False:
		return doc.Any(), nil
	case jsonvalue.Null, jsonvalue.Number, jsonvalue.String, jsonvalue.Array:
	}
	return nil, invalidSchema("", "expected an object or a boolean, got "+kindName(doc))
}

// checkDocument checks each subschema of doc and returns their positions.
func checkDocument(doc any) (map[string]bool, error) {
	positions := make(map[string]bool)
	var patterns, dynamic, ids int
	var err error
	walk(doc, "", func(node any, pointer string) bool {
		positions[pointer] = true
		m, ok := node.(map[string]any)
		if !ok {
			return true
		}
		if _, ok := m["$id"].(string); ok && pointer != "" {
			ids++
		}
		if m["$dynamicRef"] != nil || m["$recursiveRef"] != nil {
			dynamic++
		}
		err = checkNode(m, pointer, &patterns)
		return err == nil
	})
	if err == nil && ids > 0 && dynamic > 0 {
		err = invalidSchema("", "dynamic references together with nested $id are not supported")
	}
	return positions, err
}

// checkNode checks the keywords of one subschema. patterns is the total size of the
// patterns so far.
func checkNode(m map[string]any, pointer string, patterns *int) error {
	if dialect, ok := m["$schema"]; ok {
		if err := checkDialect(dialect, pointer); err != nil {
			return err
		}
	}
	if _, ok := m["$vocabulary"]; ok {
		return invalidSchema(pointer+"/$vocabulary", "custom vocabularies are not supported")
	}
	if enum, ok := m["enum"].([]any); ok && len(enum) == 0 {
		return invalidSchema(pointer+"/enum", "expected at least one value: nothing can match an empty enum")
	}
	for _, keyword := range []string{
		"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains",
	} {
		if n, ok := m[keyword].(json.Number); ok {
			if f, err := n.Float64(); err != nil || f > math.MaxInt32 {
				return invalidSchema(pointer+"/"+keyword, fmt.Sprintf("expected at most %d", math.MaxInt32))
			}
		}
	}
	if pattern, ok := m["pattern"].(string); ok {
		if err := checkPattern(pattern, patterns); err != nil {
			return invalidSchema(pointer+"/pattern", err.Error())
		}
	}
	if props, ok := m["patternProperties"].(map[string]any); ok {
		for pattern := range props {
			if err := checkPattern(pattern, patterns); err != nil {
				return invalidSchema(pointer+"/patternProperties", err.Error())
			}
		}
	}
	return checkRef(m, pointer)
}

// checkDialect accepts draft 7 and 2020-12, at the top only.
func checkDialect(dialect any, pointer string) error {
	text, _ := dialect.(string)
	_, uri, _ := strings.Cut(strings.TrimSuffix(text, "#"), ":")
	if uri = ":" + uri; uri != draft7 && uri != draft2020 {
		return invalidSchema(
			pointer+"/$schema", fmt.Sprintf("expected http%s# or https%s, got %q", draft7, draft2020, tool.Clip(text, 80)),
		)
	}
	if pointer != "" {
		return invalidSchema(pointer+"/$schema", "expected $schema at the top only")
	}
	return nil
}

// checkRef refuses references to another document; those relative to an $id are refused
// on loading.
func checkRef(m map[string]any, pointer string) error {
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		ref, ok := m[keyword].(string)
		if !ok {
			continue
		}
		u, err := url.Parse(ref)
		if err != nil {
			return invalidSchema(pointer+"/"+keyword, "not a reference")
		}
		if slices.Contains([]string{"file", "ftp", "data"}, u.Scheme) {
			return invalidSchema(pointer+"/"+keyword, "only references within the schema are allowed")
		}
	}
	return nil
}
