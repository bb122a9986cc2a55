package httpcall

import (
	"fmt"
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
	if len(tokens) > maxDepth {
		return Pointer{}, fault("", fmt.Sprintf("a JSON Pointer of %d parts: at most %d", len(tokens), maxDepth))
	}
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

// escape returns a member's name as a pointer's token.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// MarshalText implements [encoding.TextMarshaler].
func (p Pointer) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Pointer) UnmarshalText(text []byte) error {
	parsed, err := ParsePointer(string(text))
	*p = parsed
	return err
}
