package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Transport is how a server is talked to.
type Transport string

// Transports.
const (
	StreamableHTTP Transport = "streamable_http" // The default.
	SSE            Transport = "sse"             // HTTP with server-sent events, of protocol version 2024-11-05.
	Stdio          Transport = "stdio"           // A command that an operator named.
)

// Server says where an MCP server is and how to talk to it. It holds no
// secret, so it may be stored and shown.
type Server struct {
	// URL is the server's endpoint, with https or http. None for Stdio.
	URL string `json:"server_url,omitempty"`
	// Transport defaults to StreamableHTTP.
	Transport Transport `json:"transport,omitempty"`
	// Command names one of the commands that operators configured, for Stdio.
	// It is never a path.
	Command string `json:"command,omitempty"`
	// Headers are sent with every request (S3-45). Those that carry a secret
	// name a credential.
	Headers map[string]Header `json:"headers,omitempty"`
	// Auth adds a credential.
	Auth *Auth `json:"auth,omitempty"`
}

// Header is the value of a header: a literal, in JSON a string, or a
// credential, in JSON {"credentials_ref": "name"}.
type Header struct {
	Literal        string
	CredentialsRef string
}

// Auth names the credential of a server and how it is sent.
type Auth struct {
	Type           string `json:"type"`             // bearer, basic ("user:password") or header.
	CredentialsRef string `json:"credentials_ref"`  // Opened by secret.Resolver.
	Header         string `json:"header,omitempty"` // For header, such as "X-Api-Key".
}

// Types of [Auth].
const (
	AuthBearer = "bearer"
	AuthBasic  = "basic"
	AuthHeader = "header"
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

// Kind returns the server's transport, the default filled in.
func (s *Server) Kind() Transport {
	if s.Transport == "" {
		return StreamableHTTP
	}
	return s.Transport
}

// Check reports what is wrong with s, as [tool.Invalid] with the JSON Pointer
// of the fault below at.
func (s *Server) Check(at string) error {
	switch s.Kind() {
	case Stdio:
		return s.checkCommand(at)
	case StreamableHTTP, SSE:
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
		if err := h.check(at+"/headers/"+escape(name), name); err != nil {
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
		return fault(at+"/auth", "one credential only: in auth, or in one header")
	}
	return s.Auth.check(at + "/auth")
}

func (s *Server) checkCommand(at string) error {
	switch {
	case !commandPattern.MatchString(s.Command):
		return fault(at+"/command", "want the name of a command that an operator configured, never a path")
	case s.URL != "":
		return fault(at+"/server_url", "not for the transport stdio")
	case len(s.Headers) > 0:
		return fault(at+"/headers", "not for the transport stdio: operators give a command its environment")
	case s.Auth != nil:
		return fault(at+"/auth", "not for the transport stdio: operators give a command its environment")
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

func (h Header) check(path, name string) error {
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

func (a *Auth) check(at string) error {
	switch {
	case a == nil:
		return nil
	case !secret.ValidRef(a.CredentialsRef):
		return fault(at+"/credentials_ref", "want the name of a credential")
	case a.Type == AuthHeader:
		return checkHeaderName(at+"/header", a.Header)
	case a.Type != AuthBearer && a.Type != AuthBasic:
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
	case slices.Contains(reserved, canonical), strings.HasPrefix(canonical, "Proxy-"), strings.HasPrefix(canonical, "Mcp-"):
		return fault(path, fmt.Sprintf("the header %s is set by the platform", canonical))
	}
	return nil
}

// Key names the server for those who keep something of it: equal servers have
// equal keys, and it can't be read back.
func (s *Server) Key() string {
	same := *s
	same.Transport = s.Kind()
	raw, err := json.Marshal(same)
	if err != nil {
		return "" // Can't be: a server holds strings only.
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Name returns what people may be told of where the server is: its host, or
// its command.
func (s *Server) Name() string {
	if s.Kind() == Stdio {
		return s.Command
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// MarshalJSON implements [json.Marshaler].
func (h Header) MarshalJSON() ([]byte, error) {
	if h.CredentialsRef == "" {
		return json.Marshal(h.Literal)
	}
	return json.Marshal(map[string]string{"credentials_ref": h.CredentialsRef})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (h *Header) UnmarshalJSON(raw []byte) error {
	*h = Header{}
	if json.Unmarshal(raw, &h.Literal) == nil {
		return nil
	}
	var object map[string]string
	if err := json.Unmarshal(raw, &object); err != nil || len(object) != 1 || object["credentials_ref"] == "" {
		return fault("/headers", `a header is a string, or {"credentials_ref": "name"}`)
	}
	h.CredentialsRef = object["credentials_ref"]
	return nil
}

func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "remote.Check", Path: path, Msg: msg}
}
