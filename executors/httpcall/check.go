package httpcall

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// noLiteralSecret is the fault of a literal under the name of a secret.
const noLiteralSecret = "credentials don't belong in a configuration: use auth.credentials_ref"

var (
	methods = []string{
		http.MethodGet, http.MethodHead, http.MethodOptions,
		http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	}
	answers   = []string{answerAuto, answerJSON, answerText, answerBinary}
	bodyTypes = []string{bodyJSON, bodyForm, bodyMultipart, bodyRaw}
	// reserved headers are set by the platform or by the protocol.
	reserved = []string{
		"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Idempotency-Key", "Keep-Alive",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade",
	}
)

// check validates single members; compile validates the rest.
func (c *Config) check() error {
	switch {
	case c.Type != "" && c.Type != tool.HTTP:
		return fault("/type", fmt.Sprintf("%q is not http", c.Type))
	case !slices.Contains(methods, c.Method):
		return fault("/method", fmt.Sprintf("%q is none of %s", c.Method, strings.Join(methods, ", ")))
	case c.Reads && c.Method != http.MethodPost:
		return fault("/reads", "reads is for POST only: GET, HEAD and OPTIONS need no declaration, and "+
			"PUT, PATCH and DELETE never run under egress class read_only; drop reads")
	case c.MaxBytes < 0 || c.MaxBytes > maxAnswerBytes:
		return fault("/max_bytes", fmt.Sprintf("want 0 to %d", maxAnswerBytes))
	case !slices.Contains(answers, c.Answer):
		return fault("/answer", fmt.Sprintf("%q is none of %s", c.Answer, strings.Join(answers, ", ")))
	case !slices.Contains(bodyTypes, c.BodyType):
		return fault("/body_type", fmt.Sprintf("%q is none of %s", c.BodyType, strings.Join(bodyTypes, ", ")))
	case !c.mayHaveBody() && len(c.Body) > 0 && !isNull(c.Body):
		return fault("/body", c.Method+" requests have no body")
	case c.BodyType != bodyJSON && !c.mayHaveBody():
		return fault("/body_type", c.Method+" requests have no body")
	case len(c.Errors) > maxErrorRules:
		return fault("/errors", fmt.Sprintf("%d rules: at most %d", len(c.Errors), maxErrorRules))
	case len(c.Result) > 0 && (c.Answer == answerText || c.Answer == answerBinary):
		return fault("/answer", "result needs a JSON answer")
	}
	for i := range c.Errors {
		if err := c.Errors[i].check("/errors/" + strconv.Itoa(i)); err != nil {
			return err
		}
	}
	for _, check := range []func() error{c.checkHeaders, c.checkParameters, c.checkCookies, c.Auth.check} {
		if err := check(); err != nil {
			return err
		}
	}
	return c.Pagination.check(c)
}

func (c *Config) checkHeaders() error {
	for _, name := range c.Headers.names() {
		path, v := "/headers/"+jsonpointer.Escape(name), c.Headers[name]
		if err := checkHeader(path, name); err != nil {
			return err
		}
		switch {
		case v.From == nil && !validHeaderValue(v.Literal):
			return fault(path, "a header value may not hold line breaks or control characters")
		case http.CanonicalHeaderKey(name) == "Cookie":
			return fault(path, "set cookies by the member cookies")
		case http.CanonicalHeaderKey(name) == "Content-Type" && c.BodyType != bodyJSON:
			return fault(path, "body_type sets the content type")
		case secret.SensitiveKey(name):
			return fault(path, noLiteralSecret)
		}
	}
	return c.Headers.checkStyles("/headers", headerStyles)
}

func (c *Config) checkParameters() error {
	for _, name := range c.Query.names() {
		if secret.SensitiveKey(name) && c.Query[name].From == nil {
			return fault("/query/"+jsonpointer.Escape(name), noLiteralSecret)
		}
	}
	for _, name := range c.Variables.names() {
		if c.Variables[name].From == nil {
			return fault("/variables/"+jsonpointer.Escape(name), `want {"from": "/pointer"}: put literals into the URL`)
		}
	}
	if err := c.Variables.checkStyles("/variables", nil); err != nil {
		return err
	}
	return c.Query.checkStyles("/query", styles)
}

func (c *Config) checkCookies() error {
	for _, name := range c.Cookies.names() {
		if err := checkCookie("/cookies/"+jsonpointer.Escape(name), name); err != nil {
			return err
		}
		if secret.SensitiveKey(name) {
			return fault("/cookies/"+jsonpointer.Escape(name), noLiteralSecret)
		}
	}
	return c.Cookies.checkStyles("/cookies", headerStyles)
}

func (c *Config) mayHaveBody() bool {
	return c.Method == http.MethodPost || c.Method == http.MethodPut || c.Method == http.MethodPatch ||
		c.Method == http.MethodDelete
}

func checkHeader(path, name string) error {
	canonical := http.CanonicalHeaderKey(name)
	switch {
	case !validToken(name):
		return fault(path, fmt.Sprintf("%q is not a header name", name))
	case slices.Contains(reserved, canonical) || strings.HasPrefix(canonical, "Proxy-"):
		return fault(path, fmt.Sprintf("the header %s is set by the platform", canonical))
	}
	return nil
}

func checkCookie(path, name string) error {
	if !validToken(name) {
		return fault(path, fmt.Sprintf("%q is not the name of a cookie", name))
	}
	return nil
}

// validToken checks a name against RFC 9110's token.
func validToken(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return name != "" && strings.Trim(name, letters+"0123456789!#$%&'*+-.^_`|~") == ""
}

// validHeaderValue reports whether v has no control characters other than tabs,
// such as line breaks.
func validHeaderValue(v string) bool {
	return !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
