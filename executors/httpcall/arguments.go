package httpcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolcrib/toolcrib/tool"
)

// arguments are a call's, taken apart without touching their bytes.
type arguments struct {
	root    part
	names   []string // In the caller's order.
	members map[string]json.RawMessage
}

// part is a JSON value that is taken apart when it is first asked for a
// member, and once: many references may lead through it.
type part struct {
	raw    json.RawMessage
	parsed bool
	object map[string]json.RawMessage
	array  []json.RawMessage
	below  map[string]*part // The members that were asked for.
}

// member returns the member or item that a pointer's token names, or nil.
func (v *part) member(token string) *part {
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
		v.below = make(map[string]*part)
	}
	v.below[token] = &part{raw: raw}
	return v.below[token]
}

func (v *part) parse() {
	if v.parsed {
		return
	}
	v.parsed = true
	var err error
	switch kind(v.raw) {
	case '{':
		err = json.Unmarshal(v.raw, &v.object)
	case '[':
		err = json.Unmarshal(v.raw, &v.array)
	}
	if err != nil { // Can't be: the arguments are valid.
		v.object, v.array = nil, nil
	}
}

func readArguments(raw json.RawMessage) (*arguments, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	a := &arguments{members: make(map[string]json.RawMessage)}
	a.root = part{raw: raw, parsed: true, object: a.members}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, argument("", "want a JSON object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, argument("", "malformed JSON")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, argument("", "malformed JSON")
		}
		key, _ := name.(string) // Keys are strings.
		if _, twice := a.members[key]; !twice {
			a.names = append(a.names, key)
		}
		a.members[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, argument("", "malformed JSON")
	}
	return a, nil
}

// at returns the value at p, which may be null.
func (v *part) at(p Pointer) (json.RawMessage, bool) {
	for _, token := range p.tokens {
		if v = v.member(token); v == nil {
			return nil, false
		}
	}
	return v.raw, true
}

// find returns the value at p; absent and null are not found.
func (a *arguments) find(p Pointer) (json.RawMessage, bool) {
	v, ok := a.root.at(p)
	return v, ok && !isNull(v)
}

// scalar returns the text of a string, number or boolean.
func scalar(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || isNull(raw):
		return "", false
	case raw[0] == '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return "", false
		}
		return s, true
	default:
		return string(raw), true // As the caller spelled it.
	}
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

func argument(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "httpcall.Execute", Path: path, Msg: fmt.Sprintf("argument %s: %s", orRoot(path), msg)}
}

func orRoot(path string) string {
	if path == "" {
		return "/"
	}
	return path
}
