package httpcall

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// template is a checked URL template.
type template struct {
	raw        string
	parsed     *uritemplate.Template
	modified   bool           // Some variable has a prefix or is exploded: {id:3}, {?pairs*}.
	origin     *url.URL       // The literal scheme, host and port.
	required   []string       // Variables outside {?…} and {&…}.
	reserved   []string       // Variables of {+…}, whose values are not escaped.
	names      []string       // All variables.
	uses       map[string]int // Number of occurrences.
	references int            // Number of occurrences of all.
}

func parseTemplate(raw string) (*template, error) {
	origin, rest, err := literalOrigin(raw)
	if err != nil {
		return nil, err
	}
	parsed, err := uritemplate.New(raw)
	if err != nil {
		return nil, fault("/url", "not an RFC 6570 template")
	}
	if strings.Contains(rest, "#") {
		return nil, fault("/url", "a fragment is never sent: leave it out")
	}
	if holdsSecret(rest) {
		return nil, fault("/url", noLiteralSecret)
	}
	t := &template{raw: raw, parsed: parsed, origin: origin, names: parsed.Varnames(), uses: make(map[string]int)}
	inQuery := false
	for i, part := range strings.Split(rest, "{") {
		expression, literal, closed := strings.Cut(part, "}")
		if i == 0 || !closed {
			inQuery = inQuery || strings.Contains(part, "?")
			continue
		}
		t.modified = t.modified || strings.ContainsAny(expression, ":*")
		for _, name := range variables(expression) {
			t.uses[name]++
			t.references++
		}
		optional := strings.HasPrefix(expression, "?") || strings.HasPrefix(expression, "&")
		if !optional {
			t.required = append(t.required, variables(expression)...)
		}
		if strings.HasPrefix(expression, "+") {
			t.reserved = append(t.reserved, variables(expression)...)
		}
		inQuery = inQuery || optional || strings.Contains(literal, "?")
		if inQuery && strings.HasPrefix(expression, "/") {
			return nil, fault("/url", "a path expression after the query")
		}
	}
	return t, nil
}

// holdsSecret reports whether a query parameter in a template has the name of
// a secret and a literal value.
func holdsSecret(rest string) bool {
	var b strings.Builder // The template without expressions; & for those that make parameters.
	for i, part := range strings.Split(rest, "{") {
		expression, literal, closed := strings.Cut(part, "}")
		switch {
		case i == 0 || !closed:
			literal = part
		case strings.HasPrefix(expression, "?"), strings.HasPrefix(expression, "&"):
			b.WriteString(expression[:1])
		}
		b.WriteString(literal)
	}
	_, query, _ := strings.Cut(b.String(), "?")
	for parameter := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == '?' || r == ';' }) {
		name, value, _ := strings.Cut(parameter, "=")
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
		if value != "" && secret.SensitiveKey(name) {
			return true
		}
	}
	return false
}

// literalOrigin returns the scheme, host and port of a template, which must be
// literal, and the rest of it.
func literalOrigin(raw string) (*url.URL, string, error) {
	scheme, after, ok := strings.Cut(raw, "://")
	if !ok || strings.ContainsAny(scheme, "{}") {
		return nil, "", fault("/url", "want http:// or https:// and a literal host")
	}
	end := strings.IndexAny(after, "/?#{\\")
	if end < 0 {
		end = len(after)
	}
	rest := after[end:]
	if strings.HasPrefix(rest, "\\") || strings.HasPrefix(rest, "#") ||
		strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, "{/") && !strings.HasPrefix(rest, "{?") {
		return nil, "", fault("/url", "scheme, host and port must be literals: begin the template at the path or query")
	}
	u, err := url.Parse(scheme + "://" + after[:end])
	if err != nil {
		return nil, "", fault("/url", "malformed scheme, host or port")
	}
	if err := egress.CheckURL(u); err != nil {
		return nil, "", fault("/url", messageOf(err))
	}
	return u, rest, nil
}

// variables returns the names in an expression.
func variables(expression string) []string {
	var names []string
	for v := range strings.SplitSeq(strings.TrimLeft(expression, operators), ",") {
		name, _, _ := strings.Cut(strings.TrimSuffix(v, "*"), ":")
		names = append(names, name)
	}
	return names
}

// expand fills the template in and returns the URL.
func (t *template) expand(ctx context.Context, args *arguments, variables Values) (*url.URL, error) {
	values, left := make(uritemplate.Values, len(t.names)), urlRoom()
	for _, name := range t.names {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		raw, ptr, ok := args.variable(name, variables)
		if !ok {
			if slices.Contains(t.required, name) {
				return nil, argument(ptr.String(), "required in the URL's path")
			}
			continue
		}
		if err := left.fits(ptr.String(), raw); err != nil {
			return nil, err
		}
		v, err := templateValue(ptr.String(), raw)
		if err != nil {
			return nil, err
		}
		if err := left.take(ptr.String(), expanded(name, v)*t.uses[name]); err != nil {
			return nil, err
		}
		if slices.Contains(t.required, name) && isEmpty(v) {
			return nil, argument(ptr.String(), "empty, but required in the URL's path")
		}
		if slices.Contains(t.reserved, name) && strings.ContainsAny(strings.Join(v.V, ""), "?#") {
			return nil, argument(ptr.String(), "may not hold ? or #, which would end the URL's path")
		}
		values[name] = v
	}
	text, err := t.fill(values)
	if err != nil {
		return nil, argument("", "can't be filled into the URL")
	}
	return t.check(text)
}

// check parses an expanded template, and refuses arguments that changed its host or
// moved up its path.
func (t *template) check(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != t.origin.Scheme || u.Host != t.origin.Host || u.User != nil || u.Fragment != "" {
		return nil, argument("", "can't be filled into the URL")
	}
	for segment := range strings.FieldsFuncSeq(u.Path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == "." || segment == ".." {
			return nil, argument("", "a path segment must not be . or ..")
		}
	}
	return u, nil
}

// hostport returns the literal host with its port, in the form of a credential's
// hosts.
func (t *template) hostport() string {
	port := t.origin.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[t.origin.Scheme]
	}
	return net.JoinHostPort(t.origin.Hostname(), port)
}

// sameOrigin reports whether u has the template's scheme, host and port.
func (t *template) sameOrigin(u *url.URL) bool {
	other := template{origin: u}
	return u.User == nil && u.Opaque == "" && u.Scheme == t.origin.Scheme &&
		strings.EqualFold(other.hostport(), t.hostport())
}

// variable finds the argument of a template's variable: the configured one, or else
// the member of that exact name, or else the path of members separated by dots.
func (a *arguments) variable(name string, variables Values) (json.RawMessage, Pointer, bool) {
	if v, ok := variables[name]; ok {
		raw, ok := a.find(*v.From)
		return raw, *v.From, ok
	}
	whole := Pointer{jsonpointer.New(name)}
	if v, ok := a.find(whole); ok || !strings.Contains(name, ".") {
		return v, whole, ok
	}
	p := Pointer{jsonpointer.New(strings.Split(name, ".")...)}
	v, ok := a.find(p)
	return v, p, ok
}

// templateValue converts a scalar, an array or an object of scalars to a template
// value.
func templateValue(path string, raw json.RawMessage) (uritemplate.Value, error) {
	if s, ok := scalar(raw); ok {
		return uritemplate.String(s), checkText(path, s)
	}
	var array []json.RawMessage
	if json.Unmarshal(raw, &array) == nil {
		list, err := scalars(path, array)
		return uritemplate.List(list...), err
	}
	object, err := readArguments(raw)
	if err != nil {
		return uritemplate.Value{}, argument(path, "can't be part of a URL")
	}
	var pairs []string
	for _, name := range object.names {
		s, ok := scalar(object.members[name])
		if !ok {
			return uritemplate.Value{}, argument(path+"/"+jsonpointer.Escape(name),
				"can't be part of a URL: want a string, number or boolean")
		}
		pairs = append(pairs, name, s)
		if err := checkText(path, name+s); err != nil {
			return uritemplate.Value{}, err
		}
	}
	return uritemplate.KV(pairs...), nil
}

func scalars(path string, array []json.RawMessage) ([]string, error) {
	list := make([]string, 0, len(array))
	for _, item := range array {
		s, ok := scalar(item)
		if !ok {
			return nil, argument(path, "can't be part of a URL: want strings, numbers or booleans")
		}
		if err := checkText(path, s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// checkText refuses control characters. Servers that decode line breaks early are
// open to request splitting.
func checkText(path, s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return argument(path, "holds a line break or another control character")
	}
	return nil
}

// expanded bounds the bytes that a value adds to a template, before escaping.
func expanded(name string, v uritemplate.Value) int {
	n := 0
	for _, s := range v.V {
		n += len(name) + len("&=") + len(s)
	}
	return n
}

func isEmpty(v uritemplate.Value) bool { return !v.Valid() || strings.Join(v.V, "") == "" }
