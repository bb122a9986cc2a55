package httpcall

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Value is a literal string in a configuration, or a reference to an argument.
type Value struct {
	Literal string
	From    *Pointer // Nil for a literal.
	Style   Style    // How an array or object is written; only beside From.
}

// Values are values by the name of their parameter, header, cookie or field.
type Values map[string]Value

// Style is how an array or object is written as text. Items and members are
// strings, numbers or booleans, except for the styles deep and json.
type Style string

// Styles.
const (
	// StyleRepeat is a=1&a=2: one parameter for each item; other values as JSON. It
	// is the default of parameters and fields.
	StyleRepeat Style = "repeat"
	StyleComma  Style = "comma" // a=1,2 of an array, a=k,1,l,2 of an object.
	StyleSpace  Style = "space" // a=1%202
	StylePipe   Style = "pipe"  // a=1%7C2
	StylePairs  Style = "pairs" // k=1&l=2: the members of an object are parameters; in a header k=1,l=2.
	StyleDeep   Style = "deep"  // a[k]=1&a[l][m]=2&a[n][]=3, at any depth.
	StyleJSON   Style = "json"  // a={"k":1}: as JSON.
)

var (
	styles       = []Style{StyleRepeat, StyleComma, StyleSpace, StylePipe, StylePairs, StyleDeep, StyleJSON}
	headerStyles = []Style{StyleComma, StylePairs, StyleJSON}
)

// MarshalJSON implements [json.Marshaler].
func (v Value) MarshalJSON() ([]byte, error) {
	if v.From == nil {
		return json.Marshal(v.Literal)
	}
	return json.Marshal(struct {
		From  *Pointer `json:"from"`
		Style Style    `json:"style,omitempty"`
	}{v.From, v.Style})
}

// UnmarshalJSON implements [json.Unmarshaler]. Numbers and booleans are
// literals with their own spelling.
func (v *Value) UnmarshalJSON(raw []byte) error {
	*v = Value{}
	if kind(raw) == '{' {
		if err := readMembers(raw, map[string]any{"from": &v.From, "style": &v.Style}); err != nil {
			return err
		}
		if v.From == nil {
			return errNoValue
		}
		return nil
	}
	text, ok := scalar(raw)
	if !ok {
		return errNoValue
	}
	v.Literal = text
	return nil
}

var errNoValue = fault("", `want a string, or {"from": "/pointer"}`)

// UnmarshalJSON implements [json.Unmarshaler].
func (v *Values) UnmarshalJSON(raw []byte) error {
	*v = nil
	if isNull(raw) {
		return nil
	}
	object, err := readObject(raw)
	if err != nil {
		return err
	}
	*v = make(Values, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		var value Value
		if isNull(object[name]) { // The decoder treats null as absent.
			return within("/"+jsonpointer.Escape(name), errNoValue)
		}
		if err := readValue("/"+jsonpointer.Escape(name), object[name], &value); err != nil {
			return err
		}
		(*v)[name] = value
	}
	return nil
}

// names returns the names in order, so that equal calls make equal requests.
func (v Values) names() []string { return slices.Sorted(maps.Keys(v)) }

// checkStyles refuses styles that are not allowed for values at path.
func (v Values) checkStyles(path string, allowed []Style) error {
	for _, name := range v.names() {
		if s := v[name].Style; s != "" && !slices.Contains(allowed, s) {
			return fault(path+"/"+jsonpointer.Escape(name)+"/style", fmt.Sprintf("%.40q is none of %v", s, allowed))
		}
	}
	return nil
}

// reference reads raw as {"from": "/pointer"}; ok is false when it is
// something else.
func reference(raw json.RawMessage) (p *Pointer, ok bool, err error) {
	if kind(raw) != '{' {
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
	if json.Unmarshal(from, &text) != nil || kind(from) != '"' {
		return nil, false, nil //nolint:nilerr // Something else that has a member "from".
	}
	ptr, err := ParsePointer(text)
	if err != nil {
		return nil, false, err
	}
	return &ptr, true, nil
}
