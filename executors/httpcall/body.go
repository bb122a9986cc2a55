package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolcrib/toolcrib/internal/secret"
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

// read checks and takes apart the part of a body at path. Below a member whose
// name is that of a secret, literals are refused.
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
			v, err := r.read(path+"/"+escape(name), object.members[name], depth+1, hidden || secret.SensitiveKey(name))
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

// mayBeSecret reports whether a literal says more than yes, no or nothing.
func mayBeSecret(raw json.RawMessage) bool {
	k := kind(raw)
	return k == '"' && string(bytes.TrimSpace(raw)) != `""` || k == '-' || '0' <= k && k <= '9'
}

// fill returns a body with its references replaced by arguments, byte for
// byte; nil when it is an absent argument.
func (n *node) fill(ctx context.Context, args *arguments) (json.RawMessage, error) {
	var b bytes.Buffer
	if present, err := n.write(ctx, &b, args); err != nil || !present {
		return nil, err
	}
	return b.Bytes(), nil
}

// write appends n to b; present is false, and nothing is written, for an
// absent argument. Absent members are left out, absent items are null.
func (n *node) write(ctx context.Context, b *bytes.Buffer, args *arguments) (present bool, err error) {
	switch {
	case n.from != nil:
		if err := ended(ctx); err != nil {
			return false, err
		}
		v, ok := args.lookup(*n.from)
		if !ok {
			return false, nil
		}
		return true, put(b, v)
	case n.isArray:
		return true, n.writeArray(ctx, b, args)
	case n.literal != nil:
		return true, put(b, n.literal)
	default:
		return true, n.writeObject(ctx, b, args)
	}
}

func (n *node) writeObject(ctx context.Context, b *bytes.Buffer, args *arguments) error {
	if err := put(b, []byte("{")); err != nil {
		return err
	}
	first := true
	for _, m := range n.object {
		before := b.Len()
		if err := putName(b, first, m.name); err != nil {
			return err
		}
		present, err := m.value.write(ctx, b, args)
		if err != nil {
			return err
		}
		if !present {
			b.Truncate(before)
			continue
		}
		first = false
	}
	return put(b, []byte("}"))
}

func (n *node) writeArray(ctx context.Context, b *bytes.Buffer, args *arguments) error {
	separator := []byte("[")
	for _, item := range n.array {
		if err := put(b, separator); err != nil {
			return err
		}
		separator = []byte(",")
		present, err := item.write(ctx, b, args)
		if err == nil && !present {
			err = put(b, []byte("null"))
		}
		if err != nil {
			return err
		}
	}
	if len(n.array) == 0 {
		return put(b, []byte("[]"))
	}
	return put(b, []byte("]"))
}

// writeMembers returns an object of the named arguments.
func writeMembers(args *arguments, names []string) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range names {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("encoding member name: %w", err)
		}
		if err := putName(&b, i == 0, key); err != nil {
			return nil, err
		}
		if err := put(&b, args.members[name]); err != nil {
			return nil, err
		}
	}
	if err := put(&b, []byte("}")); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func putName(b *bytes.Buffer, first bool, name []byte) error {
	if !first {
		b.WriteByte(',')
	}
	if err := put(b, name); err != nil {
		return err
	}
	return put(b, []byte(":"))
}

// put appends to a body unless it grows too long: a few references can make
// much of an argument.
func put(b *bytes.Buffer, text []byte) error {
	if b.Len()+len(text) > maxBodyBytes {
		return argument("", fmt.Sprintf("the request's body would be more than %d bytes", maxBodyBytes))
	}
	b.Write(text)
	return nil
}

func kind(raw json.RawMessage) byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}
