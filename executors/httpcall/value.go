package httpcall

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Value is a string of a configuration, or the argument it comes from.
type Value struct {
	Literal string
	From    *Pointer // Nil for a literal.
}

// MarshalJSON implements [json.Marshaler].
func (v Value) MarshalJSON() ([]byte, error) {
	if v.From == nil {
		return json.Marshal(v.Literal)
	}
	return json.Marshal(map[string]string{"from": v.From.String()})
}

// UnmarshalJSON implements [json.Unmarshaler]. Numbers and booleans are
// literals with their own spelling.
func (v *Value) UnmarshalJSON(raw []byte) error {
	if p, ok, err := reference(raw); ok || err != nil {
		v.From = p
		return err
	}
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) > 0 && raw[0] == '"':
		return json.Unmarshal(raw, &v.Literal)
	case len(raw) > 0 && raw[0] != '{' && raw[0] != '[' && string(raw) != "null":
		v.Literal = string(raw)
		return nil
	default:
		return fault("", `want a string, or {"from": "/pointer"}`)
	}
}

// reference reads raw as {"from": "/pointer"}; ok is false when it is
// something else.
func reference(raw json.RawMessage) (p *Pointer, ok bool, err error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false, nil
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, false, fmt.Errorf("reading reference: %w", err)
	}
	from, has := m["from"]
	if !has || len(m) != 1 {
		return nil, false, nil
	}
	var text string
	if json.Unmarshal(from, &text) != nil {
		return nil, false, nil //nolint:nilerr // Something else that has a member "from".
	}
	ptr, err := ParsePointer(text)
	if err != nil {
		return nil, false, err
	}
	return &ptr, true, nil
}
