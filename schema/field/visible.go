package field

import (
	"encoding/json"
	"math/big"
	"slices"
)

// Hidden returns the keys of fields that are not shown because of their conditions, by the values of an
// object. A field that is not shown has no value for the conditions of others.
func Hidden(fields []Field, values map[string]json.RawMessage) map[string]bool {
	hidden := make(map[string]bool)
	for range fields { // A condition may depend on a field that is hidden itself.
		changed := false
		for i := range fields {
			f := &fields[i]
			if !hidden[f.Key] && !f.shownBy(values, hidden) {
				hidden[f.Key], changed = true, true
			}
		}
		if !changed {
			break
		}
	}
	return hidden
}

func (f *Field) shownBy(values map[string]json.RawMessage, hidden map[string]bool) bool {
	return !slices.ContainsFunc(f.VisibleWhen, func(c Condition) bool {
		raw, given := values[c.Field]
		return !c.met(raw, given && !hidden[c.Field])
	})
}

// met reports whether a sibling's value meets the condition.
func (c *Condition) met(raw json.RawMessage, given bool) bool {
	if len(c.In)+len(c.NotIn) == 0 || !given {
		return given == (len(c.NotIn) == 0)
	}
	among := func(values []json.RawMessage) bool {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			list = []json.RawMessage{raw}
		}
		return slices.ContainsFunc(list, func(have json.RawMessage) bool {
			return slices.ContainsFunc(values, func(want json.RawMessage) bool { return equalJSON(have, want) })
		})
	}
	if len(c.NotIn) > 0 {
		return !among(c.NotIn)
	}
	return among(c.In)
}

// equalJSON compares plain values: numbers by their value.
func equalJSON(a, b json.RawMessage) bool {
	left, errLeft := decode(a)
	right, errRight := decode(b)
	if errLeft != nil || errRight != nil {
		return false
	}
	m, ok := left.(json.Number)
	n, also := right.(json.Number)
	if ok && also {
		var x, y *big.Rat
		x, y = rational(m), rational(n)
		return m == n || x != nil && y != nil && x.Cmp(y) == 0
	}
	if kindOf(left) == "" || kindOf(right) == "" {
		return false
	}
	return left == right
}
