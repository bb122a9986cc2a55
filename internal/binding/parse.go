package binding

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Members with a special meaning in an object of a binding.
const (
	keyFrom    = "$from"    // The JSON Pointer of the value.
	keyDefault = "$default" // The value if the pointer's is absent.
	keyLiteral = "$literal" // A literal value.
)

// Binding is a value with references. It is a literal, a reference, an object or an array.
type Binding struct {
	literal  json.RawMessage
	from     *jsonpointer.Pointer
	fallback json.RawMessage // Nil if the value is required.
	members  []member
	items    []Binding
	path     string // In the configuration.
}

type member struct {
	name  string
	value Binding
}

// reader reads one binding.
type reader struct {
	check func(path string, from jsonpointer.Pointer) error
	from  int // References parsed so far.
	odd   int // Special objects parsed so far.
}

// Parse parses a binding at path of a configuration; an empty text is an empty object. Check
// validates each reference: the path of its place, and where it leads. Parse fails with
// [tool.Invalid] and the JSON Pointer of the fault, or with what check returns.
func Parse(
	raw json.RawMessage, path string, check func(path string, from jsonpointer.Pointer) error,
) (Binding, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	r := &reader{check: check}
	return r.read(bytes.TrimSpace(raw), path, 1)
}

func (r *reader) read(raw json.RawMessage, path string, depth int) (Binding, error) {
	if depth > MaxDepth {
		return Binding{}, fault(path, fmt.Sprintf("nested deeper than %d values", MaxDepth))
	}
	before := r.odd
	b := Binding{path: path}
	var err error
	switch raw[0] {
	case '{':
		err = r.readObject(raw, &b, depth)
	case '[':
		err = r.readArray(raw, &b, depth)
	}
	if err == nil && r.odd == before {
		b = Binding{literal: raw, path: path}
	}
	return b, err
}

func (r *reader) readArray(raw json.RawMessage, b *Binding, depth int) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return fault(b.path, "malformed JSON")
	}
	for i, item := range items {
		read, err := r.read(bytes.TrimSpace(item), fmt.Sprintf("%s/%d", b.path, i), depth+1)
		if err != nil {
			return err
		}
		b.items = append(b.items, read)
	}
	return nil
}

func (r *reader) readObject(raw json.RawMessage, b *Binding, depth int) error {
	names, values, err := membersOf(raw)
	if err != nil {
		return fault(b.path, err.Error())
	}
	if special, err := r.readSpecial(values, b); special || err != nil {
		return err
	}
	for _, name := range names {
		read, err := r.read(values[name], b.path+"/"+jsonpointer.Escape(name), depth+1)
		if err != nil {
			return err
		}
		b.members = append(b.members, member{name, read})
	}
	return nil
}

// readSpecial parses the objects with special members.
func (r *reader) readSpecial(values map[string]json.RawMessage, b *Binding) (bool, error) {
	from, isFrom := values[keyFrom]
	fallback, hasDefault := values[keyDefault]
	literal, isLiteral := values[keyLiteral]
	if isFrom || hasDefault || isLiteral {
		r.odd++
	}
	switch {
	case isLiteral && len(values) == 1:
		b.literal = literal
		return true, nil
	case isLiteral:
		return true, fault(b.path, "$literal stands alone in its object")
	case !isFrom && hasDefault:
		return true, fault(
			b.path, "$default without $from: want a JSON Pointer in $from, or $literal around a literal value",
		)
	case !isFrom:
		return false, nil
	case len(values) > 2 || len(values) == 2 && !hasDefault:
		return true, fault(b.path, "$from allows only $default beside it: put $literal around a literal value")
	}
	path := b.path + "/" + keyFrom
	var text string
	if json.Unmarshal(from, &text) != nil || text == "" {
		return true, fault(path, "want a JSON Pointer such as /input/sku")
	}
	p, err := jsonpointer.Parse(text)
	if err != nil {
		return true, fault(path, err.Error())
	}
	if r.from++; r.from > MaxFrom {
		return true, fault(path, fmt.Sprintf("more than %d references", MaxFrom))
	}
	b.from, b.fallback = &p, fallback
	return true, r.check(path, p)
}

// membersOf splits an object into its members, in order.
func membersOf(raw json.RawMessage) (names []string, values map[string]json.RawMessage, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, nil, errors.New("malformed JSON")
	}
	values = make(map[string]json.RawMessage)
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return nil, nil, errors.New("malformed JSON")
		}
		if _, twice := values[name]; twice {
			return nil, nil, fmt.Errorf("%.80q stands here twice", name)
		}
		names, values[name] = append(names, name), bytes.TrimSpace(value)
	}
	return names, values, nil
}
