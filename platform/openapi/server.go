package openapi

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// serverOf returns the base URL of an operation's path.
func (b *builder) serverOf() (string, error) {
	for _, from := range []struct {
		servers any
		pointer string
	}{
		{b.op["servers"], b.pointer + "/servers"},
		{b.item["servers"], b.pointer[:strings.LastIndexByte(b.pointer, '/')] + "/servers"},
	} {
		if list, ok := from.servers.([]any); ok && len(list) > 0 {
			return b.resolveServer(from.servers, from.pointer)
		}
	}
	return b.server, nil
}

// resolveServer chooses one of servers and makes its URL absolute and literal.
func (m *mapper) resolveServer(servers any, pointer string) (string, error) {
	list, _ := servers.([]any)
	n := 1
	if m.opts.Upstream != "" {
		number, err := strconv.Atoi(m.opts.Upstream)
		if err != nil {
			return m.absolute(m.opts.Upstream, "")
		}
		n = number
	}
	chosen := object{"url": "/"} // The default of a document without servers.
	switch {
	case n < 1 || n > max(len(list), 1):
		if pointer != "/servers" { // An operation with fewer servers uses its first.
			n = 1
			break
		}
		return "", refuse(pointer, "there is no server %d: the document has %d", n, len(list))
	}
	if len(list) > 0 {
		if chosen = asObject(list[n-1]); chosen == nil {
			return "", refuse(pointer+"/"+itoa(n-1), "expected an object")
		}
	}
	text, err := m.fillVariables(chosen, pointer+"/"+itoa(n-1))
	if err != nil {
		return "", err
	}
	return m.absolute(text, pointer+"/"+itoa(n-1)+"/url")
}

var serverVariable = regexp.MustCompile(`\{([^{}]*)\}`)

func (m *mapper) fillVariables(server object, pointer string) (string, error) {
	var failed error
	text := serverVariable.ReplaceAllStringFunc(server.text("url"), func(expression string) string {
		name := expression[1 : len(expression)-1]
		at := pointer + "/variables/" + jsonpointer.Escape(name)
		variable := server.object("variables").object(name)
		value, given := m.opts.Variables[name]
		if !given {
			switch v := variable["default"].(type) {
			case string:
				value = v
			case json.Number, bool:
				value = fmt.Sprint(v)
			default:
				failed = refuse(at, "the server variable %s has no default: set a value", clean(name, 60))
			}
		}
		if allowed := variable.list("enum"); given && len(allowed) > 0 &&
			!slices.ContainsFunc(allowed, func(v any) bool { return fmt.Sprint(v) == value }) {
			failed = refuse(at, "%q is not among the values of the server variable %s", clip(value, 60), clean(name, 60))
		}
		return value
	})
	return text, failed
}

// absolute resolves a server's URL against the URL of the document.
func (m *mapper) absolute(text, pointer string) (string, error) {
	if pointer == "" { // It is an option, not of the document.
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" ||
			u.Fragment != "" {
			e := refuse("", "upstream")
			e.Path, e.Msg = "/upstream", "upstream: expected the number of a server, or an absolute http or https URL"
			return "", e
		}
		return strings.TrimSuffix(text, "/"), nil
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return "", refuse(pointer, "%q is not a URL", clean(text, 120))
	}
	if !u.IsAbs() {
		if m.opts.DocumentURL == "" {
			return "", refuse(
				pointer,
				"the server %q is relative: set the URL of the document (document_url) or of the server (upstream)",
				clean(text, 120),
			)
		}
		base, err := url.Parse(m.opts.DocumentURL)
		if err != nil {
			return "", refuse(pointer, "the server %q cannot be resolved", clean(text, 120))
		}
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", refuse(pointer, "the server %q: expected http or https, a host, and no user", clean(u.Redacted(), 120))
	}
	u.RawQuery, u.Fragment = "", ""
	return strings.TrimSuffix(u.String(), "/"), nil
}

// originOf returns scheme, host and port of a configuration's URL.
func originOf(config json.RawMessage) string {
	var c struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(config, &c) != nil {
		return ""
	}
	scheme, rest, _ := strings.Cut(c.URL, "://")
	if end := strings.IndexAny(rest, "/?#{"); end >= 0 {
		rest = rest[:end]
	}
	return scheme + "://" + rest
}
