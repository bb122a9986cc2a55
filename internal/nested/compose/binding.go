package compose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Members with a special meaning in an object of a binding.
const (
	keyFrom    = "$from"    // The JSON Pointer of the value.
	keyDefault = "$default" // The value if the pointer's is absent.
	keyLiteral = "$literal" // A literal value.
)

// binding is a value with references. It is a literal, a reference, an object or an array.
type binding struct {
	literal  json.RawMessage
	from     *jsonpointer.Pointer
	fallback json.RawMessage // Nil if the value is required.
	members  []member
	items    []binding
	path     string // In the configuration.
}

type member struct {
	name  string
	value binding
}

// reader reads one binding.
type reader struct {
	check func(path string, from jsonpointer.Pointer) error
	from  int // References parsed so far.
	odd   int // Special objects parsed so far.
}

// parseBinding parses a binding at path of the configuration. Each reference is validated
// by check.
func parseBinding(
	raw json.RawMessage, path string, check func(path string, from jsonpointer.Pointer) error,
) (binding, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	r := &reader{check: check}
	return r.read(bytes.TrimSpace(raw), path, 1)
}

func (r *reader) read(raw json.RawMessage, path string, depth int) (binding, error) {
	if depth > MaxDepth {
		return binding{}, fault(path, fmt.Sprintf("nested deeper than %d values", MaxDepth))
	}
	before := r.odd
	b := binding{path: path}
	var err error
	switch raw[0] {
	case '{':
		err = r.readObject(raw, &b, depth)
	case '[':
		err = r.readArray(raw, &b, depth)
	}
	if err == nil && r.odd == before {
		b = binding{literal: raw, path: path}
	}
	return b, err
}

func (r *reader) readArray(raw json.RawMessage, b *binding, depth int) error {
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

func (r *reader) readObject(raw json.RawMessage, b *binding, depth int) error {
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
func (r *reader) readSpecial(values map[string]json.RawMessage, b *binding) (bool, error) {
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
		return true, fault(path, "want a JSON Pointer such as /input/sku or /steps/order/result/total")
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

// seenMembers are the members of a step that bindings can refer to: those of [seen].
var seenMembers = []string{"result", "text", "is_error", "error"}

// places returns the check of references: they may be to the input, and to results of
// earlier steps.
func (c *Config) places(earlier map[string]bool) func(string, jsonpointer.Pointer) error {
	return func(path string, from jsonpointer.Pointer) error {
		tokens := from.Tokens()
		switch {
		case tokens[0] == "input":
			return nil
		case tokens[0] != "steps" || len(tokens) < 2:
			return fault(
				path, fmt.Sprintf("%.80q is not a reference: want /input, /steps/<id> or a pointer below", from.String()),
			)
		case !earlier[tokens[1]] && c.declares(tokens[1]):
			return fault(
				path, fmt.Sprintf("refers to step %q, which runs later: a step can refer to earlier steps only", tokens[1]),
			)
		case !earlier[tokens[1]]:
			return fault(path, fmt.Sprintf("there is no step %.80q", tokens[1]))
		case len(tokens) > 2 && !slices.Contains(seenMembers, tokens[2]):
			return fault(path, fmt.Sprintf("a step has no %.80q: want result, text, is_error or error", tokens[2]))
		}
		return nil
	}
}

func (c *Config) declares(id string) bool {
	for _, s := range c.Steps {
		if s.ID == id {
			return true
		}
	}
	return false
}

// CheckConfig checks the configuration of a composition with arguments of inputSchema. It
// fails with [tool.Invalid] and the JSON Pointer of the fault, also for a reference to an
// argument that the schema does not allow. The registry checks that its tools exist.
func CheckConfig(raw, inputSchema json.RawMessage) error {
	c, err := ParseConfig(raw)
	if err != nil {
		return err
	}
	for i := range c.args {
		if err := c.args[i].checkInput(inputSchema); err != nil {
			return err
		}
	}
	if c.output != nil {
		return c.output.checkInput(inputSchema)
	}
	return nil
}

func (b *binding) checkInput(inputSchema json.RawMessage) error {
	if b.from != nil && b.from.Tokens()[0] == "input" {
		tokens := b.from.Tokens()[1:]
		if i := schema.Undeclared(inputSchema, tokens); i >= 0 {
			return fault(
				b.path+"/"+keyFrom, fmt.Sprintf("the input schema declares no %q", jsonpointer.New(tokens[:i+1]...).String()),
			)
		}
	}
	for i := range b.members {
		if err := b.members[i].value.checkInput(inputSchema); err != nil {
			return err
		}
	}
	for i := range b.items {
		if err := b.items[i].checkInput(inputSchema); err != nil {
			return err
		}
	}
	return nil
}
