package httpcall

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Pointer is a JSON Pointer, RFC 6901, into a call's arguments.
type Pointer struct {
	tokens []string
}

// ParsePointer reads a pointer: empty for the whole, else starting with a
// slash. It fails with [tool.Invalid].
func ParsePointer(s string) (Pointer, error) {
	if s == "" {
		return Pointer{}, nil
	}
	rest, ok := strings.CutPrefix(s, "/")
	if !ok {
		return Pointer{}, fault("", fmt.Sprintf("JSON Pointer %q does not start with a slash", s))
	}
	tokens := strings.Split(rest, "/")
	for i, t := range tokens {
		if bad := strings.NewReplacer("~0", "", "~1", "").Replace(t); strings.Contains(bad, "~") {
			return Pointer{}, fault("", fmt.Sprintf("JSON Pointer %q has a ~ that is neither ~0 nor ~1", s))
		}
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return Pointer{tokens: tokens}, nil
}

// String returns the pointer's text.
func (p Pointer) String() string {
	var b strings.Builder
	for _, t := range p.tokens {
		b.WriteString("/" + escape(t))
	}
	return b.String()
}

// top returns the argument that p leads into; empty for the whole.
func (p Pointer) top() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

// find returns the bytes of the value that p points to.
func (p Pointer) find(raw json.RawMessage) (json.RawMessage, bool) {
	for _, t := range p.tokens {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) == nil && object != nil {
			next, ok := object[t]
			if !ok {
				return nil, false
			}
			raw = next
			continue
		}
		var array []json.RawMessage
		i, err := strconv.Atoi(t)
		if json.Unmarshal(raw, &array) != nil || err != nil || strconv.Itoa(i) != t || i < 0 || i >= len(array) {
			return nil, false
		}
		raw = array[i]
	}
	return raw, true
}

// escape returns a member's name as a pointer's token.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
