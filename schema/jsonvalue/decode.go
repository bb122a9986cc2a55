package jsonvalue

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// MaxDepth is the default maximum nesting of [Decode].
const MaxDepth = 256

// Error is the reason why a text is refused. Msg contains no value of the text.
type Error struct {
	Path   string // JSON Pointer of the offending value; "" for the whole.
	Offset int    // Byte at which reading stopped, from 0.
	Msg    string
	Syntax bool // The text is not JSON; else it is, and breaks a rule.
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Msg
	}
	return "at " + e.Path + ": " + e.Msg
}

// Decode decodes one JSON value that nests at most depth deep, [MaxDepth] when depth is not positive. It
// fails with an [*Error]; see the package for what is refused.
func Decode(raw []byte, depth int) (*Value, error) {
	d := newDecoder(raw, depth, true)
	return d.document()
}

// Check fails like [Decode], without building the value. It reports whether raw is in canonical form.
func Check(raw []byte, depth int) (canonical bool, err error) {
	d := newDecoder(raw, depth, false)
	d.canonical = true
	_, err = d.document()
	return d.canonical && err == nil, err
}

// Canonical returns the canonical form of raw, or raw itself if it has that form. It fails like
// [Decode].
func Canonical(raw []byte, depth int) ([]byte, error) {
	canonical, err := Check(raw, depth)
	if err != nil || canonical {
		return raw, err
	}
	v, err := Decode(raw, depth)
	if err != nil {
		return nil, err
	}
	return v.Append(make([]byte, 0, len(raw))), nil
}

type decoder struct {
	text      string
	pos       int
	depth     int // Levels left.
	build     bool
	canonical bool      // So far, when nothing is built.
	path      []token   // Where the decoder is, for errors only.
	chunk     []Value   // Preallocated values.
	names     []located // Names of the objects that are open, innermost last.
	items     []*Value  // Parts of the arrays that are open, innermost last.

	// Room for what most payloads need, so that the slices above begin without
	// allocations of their own.
	room struct {
		path  [4]token
		names [8]located
		items [8]*Value
	}
}

type token struct {
	name  string
	index int // Of an item; -1 for a member.
}

type located struct {
	member Member
	at     int
}

func newDecoder(raw []byte, depth int, build bool) *decoder {
	if depth <= 0 {
		depth = MaxDepth
	}
	d := &decoder{text: string(raw), depth: depth, build: build}
	d.path, d.names, d.items = d.room.path[:0], d.room.names[:0], d.room.items[:0]
	return d
}

func (d *decoder) document() (*Value, error) {
	if !utf8.ValidString(d.text) {
		at := 0
		for i, r := range d.text {
			if r == utf8.RuneError && !strings.HasPrefix(d.text[i:], "\uFFFD") {
				at = i
				break
			}
		}
		return nil, &Error{Offset: at, Msg: fmt.Sprintf("not JSON: it is not valid UTF-8 at byte %d", at), Syntax: true}
	}
	d.space()
	v, err := d.value()
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(d.text) {
		return nil, &Error{Offset: d.pos, Msg: "not JSON: more text after the value", Syntax: true}
	}
	return v, nil
}

func (d *decoder) space() {
	for d.pos < len(d.text) {
		switch d.text[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
			d.canonical = false
		default:
			return
		}
	}
}

func (d *decoder) syntax() error {
	if d.pos >= len(d.text) {
		return &Error{Offset: len(d.text), Msg: "not JSON: it ends early", Syntax: true}
	}
	return &Error{Offset: d.pos, Msg: fmt.Sprintf("not JSON: syntax error at byte %d", d.pos+1), Syntax: true}
}

// refuse returns the error for JSON that breaks a rule, at the current place.
func (d *decoder) refuse(at int, msg string) error {
	var path strings.Builder
	for _, t := range d.path {
		path.WriteByte('/')
		if t.index >= 0 {
			path.WriteString(strconv.Itoa(t.index))
		} else {
			path.WriteString(jsonpointer.Escape(t.name))
		}
	}
	return &Error{Path: path.String(), Offset: at, Msg: msg}
}

func (d *decoder) value() (*Value, error) {
	if d.pos >= len(d.text) {
		return nil, d.syntax()
	}
	switch c := d.text[d.pos]; {
	case c == '{' || c == '[':
		if d.depth--; d.depth < 0 {
			return nil, d.refuse(d.pos, "nested too deeply")
		}
		read := d.object
		if c == '[' {
			read = d.array
		}
		v, err := read()
		d.depth++
		return v, err
	case c == '"':
		text, err := d.string()
		if err != nil {
			return nil, err
		}
		return d.scalar(String, text), nil
	case c == '-' || c-'0' <= 9:
		return d.number()
	case strings.HasPrefix(d.text[d.pos:], "null"):
		d.pos += len("null")
		return d.scalar(Null, ""), nil
	case strings.HasPrefix(d.text[d.pos:], "true"):
		d.pos += len("true")
		return d.scalar(True, ""), nil
	case strings.HasPrefix(d.text[d.pos:], "false"):
		d.pos += len("false")
		return d.scalar(False, ""), nil
	default:
		return nil, d.word()
	}
}

// word returns the error for a text that does not start like a value.
func (d *decoder) word() error {
	for _, word := range []string{"null", "true", "false"} {
		if strings.HasPrefix(word, d.text[d.pos:]) {
			d.pos = len(d.text)
		}
	}
	return d.syntax()
}

// scalar returns a value; nil when nothing is built.
func (d *decoder) scalar(kind Kind, text string) *Value {
	if !d.build {
		return nil
	}
	if len(d.chunk) == 0 {
		d.chunk = make([]Value, min(max((len(d.text)-d.pos)/16, 4), 128))
	}
	v := &d.chunk[0]
	d.chunk = d.chunk[1:]
	v.kind, v.text = kind, text
	return v
}

func (d *decoder) number() (*Value, error) {
	rest := d.text[d.pos:]
	n := numberLength(rest)
	if n == 0 {
		for d.pos < len(d.text) && strings.IndexByte("-0123456789.eE+", d.text[d.pos]) >= 0 {
			d.pos++
		}
		return nil, d.syntax()
	}
	if reason := CheckNumber(rest[:n]); reason != "" {
		return nil, d.refuse(d.pos, reason)
	}
	d.pos += n
	return d.scalar(Number, rest[:n]), nil
}

func (d *decoder) array() (*Value, error) {
	d.pos++
	d.space()
	base := len(d.items)
	if d.pos < len(d.text) && d.text[d.pos] == ']' {
		d.pos++
		return d.scalar(Array, ""), nil
	}
	d.path = append(d.path, token{})
	for i := 0; ; i++ {
		d.path[len(d.path)-1].index = i
		d.space()
		item, err := d.value()
		if err != nil {
			return nil, err
		}
		if d.build {
			d.items = append(d.items, item)
		}
		d.space()
		if d.pos >= len(d.text) || d.text[d.pos] != ',' && d.text[d.pos] != ']' {
			return nil, d.syntax()
		}
		d.pos++
		if d.text[d.pos-1] == ']' {
			break
		}
	}
	d.path = d.path[:len(d.path)-1]
	v := d.scalar(Array, "")
	if d.build {
		v.parts = &parts{items: slices.Clone(d.items[base:])}
		d.items = d.items[:base]
	}
	return v, nil
}

func (d *decoder) object() (*Value, error) {
	d.pos++
	d.space()
	base := len(d.names)
	if d.pos < len(d.text) && d.text[d.pos] == '}' {
		d.pos++
		return d.scalar(Object, ""), nil
	}
	d.path = append(d.path, token{index: -1})
	sorted := true
	for {
		d.space()
		at := d.pos
		if d.pos >= len(d.text) || d.text[d.pos] != '"' {
			return nil, d.syntax()
		}
		d.path[len(d.path)-1].name = "" // A bad name is a fault of its object.
		name, err := d.string()
		if err != nil {
			return nil, err
		}
		d.path[len(d.path)-1].name = name
		d.space()
		if d.pos >= len(d.text) || d.text[d.pos] != ':' {
			return nil, d.syntax()
		}
		d.pos++
		d.space()
		item, err := d.value()
		if err != nil {
			return nil, err
		}
		if n := len(d.names); n > base && d.names[n-1].member.Name >= name {
			sorted = false
		}
		d.names = append(d.names, located{Member{name, item}, at})
		d.space()
		if d.pos >= len(d.text) || d.text[d.pos] != ',' && d.text[d.pos] != '}' {
			return nil, d.syntax()
		}
		d.pos++
		if d.text[d.pos-1] == '}' {
			break
		}
	}
	d.path = d.path[:len(d.path)-1]
	v, err := d.close(d.names[base:], sorted)
	d.names = d.names[:base]
	return v, err
}

// close returns an object of its members.
func (d *decoder) close(names []located, sorted bool) (*Value, error) {
	if !sorted {
		d.canonical = false
		slices.SortStableFunc(names, func(a, b located) int { return strings.Compare(a.member.Name, b.member.Name) })
		for i := 1; i < len(names); i++ {
			if names[i].member.Name == names[i-1].member.Name {
				d.path = append(d.path, token{name: names[i].member.Name, index: -1})
				return nil, d.refuse(names[i].at, fmt.Sprintf("duplicate member, at byte %d and again at byte %d: send each "+
					"name once",
					names[i-1].at+1, names[i].at+1))
			}
		}
	}
	v := d.scalar(Object, "")
	if d.build {
		members := make([]Member, len(names))
		for i := range names {
			members[i] = names[i].member
		}
		v.parts = &parts{members: members}
	}
	return v, nil
}

// string parses a string and returns its content.
func (d *decoder) string() (string, error) {
	start := d.pos + 1
	for i := start; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '"':
			d.pos = i + 1
			text := d.text[start:i]
			if d.canonical && strings.Contains(text, "\u2028") || d.canonical && strings.Contains(text, "\u2029") {
				d.canonical = false
			}
			return text, nil
		case c == '\\':
			return d.escaped(start, i)
		case c < ' ':
			d.pos = i
			return "", d.syntax()
		}
	}
	d.pos = len(d.text)
	return "", d.syntax()
}

// escaped parses the rest of a string from its first escape.
func (d *decoder) escaped(start, first int) (string, error) {
	out := append(make([]byte, 0, min(len(d.text)-start, first-start+64)), d.text[start:first]...)
	i := first
	for i < len(d.text) {
		switch c := d.text[i]; {
		case c == '"':
			d.pos = i + 1
			text := string(out)
			if d.canonical {
				d.canonical = string(appendString(out[:0:0], text)) == d.text[start-1:d.pos]
			}
			return text, nil
		case c == '\\':
			r, size, reason := Escape(d.text[i:])
			if size == 0 {
				d.pos = min(i+1, len(d.text))
				return "", d.syntax()
			}
			if reason != "" {
				return "", d.refuse(i, reason)
			}
			out = utf8.AppendRune(out, r)
			i += size
		case c < ' ':
			d.pos = i
			return "", d.syntax()
		default:
			out = append(out, c)
			i++
		}
	}
	d.pos = len(d.text)
	return "", d.syntax()
}

// Escape parses the escape at the start of text. It returns its character and its size in bytes: 0 if it
// is not an escape of JSON. An escape that is not allowed in a value has a reason.
func Escape(text string) (r rune, size int, reason string) {
	if len(text) < 2 {
		return 0, 0, ""
	}
	if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2, ""
	}
	r, ok := unicodeEscape(text)
	switch {
	case !ok:
		return 0, 0, ""
	case r == 0:
		return 0, 6, "a string with a NUL character"
	case !utf16.IsSurrogate(r):
		return r, 6, ""
	}
	if low, ok := unicodeEscape(text[6:]); ok {
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			return r, 12, ""
		}
	}
	return 0, 6, "a string with half a surrogate pair"
}

// unicodeEscape parses \uXXXX at the start of text.
func unicodeEscape(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil && strings.IndexByte(text[2:6], '_') < 0 && text[2] != '+' && text[2] != '-'
}

// CheckString returns why text is not allowed in a string; empty if it is.
func CheckString(text string) (reason string) {
	switch {
	case !utf8.ValidString(text):
		return "a string that is not valid UTF-8"
	case strings.IndexByte(text, 0) >= 0:
		return "a string with a NUL character"
	default:
		return ""
	}
}
