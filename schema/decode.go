package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Limits of what is read.
const (
	MaxSchemaBytes    = 64 << 10 // Of a schema.
	MaxSchemaDepth    = 64       // Of a schema, in nested JSON values.
	MaxArgumentBytes  = 1 << 20  // Of a payload to validate or repair.
	MaxArgumentDepth  = 128      // Of a payload, in nested JSON values.
	maxNumberLength   = 1000     // Digits of a number; beyond, arithmetic costs too much.
	maxNumberExponent = 400      // Either way: what a float64 holds, and some more.
)

// decodeValue reads one JSON value without losing digits. It fails with
// tool.Invalid.
func decodeValue(raw json.RawMessage) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	if err := checkText(raw); err != nil {
		return nil, err
	}
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if pointer, reason := checkValue(v, MaxArgumentDepth); reason != "" {
		return nil, invalidValue(pointer, reason)
	}
	return v, nil
}

// checkText refuses what is too large, or no text.
func checkText(raw []byte) error {
	if len(raw) > MaxArgumentBytes {
		return invalidValue("", fmt.Sprintf("larger than %d KiB", MaxArgumentBytes>>10))
	}
	if !utf8.Valid(raw) {
		return invalidValue("", "not JSON: it is not valid UTF-8")
	}
	return nil
}

// decode reads one JSON value. It fails with tool.Invalid.
func decode(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, invalidValue("", "not JSON: "+syntaxMessage(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, invalidValue("", "not JSON: more text after the value")
	}
	return v, nil
}

// encode writes a decoded value without HTML escapes.
func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// syntaxMessage says where reading stopped, without the text that was read.
func syntaxMessage(err error) string {
	if se, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("syntax error at byte %d", se.Offset)
	}
	return "it ends early"
}

// checkValue refuses what costs too much to judge. It returns the pointer of
// what is wrong and why; an empty reason when nothing is.
func checkValue(v any, depth int) (pointer, reason string) {
	if depth == 0 {
		return "", "nested too deeply"
	}
	switch v := v.(type) {
	case json.Number:
		return "", checkNumber(v)
	case []any:
		for i, item := range v {
			if p, reason := checkValue(item, depth-1); reason != "" {
				return "/" + strconv.Itoa(i) + p, reason
			}
		}
	case map[string]any:
		for name, item := range v {
			if p, reason := checkValue(item, depth-1); reason != "" {
				return "/" + escapeToken(name) + p, reason
			}
		}
	}
	return "", ""
}

// checkNumber refuses numbers that exact arithmetic cannot hold.
func checkNumber(n json.Number) (reason string) {
	if len(n) > maxNumberLength {
		return "a number with too many digits"
	}
	if i := strings.IndexAny(string(n), "eE"); i >= 0 {
		exponent, err := strconv.Atoi(string(n[i+1:]))
		if err != nil || exponent > maxNumberExponent || exponent < -maxNumberExponent {
			return "a number out of range"
		}
	}
	return ""
}

func invalidValue(path, msg string) *tool.Error {
	if path != "" {
		msg = "at " + clip(path, 120) + ": " + msg
	}
	return &tool.Error{Kind: tool.Invalid, Op: "schema.Validate", Msg: msg, Path: clip(path, 240)}
}

// kindOf names the JSON type of a decoded value.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return "number"
		}
		return "integer"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return fmt.Sprintf("%T", v)
	}
}

// clip shortens s to about n bytes, at a rune's edge.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
