package egress

import (
	"encoding/base64"
	"net/http"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Access says for whom a request leaves and what it may do.
type Access struct {
	Tenant     tool.TenantID
	Class      tool.Egress // None may not call at all; read_only may GET, HEAD and OPTIONS.
	Credential *Credential // Added to the request; nil for none.
}

// Scheme is how a credential is written into a request.
type Scheme int

// Schemes.
const (
	Bearer Scheme = iota // "Authorization: Bearer <value>", RFC 6750.
	Basic                // "Authorization: Basic <base64 of value>", RFC 7617; the value is "user:password".
	Raw                  // "<Header>: <value>".
)

// Credential is a secret on its way. It is sent over https, or to hosts that
// an operator allowed by name or address, and only to the hosts that the value
// itself is bound to.
type Credential struct {
	Value  secret.Value
	Scheme Scheme
	Header string // For Raw.
}

// apply writes the credential into h.
func (c *Credential) apply(h http.Header) {
	switch c.Scheme {
	case Bearer:
		h.Set("Authorization", "Bearer "+c.Value.Reveal())
	case Basic:
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.Value.Reveal())))
	case Raw:
		h.Set(c.Header, c.Value.Reveal())
	}
}

// permits decides what can be decided of a hop before it is dialed.
func (a Access) permits(method string, t target, p Policy) error {
	switch a.Class {
	case tool.EgressWrite:
	case tool.EgressReadOnly:
		if method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions {
			return refused(errClass, "the tool's egress class is read_only: it may send GET, HEAD and OPTIONS only")
		}
	case tool.EgressNone:
		return refused(errClass, "the tool's egress class is none: it may not call out")
	default:
		return refused(errClass, "the tool has no egress class: it may not call out")
	}
	if !p.allowsPort(t.host, t.port) {
		return refused(errPort, "the destination's port is not allowed")
	}
	named, _ := p.allowsHost(t.host, t.port)
	if t.addr.IsValid() && !named && !p.allowsAddr(t.addr) && !Public(t.addr) {
		return refused(errAddress, notAllowed)
	}
	return nil
}

// permitsCredential decides whether the credential may go to t.
func (a Access) permitsCredential(t target, p Policy) error {
	if a.Credential == nil {
		return nil
	}
	if !a.Credential.Value.MaySendTo(t.host, t.port) {
		return refused(errCredential, "the credential is not bound to this host")
	}
	named, _ := p.allowsHost(t.host, t.port)
	if t.scheme != "https" && !named && !(t.addr.IsValid() && p.allowsAddr(t.addr)) {
		return refused(errCredential, "a credential is sent over https only")
	}
	return nil
}
