package httpcall

import (
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Pointer is a JSON Pointer, RFC 6901, into a call's arguments.
type Pointer struct {
	jsonpointer.Pointer
}

// ParsePointer parses a pointer: empty for the whole value, else starting with a
// slash. It fails with [tool.Invalid].
func ParsePointer(s string) (Pointer, error) {
	p, err := jsonpointer.Parse(s)
	if err != nil {
		return Pointer{}, &tool.Error{Kind: tool.Invalid, Op: "httpcall.CheckConfig", Msg: err.Error(), Err: err}
	}
	return Pointer{p}, nil
}

// top returns the argument that p points into; empty for all of them.
func (p Pointer) top() string {
	if tokens := p.Tokens(); len(tokens) > 0 {
		return tokens[0]
	}
	return ""
}

// MarshalText implements [encoding.TextMarshaler].
func (p Pointer) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Pointer) UnmarshalText(text []byte) error {
	parsed, err := ParsePointer(string(text))
	*p = parsed
	return err
}
