package jsonvalue

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is the JSON type of a [Value].
type Kind uint8

// The JSON types.
const (
	Null Kind = iota
	False
	True
	Number
	String
	Array
	Object
)

// Value is a decoded JSON value. It is immutable once built, may be shared
// between values, and is safe for concurrent reads. Its address identifies it.
type Value struct {
	kind  Kind
	text  string // Content of a string, spelling of a number.
	parts *parts // Of arrays and objects; nil when empty.
}

type parts struct {
	items   []*Value
	members []Member
}

// Member is a named value of an object.
type Member struct {
	Name  string
	Value *Value
}

// NullValue is JSON's null.
var NullValue = &Value{kind: Null}

// NewBool returns a boolean.
func NewBool(b bool) *Value {
	if b {
		return &Value{kind: True}
	}
	return &Value{kind: False}
}

// NewString returns a string. text must pass [CheckString].
func NewString(text string) *Value { return &Value{kind: String, text: text} }

// NewNumber returns a number. literal must pass [CheckNumber].
func NewNumber(literal string) *Value { return &Value{kind: Number, text: literal} }

// NewArray returns an array that keeps items.
func NewArray(items []*Value) *Value {
	if len(items) == 0 {
		return &Value{kind: Array}
	}
	return &Value{kind: Array, parts: &parts{items: items}}
}

// NewObject returns an object that keeps members and sorts them by name. Names
// must differ.
func NewObject(members []Member) *Value {
	if len(members) == 0 {
		return &Value{kind: Object}
	}
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return &Value{kind: Object, parts: &parts{members: members}}
}

// Kind returns the JSON type.
func (v *Value) Kind() Kind { return v.kind }

// Text returns the content of a string or the spelling of a number; else "".
func (v *Value) Text() string { return v.text }

// Items returns the items of an array; callers must not change them.
func (v *Value) Items() []*Value {
	if v.parts == nil {
		return nil
	}
	return v.parts.items
}

// Members returns the members of an object, sorted by name; callers must not
// change them.
func (v *Value) Members() []Member {
	if v.parts == nil {
		return nil
	}
	return v.parts.members
}

// Len returns the number of items or members.
func (v *Value) Len() int {
	if v.parts == nil {
		return 0
	}
	return len(v.parts.items) + len(v.parts.members)
}

// Get returns the member called name, or nil.
func (v *Value) Get(name string) *Value {
	if i := v.Index(name); i >= 0 {
		return v.parts.members[i].Value
	}
	return nil
}

// Index returns the position of the member called name, or -1.
func (v *Value) Index(name string) int {
	members := v.Members()
	low, high := 0, len(members)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if members[mid].Name < name {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(members) && members[low].Name == name {
		return low
	}
	return -1
}

// Any returns the value as encoding/json decodes it with UseNumber.
func (v *Value) Any() any {
	switch v.kind {
	case False, True:
		return v.kind == True
	case Number:
		return json.Number(v.text)
	case String:
		return v.text
	case Array:
		out := make([]any, v.Len())
		for i, item := range v.Items() {
			out[i] = item.Any()
		}
		return out
	case Object:
		out := make(map[string]any, v.Len())
		for _, m := range v.Members() {
			out[m.Name] = m.Value.Any()
		}
		return out
	case Null:
	}
	return nil
}

// Append appends the canonical form of v to dst.
func (v *Value) Append(dst []byte) []byte {
	switch v.kind {
	case Null:
		return append(dst, "null"...)
	case False:
		return append(dst, "false"...)
	case True:
		return append(dst, "true"...)
	case Number:
		return append(dst, v.text...)
	case String:
		return appendString(dst, v.text)
	case Array:
		dst = append(dst, '[')
		for i, item := range v.Items() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.Append(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range v.Members() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, m.Name), ':')
			dst = m.Value.Append(dst)
		}
		return append(dst, '}')
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// appendString writes a string like encoding/json without HTML escapes.
func appendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if plain(c) {
				i++
				continue
			}
			dst = append(append(dst, text[start:i]...), '\\')
			switch c {
			case '"', '\\':
				dst = append(dst, c)
			case '\b':
				dst = append(dst, 'b')
			case '\f':
				dst = append(dst, 'f')
			case '\n':
				dst = append(dst, 'n')
			case '\r':
				dst = append(dst, 'r')
			case '\t':
				dst = append(dst, 't')
			default:
				dst = append(dst, 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == '\u2028' || r == '\u2029' { // Like encoding/json, for JavaScript.
			dst = append(append(dst, text[start:i]...), `\u202`...)
			dst = append(dst, hexDigits[r&15])
			start = i + size
		}
		i += size
	}
	return append(append(dst, text[start:]...), '"')
}

// plain reports whether an ASCII byte needs no escape in a string.
func plain(c byte) bool { return c >= ' ' && c != '"' && c != '\\' }
