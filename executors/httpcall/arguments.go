package httpcall

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// arguments are a call's arguments, split by name, with their bytes unchanged.
type arguments struct {
	root    part
	names   []string // In the caller's order.
	members map[string]json.RawMessage
}

// part is a parsed JSON value, cached for many references into it.
type part struct{ *jsonpointer.Value }

func newPart(raw json.RawMessage) *part { return &part{jsonpointer.NewValue(raw)} }

func readArguments(raw json.RawMessage) (*arguments, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	a := &arguments{members: make(map[string]json.RawMessage)}
	a.root = part{jsonpointer.NewObject(raw, a.members)}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, argument("", "want a JSON object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, argument("", "malformed JSON")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, argument("", "malformed JSON")
		}
		key, _ := name.(string) // Keys are strings.
		if _, twice := a.members[key]; !twice {
			a.names = append(a.names, key)
		}
		a.members[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, argument("", "malformed JSON")
	}
	return a, nil
}

// at returns the value at p, which may be null.
func (v *part) at(p Pointer) (json.RawMessage, bool) {
	return v.Find(p.Pointer)
}

// find returns the value at p; absent and null are not found.
func (a *arguments) find(p Pointer) (json.RawMessage, bool) {
	v, ok := a.root.at(p)
	return v, ok && !isNull(v)
}

// scalar returns the text of a string, number or boolean.
func scalar(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || isNull(raw):
		return "", false
	case raw[0] == '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return "", false
		}
		return s, true
	default:
		return string(raw), true // The caller's spelling.
	}
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

func argument(path, msg string) *tool.Error {
	return &tool.Error{
		Kind: tool.Invalid, Op: "httpcall.Execute", Path: path, Msg: fmt.Sprintf("argument %s: %s", orRoot(path), msg),
	}
}

func orRoot(path string) string {
	if path == "" {
		return "/"
	}
	return path
}
