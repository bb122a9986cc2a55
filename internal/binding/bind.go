package binding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of bindings.
const (
	MaxDepth = 32      // In nested JSON values.
	MaxFrom  = 200     // References in one binding.
	MaxBound = 1 << 20 // Bytes of a binding with its values.
)

// Source is what references of a binding lead into.
type Source interface {
	// Value returns the value that the first tokens of a pointer lead to, nil where there is
	// none, and the tokens below it.
	Value(tokens []string) (v *jsonpointer.Value, below []string, err error)
	// Because returns why there may be nothing at a pointer, as ": reason"; empty where that is
	// not known.
	Because(tokens []string) string
}

// Bind returns the binding with its values from s. It fails with [tool.Invalid] where there is
// nothing at a reference without a default, naming whose binding it is, such as "step \"order\"",
// and the place below base, the path that the binding was parsed at.
func (b *Binding) Bind(s Source, whose, base string) (json.RawMessage, error) {
	w := writer{source: s, whose: whose, base: base}
	if err := w.write(b); err != nil {
		return nil, err
	}
	return w.out.Bytes(), nil
}

// References calls visit for each reference, with the path of its place, until it fails.
func (b *Binding) References(visit func(path string, from jsonpointer.Pointer) error) error {
	if b.from != nil {
		return visit(b.path+"/"+keyFrom, *b.from)
	}
	for i := range b.members {
		if err := b.members[i].value.References(visit); err != nil {
			return err
		}
	}
	for i := range b.items {
		if err := b.items[i].References(visit); err != nil {
			return err
		}
	}
	return nil
}

// writer evaluates one binding.
type writer struct {
	source Source
	whose  string
	base   string
	out    bytes.Buffer
}

func (w *writer) write(b *Binding) error {
	raw, separator := b.literal, ""
	switch {
	case b.from != nil:
		var err error
		if raw, err = w.find(b); err != nil {
			return err
		}
	case b.members != nil:
		w.out.WriteByte('{')
		for i := range b.members {
			name, err := Marshal(b.members[i].name)
			if err != nil {
				return err
			}
			w.out.WriteString(separator + string(name) + ":")
			if err := w.write(&b.members[i].value); err != nil {
				return err
			}
			separator = ","
		}
		w.out.WriteByte('}')
		return nil
	case b.items != nil:
		w.out.WriteByte('[')
		for i := range b.items {
			w.out.WriteString(separator)
			if err := w.write(&b.items[i]); err != nil {
				return err
			}
			separator = ","
		}
		w.out.WriteByte(']')
		return nil
	}
	if w.out.Len()+len(raw) > MaxBound {
		return fault(b.path, fmt.Sprintf("%s%s: larger than %d bytes with its values", w.whose, w.place(b), MaxBound))
	}
	w.out.Write(raw)
	return nil
}

// find looks up a reference.
func (w *writer) find(b *Binding) (json.RawMessage, error) {
	tokens := b.from.Tokens()
	value, below, err := w.source.Value(tokens)
	if err != nil {
		return nil, err
	}
	if value != nil {
		if raw, ok := value.Find(jsonpointer.New(below...)); ok {
			return raw, nil
		}
	}
	if b.fallback != nil {
		return b.fallback, nil
	}
	return nil, fault(b.path,
		fmt.Sprintf("%s%s: there is nothing at %s%s", w.whose, w.place(b), b.from, w.source.Because(tokens)))
}

// place names the part of the binding that b is.
func (w *writer) place(b *Binding) string {
	path := strings.TrimPrefix(b.path, w.base)
	if path == "" {
		return ""
	}
	return ", " + path
}

// Marshal writes v as JSON without escapes for HTML.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding a value: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "binding", Path: path, Msg: msg}
}
