package egress

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/secret"
)

// Scheme is how a credential is written into a request.
type Scheme int

// Schemes.
const (
	Bearer Scheme = iota // "Authorization: Bearer <value>", RFC 6750.
	Basic                // "Authorization: Basic <base64 of value>", RFC 7617; the value is "user:password".
	Raw                  // "<Header>: <value>".
	Query                // The query parameter <Name>, in place of any of that name.
	Cookie               // "Cookie: <Name>=<value>", in place of any of that name, beside others.
)

// Credential is a secret to be sent with a request. It is sent over https, or to hosts
// that an operator allowed by name or address, and only to the hosts that the value is
// bound to. It is added to a request last, so that neither errors nor
// [Config].Transport see it.
type Credential struct {
	Value  secret.Value
	Scheme Scheme
	Header string // For Raw.
	Name   string // Of the parameter or cookie, for Query and Cookie.
}

// bearing adds a credential to each request.
type bearing struct {
	next       http.RoundTripper
	credential *Credential
}

// RoundTrip implements [http.RoundTripper].
func (b bearing) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	b.credential.apply(out)
	return b.next.RoundTrip(out)
}

// apply writes the credential into req.
func (c *Credential) apply(req *http.Request) {
	text := c.Value.Reveal()
	switch c.Scheme {
	case Bearer:
		req.Header.Set("Authorization", "Bearer "+text)
	case Basic:
		req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(text)))
	case Raw:
		req.Header.Set(c.Header, text)
	case Query:
		q := withoutParameter(req.URL.RawQuery, c.Name)
		if q != "" {
			q += "&"
		}
		req.URL.RawQuery = q + url.QueryEscape(c.Name) + "=" + url.QueryEscape(text)
	case Cookie:
		pairs := append(withoutCookie(req.Header.Values("Cookie"), c.Name), c.Name+"="+text)
		req.Header.Set("Cookie", strings.Join(pairs, "; "))
	}
}

// check reports whether the credential can be sent in its scheme.
func (c *Credential) check() error {
	text := c.Value.Reveal()
	bad := strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
	switch c.Scheme {
	case Bearer, Basic, Raw:
	case Query:
		bad = c.Name == ""
	case Cookie:
		bad = bad || c.Name == "" || strings.ContainsAny(c.Name, "=;, \t") || strings.ContainsAny(text, "; ,\"\\")
	}
	if bad {
		return refused(errCredential, "the credential contains characters that its scheme cannot send")
	}
	return nil
}

// withoutParameter returns a raw query without the parameters of a name, the
// others in their order and spelling.
func withoutParameter(query, name string) string {
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(key); pair == "" || err == nil && plain == name {
			continue
		}
		kept = append(kept, pair)
	}
	return strings.Join(kept, "&")
}

// withoutCookie returns the cookies of header lines without those of a name.
func withoutCookie(lines []string, name string) []string {
	var kept []string
	for _, line := range lines {
		for pair := range strings.SplitSeq(line, ";") {
			pair = strings.TrimSpace(pair)
			if key, _, _ := strings.Cut(pair, "="); pair != "" && strings.TrimSpace(key) != name {
				kept = append(kept, pair)
			}
		}
	}
	return kept
}

// permitsCredential checks whether the credential may be sent to t.
func (a Access) permitsCredential(t target, p Policy) error {
	if a.Credential == nil {
		return nil
	}
	if !a.Credential.Value.MaySendTo(t.host, t.port) {
		return refused(errCredential, unbound(a.Credential.Value, t))
	}
	named, _ := p.allowsHost(t.host, t.port)
	if t.scheme != "https" && !named && !(t.addr.IsValid() && p.allowsAddr(t.addr)) {
		return refused(errCredential, "a credential is sent over https only")
	}
	return a.Credential.check()
}

// unbound returns the message for a credential that may not be sent to t, with the
// remedy. It names the host, which is the caller's own, but never the hosts that the
// credential is bound to, which the caller need not know.
func unbound(v secret.Value, t target) string {
	at := t.host
	if t.port != "443" && t.port != "80" {
		at = net.JoinHostPort(t.host, t.port)
	}
	why := "the credential is not bound to the host " + at
	if len(v.Hosts()) == 0 {
		why = "the credential is bound to no host, and would be sent to " + at
	}
	return fmt.Sprintf("%s: to allow this host, bind it with `toolcrib credential set NAME --host %[2]s`, "+
		"or add %[2]s to its TOOLCRIB_SECRET_…_HOSTS variable or its .hosts file", why, at)
}

// disclosed reports whether a redirect of an upstream contains the credential, or
// another opened secret of the call, in its URL, as written or as parsed.
func (c *Credential) disclosed(req *http.Request) bool {
	addresses := []string{req.URL.String()}
	if req.Response != nil {
		addresses = append(addresses, req.Response.Header.Values("Location")...)
	}
	opened := secret.RedactorFrom(req.Context())
	for _, address := range addresses {
		if opened.Holds([]byte(address)) {
			return true
		}
	}
	if c == nil || c.Value.IsZero() {
		return false
	}
	if c.Scheme == Query && slices.Contains(req.URL.Query()[c.Name], c.Value.Reveal()) {
		return true
	}
	own := secret.NewRedactor(c.Value)
	return slices.ContainsFunc(addresses, func(address string) bool { return own.Holds([]byte(address)) })
}

var _ http.RoundTripper = bearing{}
