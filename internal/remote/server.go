package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
)

// Transport is the transport of the protocol.
type Transport string

// Transports.
const (
	StreamableHTTP Transport = "streamable_http" // The default.
	SSE            Transport = "sse"             // HTTP with server-sent events, of protocol version 2024-11-05.
	Stdio          Transport = "stdio"           // A command that an operator configured.
)

// Server is the address of an MCP server and how to connect to it. It contains no secret, so
// it may be stored and shown.
type Server struct {
	// URL is the server's endpoint, with https or http. None for Stdio.
	URL string `json:"server_url,omitempty"`
	// Transport defaults to StreamableHTTP.
	Transport Transport `json:"transport,omitempty"`
	// Command names one of the commands that operators configured, for Stdio.
	// It is never a path.
	Command string `json:"command,omitempty"`
	// Headers are sent with every request (S3-45). Secret values refer to a credential.
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

// Kind returns the server's transport, or the default.
func (s *Server) Kind() Transport {
	if s.Transport == "" {
		return StreamableHTTP
	}
	return s.Transport
}

// Key returns a key of the server, for caches and stores: equal servers have equal keys. It
// is a digest.
func (s *Server) Key() string {
	same := *s
	same.Transport = s.Kind()
	raw, err := json.Marshal(same)
	if err != nil {
		return "" // Unreachable: a server has strings only.
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// CredentialsRef returns the name of the credential that is sent to the server: that of Auth, or
// of a header. Empty for none.
func (s *Server) CredentialsRef() string {
	if s.Auth != nil {
		return s.Auth.CredentialsRef
	}
	for _, h := range s.Headers {
		if h.CredentialsRef != "" {
			return h.CredentialsRef
		}
	}
	return ""
}

// Name returns a name of the server to show: its host, or its command.
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

var errHeader = errors.New(`a header is a string, or {"credentials_ref": "name"}`)

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
		return errHeader
	}
	h.CredentialsRef = object["credentials_ref"]
	return nil
}
