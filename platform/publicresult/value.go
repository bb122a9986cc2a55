package publicresult

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxDepth is how deep a value may be.
const maxDepth = 64

// kind is the type of a value.
type kind uint8

const (
	null kind = iota
	scalar
	number
	list
	object
)

// value is JSON, with the order of its members and the digits of its numbers.
type value struct {
	kind    kind
	text    string // Of a scalar and a number.
	items   []value
	members []member
	raw     json.RawMessage
}

type member struct {
	name string
	value
}

var errDeep = errors.New("the value is nested too deep")

// read reads JSON. Of members with the same name, the last one is kept.
func read(raw json.RawMessage) (value, error) { return readAt(bytes.TrimSpace(raw), 0) }

func readAt(raw json.RawMessage, depth int) (value, error) {
	if depth > maxDepth {
		return value{}, errDeep
	}
	v := value{raw: raw}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	first, err := d.Token()
	if err != nil {
		return v, err //nolint:wrapcheck // It is not shown.
	}
	switch t := first.(type) {
	case json.Delim:
		v.kind = object
		if t == '[' {
			v.kind = list
		}
		return v, v.fill(d, depth)
	case json.Number:
		v.kind, v.text = number, t.String()
	case string:
		v.kind, v.text = scalar, t
	case bool:
		v.kind, v.text = scalar, strconv.FormatBool(t)
	}
	return v, nil
}

func (v *value) fill(d *json.Decoder, depth int) error {
	places := map[string]int{}
	for d.More() {
		name := ""
		if v.kind == object {
			key, err := d.Token()
			if err != nil {
				return err //nolint:wrapcheck // It is not shown.
			}
			name, _ = key.(string)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err //nolint:wrapcheck // It is not shown.
		}
		item, err := readAt(raw, depth+1)
		if err != nil {
			return err
		}
		at, twice := places[name]
		switch {
		case v.kind == list:
			v.items = append(v.items, item)
		case twice:
			v.members[at].value = item
		default:
			places[name] = len(v.members)
			v.members = append(v.members, member{name, item})
		}
	}
	return nil
}

// get returns a member.
func (v *value) get(name string) (value, bool) {
	for i := range v.members {
		if v.members[i].name == name {
			return v.members[i].value, true
		}
	}
	return value{}, false
}

// plain reports whether a value has no parts.
func (v *value) plain() bool { return v.kind != list && v.kind != object }

// largest is the largest number that is drawn: differences of larger ones are not finite.
const largest = 1e100

// float returns the number that a value is, or that its text has.
func (v *value) float() (float64, bool) {
	if v.kind != number && v.kind != scalar {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v.text), 64)
	return f, err == nil && math.Abs(f) <= largest
}

// objects reports whether a value is a list of objects only.
func (v *value) objects() bool {
	if v.kind != list || len(v.items) == 0 {
		return false
	}
	for i := range v.items {
		if v.items[i].kind != object {
			return false
		}
	}
	return true
}

// flat reports whether no member of an object has parts.
func (v *value) flat() bool {
	return !slices.ContainsFunc(v.members, func(m member) bool { return !m.plain() })
}
