package openapi

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// scheme is a security scheme, mapped to the authentication of a request.
type scheme struct {
	name    string
	pointer string
	auth    *httpcall.Auth // Nil if it is not supported.
	holds   string         // What its credential must hold.
	lost    string         // What cannot be mapped.
}

// attachedScheme is the scheme name of a credential from [Options.Auth].
const attachedScheme = "(attached)"

// authenticate chooses how requests are authenticated. A parameter under the name
// of a secret whose credential was named comes first, then the security schemes,
// then such parameters that a request needs, then [Options.Auth].
func (b *builder) authenticate() {
	for _, s := range b.secrets {
		if ref := b.opts.Credentials[s.wire]; ref != "" && b.config.Auth == nil {
			b.use(s.scheme(), ref)
		}
	}
	if b.config.Auth == nil {
		b.bySchemes()
	}
	for _, s := range b.secrets {
		if s.required && b.config.Auth == nil && b.out.lacking == nil {
			b.need(s.scheme())
		}
	}
	for _, s := range b.secrets {
		switch {
		case b.out.scheme == s.wire:
		case b.out.scheme != "":
			b.lost.add(s.pointer, "a request carries one credential: the %s %s is not sent, because that of %s is", s.place,
				s.wire, b.out.scheme)
		default:
			b.lost.add(s.pointer, "the %s %s has the name of a secret, so it is not an argument: name a credential for it",
				s.place, s.wire)
		}
	}
	b.out.open = b.out.open && b.config.Auth == nil && b.out.lacking == nil
	if b.out.open && b.opts.Auth != nil {
		b.use(&scheme{name: attachedScheme, auth: b.opts.Auth}, b.opts.Auth.CredentialsRef)
	}
	b.dropTokens()
}

// bySchemes chooses one of the security requirements. Of the alternatives, one
// with a named credential comes first, then none at all, then the first
// supported one.
func (b *builder) bySchemes() {
	requirements, own := b.op["security"].([]any)
	pointer := b.pointer + "/security"
	if !own {
		requirements, pointer = b.mapper.doc.root.list("security"), "/security"
		b.out.open = b.mapper.doc.root["security"] == nil
	}
	var usable *scheme
	var together []string
	open := len(requirements) == 0
	for i, raw := range requirements {
		requirement := asObject(raw)
		names := slices.Sorted(maps.Keys(requirement))
		switch len(names) {
		case 0:
			open = true
			continue
		case 1:
		default:
			together = append(together, strings.Join(names, " and "))
		}
		for _, name := range names {
			s := b.scheme(name, requirement.list(name), pointer+"/"+itoa(i))
			if s.auth == nil {
				b.lost.add(s.pointer, "%s", s.lost)
				continue
			}
			if len(names) > 1 && b.opts.Credentials[name] == "" {
				continue
			}
			if b.opts.Credentials[name] != "" {
				b.use(s, b.opts.Credentials[name])
				if len(names) > 1 {
					b.lost.add(pointer+"/"+itoa(i), "a request carries one credential: of %s, only %s is sent",
						strings.Join(names, " and "), name)
				}
				return
			}
			if usable == nil {
				usable = s
			}
		}
	}
	switch {
	case open:
	case usable != nil:
		b.need(usable)
	case len(together) > 0:
		b.lost.add(pointer, "a request carries one credential, but %s are required together; name the one to send",
			clip(together[0], 120))
	default:
		b.out.open = true // The declared authentication is not supported.
	}
}

// use configures a scheme and its credential.
func (b *builder) use(s *scheme, ref string) {
	auth := *s.auth
	auth.CredentialsRef = ref
	b.config.Auth = &auth
	b.out.scheme = s.name
	if s.lost != "" {
		b.lost.add(s.pointer, "%s", s.lost)
	}
}

// need records that a credential was not named.
func (b *builder) need(s *scheme) {
	b.out.needs = Need{Scheme: s.name, Kind: s.holds}
	b.out.scheme, b.out.lacking = s.name, s.auth
	if s.lost != "" {
		b.lost.add(s.pointer, "%s", s.lost)
	}
}

// scheme reads a security scheme of the document.
func (b *builder) scheme(name string, scopes []any, from string) *scheme {
	s := &scheme{name: name, pointer: "/components/securitySchemes/" + jsonpointer.Escape(name)}
	raw, ok := b.mapper.doc.root.object("components").object("securitySchemes")[name]
	if !ok {
		s.pointer, s.lost = from, "there is no security scheme "+clean(name, 80)
		return s
	}
	o, at, err := b.mapper.doc.follow(raw, s.pointer)
	if err != nil {
		s.lost = "the security scheme " + clean(name, 80) + " cannot be read"
		return s
	}
	s.pointer = at
	switch kind := o.text("type"); kind {
	case "http":
		b.httpScheme(s, strings.ToLower(o.text("scheme")))
	case "apiKey":
		s.holds = "an API key"
		switch o.text("in") {
		case "header":
			s.auth = &httpcall.Auth{Type: "header", Header: o.text("name")}
		case "query":
			s.auth = &httpcall.Auth{Type: "query", Name: o.text("name")}
		case "cookie":
			s.auth = &httpcall.Auth{Type: "cookie", Name: o.text("name")}
		default:
			s.lost = "an API key in " + clean(o.text("in"), 40) + " is not supported"
		}
	case "oauth2":
		b.oauth2(s, o, scopes)
	case "openIdConnect":
		s.auth, s.holds = &httpcall.Auth{Type: "bearer"}, "an access token"
		s.lost = "OpenID Connect is not supported: the credential must hold an access token"
	case "mutualTLS":
		s.lost = "client certificates (mutualTLS) are not supported"
	default:
		s.lost = "security schemes of the type " + clean(kind, 40) + " are not supported"
	}
	return s
}

func (b *builder) httpScheme(s *scheme, name string) {
	switch name {
	case "bearer":
		s.auth, s.holds = &httpcall.Auth{Type: "bearer"}, "a token"
	case "basic":
		s.auth, s.holds = &httpcall.Auth{Type: "basic"}, "user:password"
	default:
		s.lost = "HTTP authentication of the scheme " + clean(name, 40) + " is not mapped"
	}
}

func (b *builder) oauth2(s *scheme, o object, scopes []any) {
	flow := o.object("flows").object("clientCredentials")
	tokenURL := flow.text("tokenUrl")
	if tokenURL == "" {
		s.auth, s.holds = &httpcall.Auth{Type: "bearer"}, "an access token"
		s.lost = "of OAuth 2 only the client credentials flow is supported: the credential must hold an access token"
		return
	}
	if u, err := url.Parse(tokenURL); err == nil && !u.IsAbs() {
		base := b.opts.DocumentURL
		if base == "" {
			base = b.server + "/"
		}
		if from, err := url.Parse(base); err == nil {
			tokenURL = from.ResolveReference(u).String()
		}
	}
	s.auth, s.holds = &httpcall.Auth{Type: "oauth2_client_credentials", TokenURL: tokenURL}, "client_id and client_secret"
	for _, scope := range scopes {
		if text, ok := scope.(string); ok {
			s.auth.Scopes = append(s.auth.Scopes, text)
		}
	}
}
