package jsonpointer

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Value is a JSON value that is taken apart when it is first asked for a
// member, and once, however many pointers lead through it. Not safe for
// concurrent use.
type Value struct {
	raw    json.RawMessage
	parsed bool
	object map[string]json.RawMessage
	array  []json.RawMessage
	below  map[string]*Value // The members that were asked for.
}

// NewValue returns raw, which must be valid JSON and stay as it is.
func NewValue(raw json.RawMessage) *Value { return &Value{raw: bytes.TrimSpace(raw)} }

// NewObject returns an object whose members are known already. It keeps the map.
func NewObject(raw json.RawMessage, members map[string]json.RawMessage) *Value {
	return &Value{raw: raw, parsed: true, object: members}
}

// Raw returns the whole.
func (v *Value) Raw() json.RawMessage { return v.raw }

// Find returns what p leads to, which may be null. Of a name that stands twice
// in an object, the last value counts.
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
	if err != nil { // It holds nothing that could be found.
		v.object, v.array = nil, nil
	}
}
