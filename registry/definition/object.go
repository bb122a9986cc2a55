package definition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// object is a JSON object with its names in snake_case.
type object map[string]json.RawMessage

// readObject reads an object and unifies the spelling of its names.
func readObject(path string, raw []byte) (object, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(raw, &in); err != nil || in == nil {
		expected := "expected an object"
		if path == "" {
			expected += " with the fields of a definition, such as kind and slug"
		}
		return nil, refusal.New(tool.Invalid, path, "%s", expected)
	}
	out := make(object, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		snake := snakeCase(name)
		if _, twice := out[snake]; twice {
			return nil, refusal.New(tool.Invalid, path+"/"+name, "%s is given twice, in two spellings", snake)
		}
		if value := in[name]; !bytes.Equal(value, []byte("null")) {
			out[snake] = value
		}
	}
	return out, nil
}

// snakeCase writes a name in snake_case: inputSchema as input_schema, and
// serverURL as server_url.
func snakeCase(name string) string {
	var b strings.Builder
	lower := false
	for _, c := range name {
		isUpper := c >= 'A' && c <= 'Z'
		if isUpper && lower {
			b.WriteByte('_')
		}
		lower = !isUpper && c != '_' && c != '-'
		if c == '-' {
			c = '_'
		}
		b.WriteString(strings.ToLower(string(c)))
	}
	return b.String()
}

// move moves a field to another name, possibly of another object. It fails if
// both are given.
func (o object) move(from string, to object, name string) error {
	value, ok := o[from]
	if !ok {
		return nil
	}
	if _, taken := to[name]; taken {
		return refusal.New(tool.Invalid, "/"+from, "%s and %s are the same field: expected one of them", from, name)
	}
	delete(o, from)
	to[name] = value
	return nil
}

func (o object) drop(names ...string) {
	for _, name := range names {
		delete(o, name)
	}
}

// nested unifies the spelling of the names of a nested object.
func (o object) nested(name string) error {
	if o[name] == nil {
		return nil
	}
	inner, err := readObject("/"+name, o[name])
	if err != nil {
		return err
	}
	return o.put(name, inner)
}

// put stores a nested object, unless it is empty.
func (o object) put(name string, inner object) error {
	if len(inner) == 0 {
		return nil
	}
	raw, err := json.Marshal(inner)
	if err != nil {
		return refusal.New(tool.Invalid, "/"+name, "malformed JSON")
	}
	o[name] = raw
	return nil
}

// take decodes a field and removes it.
func take(o object, name string, to any) error {
	raw, ok := o[name]
	if !ok {
		return nil
	}
	delete(o, name)
	if err := json.Unmarshal(raw, to); err != nil {
		return typeError("/"+name, err)
	}
	return nil
}

// into decodes the whole object, and fails for names that are no fields of to.
func (o object) into(path string, to any) error {
	if err := checkNames(path, o, to); err != nil {
		return err
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return refusal.New(tool.Invalid, path, "malformed JSON")
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return typeError(path, err)
	}
	return nil
}

// typeError names the field whose value is of the wrong type.
func typeError(path string, err error) error {
	if te, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		parts := slices.DeleteFunc(strings.Split(te.Field, "."), func(part string) bool {
			// Embedded structs have no name of their own.
			return part == "Definition" || part == "Policy" || part == "Connection"
		})
		path = strings.TrimSuffix(path+"/"+strings.Join(parts, "/"), "/")
		return refusal.New(tool.Invalid, path, "%s: %s", path, strict.Expected(te))
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return refusal.Within(path, e)
	}
	return refusal.New(tool.Invalid, path, "%s", fmt.Sprintf("malformed: %.120s", err.Error()))
}
