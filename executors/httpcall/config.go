package httpcall

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Config is the implementation_config of an http tool. Where it takes a value,
// a string stands for itself and {"from": "/pointer"} for that argument. It has
// at most 64 KiB and refers to arguments at most 256 times; what it makes of
// them has at most 8 KiB of URL, 32 KiB of headers and 4 MiB of body. Values
// under the name of a secret come from arguments or from Auth, never as
// literals.
type Config struct {
	// Type may repeat the implementation type, "http".
	Type tool.Implementation `json:"type,omitempty"`
	// Method is GET, HEAD, OPTIONS, POST, PUT, PATCH or DELETE. Defaults to GET.
	Method string `json:"method,omitempty"`
	// URL is an RFC 6570 template whose scheme, host and port are literals.
	// Expressions name arguments, "user.id" the member of one. Those outside
	// {?…} and {&…} must be given and not be empty.
	URL string `json:"url"`
	// Headers are set on the request; one whose argument is absent is left out.
	Headers map[string]Value `json:"headers,omitempty"`
	// Query parameters are added to the URL's. An array adds one for each
	// item; an absent argument adds none.
	Query map[string]Value `json:"query,omitempty"`
	// Body is the JSON to send, in which each {"from": "/pointer"} is replaced
	// by the argument, byte for byte; absent members are left out. null sends
	// none. When Body is absent, the arguments used nowhere else are sent: as
	// a JSON object by POST, PUT and PATCH, else as query parameters.
	Body json.RawMessage `json:"body,omitempty"`
	// Auth adds a credential.
	Auth *Auth `json:"auth,omitempty"`
	// MaxBytes bounds the answer; 1 MiB when zero, at most 16 MiB.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// Answer says how the answer is read: "json", "text", or "auto", by its
	// content type. Defaults to auto.
	Answer string `json:"answer,omitempty"`
}

// Auth names the credential of a request and how it is sent.
type Auth struct {
	Type           string `json:"type"`             // bearer, basic ("user:password") or header.
	CredentialsRef string `json:"credentials_ref"`  // Opened by secret.Resolver.
	Header         string `json:"header,omitempty"` // For header, such as "X-Api-Key".
}

const maxAnswerBytes = 16 << 20

// noLiteralSecret is said of a value under the name of a secret.
const noLiteralSecret = "credentials don't belong in a configuration: use auth.credentials_ref"

var (
	methods = []string{
		http.MethodGet, http.MethodHead, http.MethodOptions,
		http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	}
	// reserved headers are set by the platform or by the protocol.
	reserved = []string{
		"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Idempotency-Key", "Keep-Alive",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade",
	}
)

// CheckConfig reports what is wrong with an http tool's configuration, as
// [tool.Invalid] with the JSON Pointer of the fault. Registries call it before
// they store one.
func CheckConfig(raw json.RawMessage) error {
	_, err := compile(raw)
	return err
}

func decode(raw json.RawMessage) (Config, error) {
	var c Config
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&c)
	if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return c, fault("/"+strings.ReplaceAll(typeErr.Field, ".", "/"), "a "+typeErr.Value+" does not fit here")
	}
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return c, e
	}
	if err != nil {
		return c, fault("", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return c, fault("", "more than one JSON value")
	}
	if c.Method == "" {
		c.Method = http.MethodGet
	}
	c.Method = strings.ToUpper(c.Method)
	if c.Answer == "" {
		c.Answer = answerAuto
	}
	return c, nil
}

func (c *Config) check() error {
	switch {
	case c.Type != "" && c.Type != tool.HTTP:
		return fault("/type", fmt.Sprintf("%q is not http", c.Type))
	case !slices.Contains(methods, c.Method):
		return fault("/method", fmt.Sprintf("%q is none of %s", c.Method, strings.Join(methods, ", ")))
	case c.MaxBytes < 0 || c.MaxBytes > maxAnswerBytes:
		return fault("/max_bytes", fmt.Sprintf("want 0 to %d", maxAnswerBytes))
	case c.Answer != answerAuto && c.Answer != answerJSON && c.Answer != answerText:
		return fault("/answer", fmt.Sprintf("%q is none of auto, json, text", c.Answer))
	case !c.mayHaveBody() && len(c.Body) > 0 && string(c.Body) != "null":
		return fault("/body", c.Method+" requests have no body")
	}
	for name, v := range c.Headers {
		if err := checkHeader("/headers/"+escape(name), name); err != nil {
			return err
		}
		if v.From == nil && !validHeaderValue(v.Literal) {
			return fault("/headers/"+escape(name), "a header value may not hold line breaks or control characters")
		}
		if secret.SensitiveKey(name) {
			return fault("/headers/"+escape(name), noLiteralSecret)
		}
	}
	for name := range c.Query {
		if secret.SensitiveKey(name) && c.Query[name].From == nil {
			return fault("/query/"+escape(name), noLiteralSecret)
		}
	}
	return c.Auth.check()
}

func (c *Config) mayHaveBody() bool {
	return c.Method == http.MethodPost || c.Method == http.MethodPut || c.Method == http.MethodPatch || c.Method == http.MethodDelete
}

func (a *Auth) check() error {
	switch {
	case a == nil:
		return nil
	case !secret.ValidRef(a.CredentialsRef):
		return fault("/auth/credentials_ref", "want the name of a credential")
	case a.Type == authHeader:
		return checkHeader("/auth/header", a.Header)
	case a.Type != authBearer && a.Type != authBasic:
		return fault("/auth/type", fmt.Sprintf("%q is none of bearer, basic, header", a.Type))
	case a.Header != "":
		return fault("/auth/header", "only for the type header")
	}
	return nil
}

// Authentication types.
const (
	authBearer = "bearer"
	authBasic  = "basic"
	authHeader = "header"
)

func (a *Auth) scheme() egress.Scheme {
	switch a.Type {
	case authBasic:
		return egress.Basic
	case authHeader:
		return egress.Raw
	default:
		return egress.Bearer
	}
}

func checkHeader(path, name string) error {
	canonical := http.CanonicalHeaderKey(name)
	switch {
	case !validHeaderName(name):
		return fault(path, fmt.Sprintf("%q is not a header name", name))
	case slices.Contains(reserved, canonical) || strings.HasPrefix(canonical, "Proxy-"):
		return fault(path, fmt.Sprintf("the header %s is set by the platform", canonical))
	}
	return nil
}

// validHeaderName holds names to RFC 9110's token.
func validHeaderName(name string) bool {
	return name != "" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") == ""
}

// validHeaderValue refuses what could end a header line, and other control
// characters but the tab.
func validHeaderValue(v string) bool {
	return !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

func fault(path, msg string) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "httpcall.CheckConfig", Path: path, Msg: msg}
}
