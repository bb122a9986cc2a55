package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
	"github.com/toolcrib/toolcrib/tool"
)

// Limits of decoding.
const (
	MaxSchemaBytes   = 64 << 10 // Of a schema.
	MaxSchemaDepth   = 64       // Of a schema, in nested JSON values.
	MaxArgumentBytes = 1 << 20  // Of a payload to validate or repair.
	MaxArgumentDepth = 128      // Of a payload, in nested objects and arrays.
)

// Decode decodes the arguments of a call, or any payload to validate, by the rule of
// [jsonvalue.Decode] and within [MaxArgumentBytes] and [MaxArgumentDepth]. All sources of
// arguments use it: the API, models, MCP clients and the command line. An empty raw is the
// empty object. It fails with tool.Invalid, whose Path is the JSON Pointer of the offending
// value.
func Decode(raw json.RawMessage) (*jsonvalue.Value, error) { return decodeValue(raw) }

// Canonical returns raw in the form in which arguments are recorded and sent, or raw itself
// if it has that form: members sorted by name, no white space, no HTML escapes, numbers
// with their spelling. It fails like [Decode].
func Canonical(raw json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 || len(raw) > MaxArgumentBytes {
		v, err := decodeValue(raw)
		if err != nil {
			return nil, err
		}
		return v.Append(nil), nil
	}
	out, err := jsonvalue.Canonical(raw, MaxArgumentDepth)
	if err != nil {
		return nil, invalidJSON(err)
	}
	return out, nil
}

func decodeValue(raw json.RawMessage) (*jsonvalue.Value, error) {
	if len(raw) > MaxArgumentBytes {
		return nil, invalidValue("", fmt.Sprintf("larger than %d KiB", MaxArgumentBytes>>10))
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return jsonvalue.NewObject(nil), nil
	}
	v, err := jsonvalue.Decode(raw, MaxArgumentDepth)
	if err != nil {
		return nil, invalidJSON(err)
	}
	return v, nil
}

// breaksRule reports whether err is about valid JSON that is refused, so that repair cannot
// help.
func breaksRule(err error) bool {
	e, ok := errors.AsType[*jsonvalue.Error](err)
	return ok && !e.Syntax
}

// invalidJSON converts an error of jsonvalue.
func invalidJSON(err error) *tool.Error {
	if e, ok := errors.AsType[*jsonvalue.Error](err); ok {
		out := invalidValue(e.Path, e.Msg)
		out.Err = e
		return out
	}
	return invalidValue("", "not JSON")
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

func invalidValue(path, msg string) *tool.Error {
	if path != "" {
		msg = "at " + tool.Clip(path, 120) + ": " + msg
	}
	return &tool.Error{Kind: tool.Invalid, Op: "schema.Validate", Msg: msg, Path: tool.Clip(path, 240)}
}

// kindName names the JSON type of a value.
func kindName(v *jsonvalue.Value) string {
	switch v.Kind() {
	case jsonvalue.Null:
		return "null"
	case jsonvalue.False, jsonvalue.True:
		return "boolean"
	case jsonvalue.Number:
		if strings.ContainsAny(v.Text(), ".eE") {
			return "number"
		}
		return "integer"
	case jsonvalue.String:
		return "string"
	case jsonvalue.Array:
		return "array"
	case jsonvalue.Object:
		return "object"
	default:
		return "value"
	}
}
