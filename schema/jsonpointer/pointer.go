package jsonpointer

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxTokens bounds the tokens of a pointer.
const MaxTokens = 64

// Pointer points from a JSON value to one inside it. The zero value points to the whole.
type Pointer struct {
	tokens []string
}

var (
	escapes   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapes = strings.NewReplacer("~1", "/", "~0", "~")
	valid     = strings.NewReplacer("~0", "", "~1", "")
)

// New returns the pointer with the given tokens, which are not escaped.
func New(tokens ...string) Pointer { return Pointer{tokens: tokens} }

// Parse parses a pointer: empty for the whole, else starting with a slash.
func Parse(s string) (Pointer, error) {
	if s == "" {
		return Pointer{}, nil
	}
	rest, ok := strings.CutPrefix(s, "/")
	if !ok {
		return Pointer{}, fmt.Errorf("JSON Pointer %.80q does not start with a slash", s)
	}
	tokens := strings.Split(rest, "/")
	if len(tokens) > MaxTokens {
		return Pointer{}, fmt.Errorf("JSON Pointer %.80q has %d parts: at most %d", s, len(tokens), MaxTokens)
	}
	for i, t := range tokens {
		if strings.Contains(valid.Replace(t), "~") {
			return Pointer{}, fmt.Errorf("JSON Pointer %.80q has a ~ that is neither ~0 nor ~1", s)
		}
		tokens[i] = unescapes.Replace(t)
	}
	return Pointer{tokens: tokens}, nil
}

// Tokens returns the unescaped tokens of p. Never change them.
func (p Pointer) Tokens() []string { return p.tokens }

// String returns the pointer's text.
func (p Pointer) String() string {
	var b strings.Builder
	for _, t := range p.tokens {
		b.WriteString("/" + Escape(t))
	}
	return b.String()
}

// Lookup returns the value that p points to in v, which is as encoding/json decodes into an any, and
// reports whether there is one.
func (p Pointer) Lookup(v any) (any, bool) {
	for _, token := range p.tokens {
		switch container := v.(type) {
		case map[string]any:
			member, ok := container[token]
			if !ok {
				return nil, false
			}
			v = member
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(container) {
				return nil, false
			}
			v = container[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// Escape escapes a member's name as a token.
func Escape(name string) string { return escapes.Replace(name) }

// Unescape returns the name of a token.
func Unescape(token string) string { return unescapes.Replace(token) }
