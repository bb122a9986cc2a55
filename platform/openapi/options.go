package openapi

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// Options configure the mapping of a document. The zero value maps all of it.
type Options struct {
	// Name identifies the document: a later import with the same name is an import
	// of the same document. Defaults to the document's title.
	Name string
	// DocumentURL is the address of the document: relative servers and token URLs
	// are resolved against it. It is not fetched.
	DocumentURL string
	// Upstream is the server to call: an absolute URL instead of the document's
	// servers, or the number of one of them, from 1. Defaults to the first.
	Upstream string
	// Variables are values of server variables, instead of their defaults.
	Variables map[string]string
	// Credentials name, by security scheme, the credential to send. A header or
	// cookie parameter under the name of a secret is a scheme of that name.
	Credentials map[string]string
	// Auth is sent with operations for which the document declares no
	// authentication, or only kinds that are not supported. Nil sends nothing.
	Auth *httpcall.Auth
	// OnePage disables pagination: each call requests one page.
	OnePage bool
	// Prefix is put before the slugs of new tools.
	Prefix string
	// Idempotent lists the operations, by id or as "PUT /path", whose server
	// honours the header Idempotency-Key. The methods that HTTP calls
	// idempotent do not suffice: the answer to a retry would not be
	// distinguished from a first answer.
	Idempotent []string
	// Reads lists the POST operations, by id or as "POST /path", that only read,
	// as searches and GraphQL queries do. Their tools declare so and have the
	// egress class read_only; saving them requires the permission
	// tools.declare_reads.
	Reads []string
	// Only and Except select operations; Except takes precedence.
	Only, Except Selection
}

// Selection selects operations. An operation must match any item of each list
// that is not empty.
type Selection struct {
	Tags       []string
	Operations []string // Ids.
	Paths      []string // Prefixes of paths.
	Methods    []string
	// Match are patterns, in which * matches any text, for the operation's id,
	// for "METHOD /path", for the path, and for the slug that a new tool of it
	// would have.
	Match []string
}

func (s Selection) empty() bool {
	return len(s.Tags)+len(s.Operations)+len(s.Paths)+len(s.Methods)+len(s.Match) == 0
}

// names reports whether a selection that is not empty names an operation.
func (s Selection) names(o *Operation, tags []string) bool {
	anyOf := func(list []string, fn func(string) bool) bool { return len(list) == 0 || slices.ContainsFunc(list, fn) }
	return anyOf(s.Tags, func(tag string) bool { return slices.Contains(tags, tag) }) &&
		anyOf(s.Operations, func(id string) bool { return id == o.ID }) &&
		anyOf(s.Paths, func(prefix string) bool { return strings.HasPrefix(o.Path, prefix) }) &&
		anyOf(s.Methods, func(method string) bool { return strings.EqualFold(method, o.Method) }) &&
		anyOf(s.Match, func(pattern string) bool {
			return slices.ContainsFunc([]string{o.ID, o.Method + " " + o.Path, o.Path, o.name}, func(name string) bool {
				return name != "" && matches(pattern, name)
			})
		})
}

// matches reports whether a name matches a pattern, in which * matches any
// text.
func matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// selects reports whether an operation is to be mapped.
func (o Options) selects(op *Operation, tags []string) bool {
	return (o.Only.empty() || o.Only.names(op, tags)) && (o.Except.empty() || !o.Except.names(op, tags))
}

func (o Options) check() error {
	wrong := func(path, format string, args ...any) error {
		e := refuse("", format, args...)
		e.Path, e.Msg = path, strings.TrimPrefix(e.Msg, "the document: ")
		return e
	}
	if o.Prefix != "" && !tool.ValidSlug(o.Prefix) {
		return wrong("/prefix", "prefix %q: expected what the slug of a tool may begin with", clip(o.Prefix, 80))
	}
	if len(o.Name) > 200 {
		return wrong("/name", "expected a name of at most 200 bytes")
	}
	if o.DocumentURL != "" {
		if u, err := url.Parse(o.DocumentURL); err != nil || !u.IsAbs() || u.Host == "" {
			return wrong("/document_url", "document_url: expected an absolute URL")
		}
	}
	for _, scheme := range slices.Sorted(maps.Keys(o.Credentials)) {
		if !secret.ValidRef(o.Credentials[scheme]) {
			return wrong(
				"/credentials/"+jsonpointer.Escape(scheme),
				"the credential for %q: expected the name of a credential, letters, digits, dots, dashes and underscores",
				clip(scheme, 80),
			)
		}
	}
	if o.Auth != nil {
		if err := o.checkAuth(); err != nil {
			return wrong("/auth", "auth: %s", tool.AsError(err).Msg)
		}
	}
	return nil
}

// checkAuth checks the authentication as the executor will.
func (o Options) checkAuth() error {
	return httpcall.CheckConfig(encoded(httpcall.Config{
		Method: http.MethodGet, URL: "https://api.example.com/", Auth: o.Auth,
	}))
}
