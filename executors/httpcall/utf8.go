package httpcall

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yosida95/uritemplate/v3"
)

// The template library percent-encodes the number of a character instead of its
// UTF-8 (RFC 6570, section 3.2.1), counts the bytes of a prefix instead of its
// characters (section 2.4.1), and writes the names of {?pairs*} as they are, so
// that a name could add parameters. As a workaround it is given each byte as a
// character, prefixes in bytes, and such names encoded.

// operators are what an expression may begin with.
const operators = "+./;?&#"

// maxPrefix is the longest prefix that a template may have.
const maxPrefix = 9999

var errLongPrefix = errors.New("a prefix of the URL's template is too long")

// fill expands the template.
func (t *template) fill(values uritemplate.Values) (string, error) {
	parsed, given := t.parsed, make(uritemplate.Values, len(values))
	for name, v := range values {
		given[name] = bytewiseValue(v)
	}
	if t.modified {
		raw, err := t.rewrite(values, given)
		if err != nil {
			return "", err
		}
		if parsed, err = uritemplate.New(raw); err != nil {
			return "", fmt.Errorf("parsing a template for its values: %w", err)
		}
	}
	return parsed.Expand(given)
}

// rewrite returns the template for values: with prefixes in bytes, and each
// {?pairs*} under a name of its own, which it adds to given.
func (t *template) rewrite(values, given uritemplate.Values) (string, error) {
	var b strings.Builder
	for i, part := range strings.Split(t.raw, "{") {
		expression, literal, closed := strings.Cut(part, "}")
		if i == 0 || !closed {
			b.WriteString(part)
			continue
		}
		names := strings.TrimLeft(expression, operators)
		operator := strings.TrimSuffix(expression, names)
		variables := strings.Split(names, ",")
		for at, variable := range variables {
			name, count, prefixed := strings.Cut(variable, ":")
			pairs, exploded := strings.CutSuffix(variable, "*")
			switch {
			case prefixed:
				n, err := strconv.Atoi(count)
				size := max(1, sizeOf(values.Get(name).String(), n))
				if err != nil || size > maxPrefix {
					return "", errLongPrefix
				}
				variables[at] = name + ":" + strconv.Itoa(size)
			case exploded && operator != "" && strings.Contains("?&;", operator) &&
				values.Get(pairs).T == uritemplate.ValueTypeKV:
				alias := fmt.Sprintf("toolcrib.pairs.%d.%d", i, at)
				given[alias] = encodedNames(values.Get(pairs))
				variables[at] = alias + "*"
			}
		}
		b.WriteString("{" + operator + strings.Join(variables, ",") + "}" + literal)
	}
	return b.String(), nil
}

// bytewise returns s with each byte as a character: ASCII as it is.
func bytewise(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

func bytewiseValue(v uritemplate.Value) uritemplate.Value {
	out := uritemplate.Value{T: v.T, V: make([]string, len(v.V))}
	for i, s := range v.V {
		out.V[i] = bytewise(s)
	}
	return out
}

// encodedNames returns pairs whose names are percent-encoded already.
func encodedNames(v uritemplate.Value) uritemplate.Value {
	out := bytewiseValue(v)
	for i := 0; i < len(v.V); i += 2 {
		out.V[i] = strings.ReplaceAll(url.QueryEscape(v.V[i]), "+", "%20")
	}
	return out
}

// sizeOf returns how many bytes the first n characters of s have bytewise.
func sizeOf(s string, n int) int {
	end := 0
	for range n {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return len(bytewise(s[:end]))
}
