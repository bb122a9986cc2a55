package schema

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// choice is the set of values of "enum" or "const". A lookup costs the size of the value,
// independent of the size of the set.
type choice struct {
	list      []*jsonvalue.Value
	keys      map[string]bool
	composite bool // Some are arrays or objects.
}

// values returns a copy of the list of values; none for a nil choice.
func (c *choice) values() []*jsonvalue.Value {
	if c == nil {
		return nil
	}
	return slices.Clone(c.list)
}

func newChoice(values []any) *choice {
	if len(values) == 0 {
		return nil
	}
	c := &choice{keys: make(map[string]bool, len(values))}
	for _, v := range values {
		member := fromAny(v)
		c.list = append(c.list, member)
		c.composite = c.composite || member.Kind() >= jsonvalue.Array
		c.keys[string(appendKey(nil, member))] = true
	}
	return c
}

// fromAny converts a value of a checked schema.
func fromAny(v any) *jsonvalue.Value {
	raw, err := json.Marshal(v)
	if err != nil {
		return jsonvalue.NullValue
	}
	value, err := jsonvalue.Decode(raw, 0)
	if err != nil {
		return jsonvalue.NullValue
	}
	return value
}

// has reports whether v is one of the values.
func (c *choice) has(w *work, v *jsonvalue.Value) bool {
	if v.Kind() >= jsonvalue.Array && !c.composite {
		return false
	}
	var buf [64]byte
	key := w.key(buf[:0], v)
	return w.err == nil && c.keys[string(key)]
}

// key is [appendKey] within the budget of w.
func (w *work) key(dst []byte, v *jsonvalue.Value) []byte {
	if w.err != nil {
		return dst
	}
	dst = appendKey(dst, v)
	w.spend(len(dst) / 16)
	return dst
}

// appendKey appends a key that is equal for equal values only: numbers are equal whatever
// their spelling.
func appendKey(dst []byte, v *jsonvalue.Value) []byte {
	switch v.Kind() {
	case jsonvalue.Number:
		return appendNumberKey(dst, v.Text())
	case jsonvalue.Array:
		dst = append(dst, '[')
		for _, item := range v.Items() {
			dst = append(appendKey(dst, item), ',')
		}
		return append(dst, ']')
	case jsonvalue.Object:
		dst = append(dst, '{')
		for _, m := range v.Members() {
			dst = strconv.AppendInt(dst, int64(len(m.Name)), 10)
			dst = append(append(append(dst, ':'), m.Name...), ':')
			dst = append(appendKey(dst, m.Value), ',')
		}
		return append(dst, '}')
	case jsonvalue.String:
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, int64(len(v.Text())), 10)
		return append(append(dst, ':'), v.Text()...)
	case jsonvalue.Null, jsonvalue.True, jsonvalue.False:
		return v.Append(dst)
	default:
		return dst
	}
}

func appendNumberKey(dst []byte, literal string) []byte {
	d := jsonvalue.DecimalOf(literal)
	if d.Negative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, d.Digits...), 'e')
	return strconv.AppendInt(dst, int64(d.Exponent), 10)
}

// distinct reports whether all values differ.
func (w *work) distinct(items []*jsonvalue.Value) bool {
	seed := maphash.MakeSeed()
	first := make(map[uint64][]byte, len(items))
	var buf []byte
	for _, item := range items {
		if !w.spend(2) {
			return false
		}
		buf = w.key(buf[:0], item)
		sum := maphash.Bytes(seed, buf)
		if same, ok := first[sum]; ok && bytes.Equal(same, buf) {
			return false
		}
		first[sum] = bytes.Clone(buf)
	}
	return w.err == nil
}
