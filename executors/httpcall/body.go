package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// node is a checked part of a body: a reference, a literal without members, or
// an object or array of nodes.
type node struct {
	from    *Pointer
	literal json.RawMessage
	object  []member
	array   []*node
	isArray bool
}

type member struct {
	name  json.RawMessage // As JSON.
	value *node
}

// bodyReader reads a configured body and counts its references.
type bodyReader struct {
	references int
}

// read parses and checks the part of a body at path. Literals below a member with
// the name of a secret are refused.
func (r *bodyReader) read(path string, raw json.RawMessage, depth int, hidden bool) (*node, error) {
	if depth > maxDepth {
		return nil, fault(path, fmt.Sprintf("nested more than %d deep", maxDepth))
	}
	if p, ok, err := reference(raw); err != nil {
		return nil, fault(path+"/from", messageOf(err))
	} else if ok {
		r.references++
		return &node{from: p}, nil
	}
	switch kind(raw) {
	case '{':
		object, err := readArguments(raw)
		if err != nil {
			return nil, fault(path, "malformed JSON")
		}
		n := &node{object: make([]member, 0, len(object.names))}
		for _, name := range object.names {
			v, err := r.read(path+"/"+jsonpointer.Escape(name), object.members[name], depth+1,
				hidden || secret.SensitiveKey(name))
			if err != nil {
				return nil, err
			}
			key, err := json.Marshal(name)
			if err != nil {
				return nil, fmt.Errorf("encoding member name: %w", err)
			}
			n.object = append(n.object, member{name: key, value: v})
		}
		return n, nil
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, fault(path, "malformed JSON")
		}
		n := &node{isArray: true, array: make([]*node, 0, len(items))}
		for i, item := range items {
			v, err := r.read(path+"/"+strconv.Itoa(i), item, depth+1, hidden)
			if err != nil {
				return nil, err
			}
			n.array = append(n.array, v)
		}
		return n, nil
	default:
		if hidden && mayBeSecret(raw) {
			return nil, fault(path, noLiteralSecret)
		}
		return &node{literal: bytes.TrimSpace(raw)}, nil
	}
}

// mayBeSecret reports whether a literal is a number or a string that is not empty.
func mayBeSecret(raw json.RawMessage) bool {
	k := kind(raw)
	return k == '"' && string(bytes.TrimSpace(raw)) != `""` || k == '-' || '0' <= k && k <= '9'
}

// fill appends the template to b, with its references replaced by the values in
// root, byte for byte, and returns it; nil when it is a lone reference to an
// absent value.
func (n *node) fill(ctx context.Context, b *sink, root *part) (json.RawMessage, error) {
	if present, err := n.write(ctx, b, root); err != nil || !present {
		return nil, err
	}
	return b.Bytes(), nil
}

// write appends n to b; present is false, and nothing is written, for an
// absent argument. Absent members are left out, absent items are null.
func (n *node) write(ctx context.Context, b *sink, root *part) (present bool, err error) {
	switch {
	case n.from != nil:
		if err := ended(ctx); err != nil {
			return false, err
		}
		v, ok := root.at(*n.from)
		if !ok {
			return false, nil
		}
		return true, b.put(v)
	case n.isArray:
		return true, n.writeArray(ctx, b, root)
	case n.literal != nil:
		return true, b.put(n.literal)
	default:
		return true, n.writeObject(ctx, b, root)
	}
}

func (n *node) writeObject(ctx context.Context, b *sink, root *part) error {
	if err := b.put([]byte("{")); err != nil {
		return err
	}
	first := true
	for _, m := range n.object {
		before := b.Len()
		if err := putName(b, first, m.name); err != nil {
			return err
		}
		present, err := m.value.write(ctx, b, root)
		if err != nil {
			return err
		}
		if !present {
			b.Truncate(before)
			continue
		}
		first = false
	}
	return b.put([]byte("}"))
}

func (n *node) writeArray(ctx context.Context, b *sink, root *part) error {
	separator := []byte("[")
	for _, item := range n.array {
		if err := b.put(separator); err != nil {
			return err
		}
		separator = []byte(",")
		present, err := item.write(ctx, b, root)
		if err == nil && !present {
			err = b.put([]byte("null"))
		}
		if err != nil {
			return err
		}
	}
	if len(n.array) == 0 {
		return b.put([]byte("[]"))
	}
	return b.put([]byte("]"))
}

// writeMembers returns an object of the named arguments.
func writeMembers(args *arguments, names []string) (json.RawMessage, error) {
	b := bodySink()
	_ = b.WriteByte('{')
	for i, name := range names {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("encoding member name: %w", err)
		}
		if err := putName(b, i == 0, key); err != nil {
			return nil, err
		}
		if err := b.put(args.members[name]); err != nil {
			return nil, err
		}
	}
	if err := b.put([]byte("}")); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func putName(b *sink, first bool, name []byte) error {
	if !first {
		_ = b.WriteByte(',')
	}
	if err := b.put(name); err != nil {
		return err
	}
	return b.put([]byte(":"))
}

func kind(raw json.RawMessage) byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}
