package mcpcall

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Limits of a [Server].
const (
	maxURLBytes    = 2 << 10
	maxHeaders     = 32
	maxHeaderBytes = 8 << 10
)

// reserved headers are set by the platform or by the protocol.
var reserved = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Expect", "Host", "Idempotency-Key",
	"Keep-Alive", "Last-Event-Id", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

var commandPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckServer checks a server. It fails with [tool.Invalid] and the JSON Pointer of
// the fault below at.
func CheckServer(s *Server, at string) error {
	switch s.Kind() {
	case remote.Stdio:
		return checkCommand(s, at)
	case remote.StreamableHTTP, remote.SSE:
	default:
		return fault(at+"/transport", fmt.Sprintf("%q is none of streamable_http, sse, stdio", s.Transport))
	}
	if s.Command != "" {
		return fault(at+"/command", "only for the transport stdio")
	}
	if err := checkURL(at+"/server_url", s.URL); err != nil {
		return err
	}
	if len(s.Headers) > maxHeaders {
		return fault(at+"/headers", fmt.Sprintf("%d headers: at most %d", len(s.Headers), maxHeaders))
	}
	credentials := 0
	for name, h := range s.Headers {
		if err := checkHeader(h, at+"/headers/"+jsonpointer.Escape(name), name); err != nil {
			return err
		}
		if h.CredentialsRef != "" {
			credentials++
		}
	}
	if s.Auth != nil {
		credentials++
	}
	if credentials > 1 {
		return fault(at+"/auth", "want one credential only: in auth, or in one header")
	}
	return checkAuth(s.Auth, at+"/auth")
}

func checkCommand(s *Server, at string) error {
	switch {
	case !commandPattern.MatchString(s.Command):
		return fault(at+"/command", "want the name of a command that an operator configured, never a path")
	case s.URL != "":
		return fault(at+"/server_url", "not for the transport stdio")
	case len(s.Headers) > 0:
		return fault(at+"/headers", "not for the transport stdio: operators configure a command's environment")
	case s.Auth != nil:
		return fault(at+"/auth", "not for the transport stdio: operators configure a command's environment")
	}
	return nil
}

func checkURL(path, raw string) error {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return fault(path, "missing")
	case len(raw) > maxURLBytes:
		return fault(path, fmt.Sprintf("more than %d bytes", maxURLBytes))
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Host == "", u.Opaque != "":
		return fault(path, "want an http or https URL")
	case u.User != nil:
		return fault(path, noSecret)
	case u.Fragment != "":
		return fault(path, "a fragment is never sent")
	case strings.ContainsAny(u.Host, "{}"):
		return fault(path, "the host is a literal, never a template")
	}
	for name := range u.Query() {
		if secret.SensitiveKey(name) {
			return fault(path, noSecret)
		}
	}
	return nil
}

const noSecret = "credentials don't belong in a configuration: use auth.credentials_ref"

func checkHeader(h remote.Header, path, name string) error {
	if err := checkHeaderName(path, name); err != nil {
		return err
	}
	switch {
	case h.CredentialsRef != "" && !secret.ValidRef(h.CredentialsRef):
		return fault(path+"/credentials_ref", "want the name of a credential")
	case h.CredentialsRef != "":
		return nil
	case secret.SensitiveKey(name):
		return fault(path, `credentials don't belong in a configuration: write {"credentials_ref": "name"}, or use auth`)
	case len(h.Literal) > maxHeaderBytes:
		return fault(path, fmt.Sprintf("more than %d bytes", maxHeaderBytes))
	case strings.ContainsFunc(h.Literal, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return fault(path, "a header value may not hold line breaks or control characters")
	}
	return nil
}

func checkAuth(a *remote.Auth, at string) error {
	switch {
	case a == nil:
		return nil
	case !secret.ValidRef(a.CredentialsRef):
		return fault(at+"/credentials_ref", "want the name of a credential")
	case a.Type == remote.AuthHeader:
		return checkHeaderName(at+"/header", a.Header)
	case a.Type != remote.AuthBearer && a.Type != remote.AuthBasic:
		return fault(at+"/type", fmt.Sprintf("%q is none of bearer, basic, header", a.Type))
	case a.Header != "":
		return fault(at+"/header", "only for the type header")
	}
	return nil
}

func checkHeaderName(path, name string) error {
	canonical := http.CanonicalHeaderKey(name)
	switch {
	case name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") != "":
		return fault(path, fmt.Sprintf("%q is not a header name", name))
	case slices.Contains(reserved, canonical), strings.HasPrefix(canonical, "Proxy-"),
		strings.HasPrefix(canonical, "Mcp-"):
		return fault(path, fmt.Sprintf("the header %s is set by the platform", canonical))
	}
	return nil
}
