package jsonpointer

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Value is a JSON value that is parsed lazily, and once, however many pointers refer into it. It is not
// safe for concurrent use.
type Value struct {
	raw    json.RawMessage
	parsed bool
	object map[string]json.RawMessage
	array  []json.RawMessage
	below  map[string]*Value // The members looked up so far.
}

// NewValue returns raw, which must be valid JSON and must not change.
func NewValue(raw json.RawMessage) *Value { return &Value{raw: bytes.TrimSpace(raw)} }

// NewObject returns an object with its members already split. It retains the map.
func NewObject(raw json.RawMessage, members map[string]json.RawMessage) *Value {
	return &Value{raw: raw, parsed: true, object: members}
}

// Raw returns the whole value.
func (v *Value) Raw() json.RawMessage { return v.raw }

// Find returns the value that p points to, which may be null. Of duplicate members, the last one counts.
func (v *Value) Find(p Pointer) (json.RawMessage, bool) {
	for _, token := range p.tokens {
		if v = v.member(token); v == nil {
			return nil, false
		}
	}
	return v.raw, true
}

func (v *Value) member(token string) *Value {
	if below, ok := v.below[token]; ok {
		return below
	}
	v.parse()
	raw, ok := v.object[token]
	if i, err := strconv.Atoi(token); err == nil && strconv.Itoa(i) == token && 0 <= i && i < len(v.array) {
		raw, ok = v.array[i], true
	}
	if !ok {
		return nil
	}
	if v.below == nil {
		v.below = make(map[string]*Value)
	}
	v.below[token] = NewValue(raw)
	return v.below[token]
}

func (v *Value) parse() {
	if v.parsed || len(v.raw) == 0 {
		return
	}
	v.parsed = true
	var err error
	switch v.raw[0] {
	case '{':
		err = json.Unmarshal(v.raw, &v.object)
	case '[':
		err = json.Unmarshal(v.raw, &v.array)
	}
	if err != nil { // It has no members or items.
		v.object, v.array = nil, nil
	}
}
