package embed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// maxMessage bounds an endpoint's message, in characters.
const maxMessage = 300

// overloaded is the non-standard status of some overloaded endpoints.
const overloaded = 529

// problem is an endpoint's error, in the shape of OpenAI's API and similar ones.
type problem struct {
	Type    string
	Code    string
	Message string
}

func readProblem(raw []byte) problem {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(raw, &outer) != nil {
		return problem{}
	}
	var inner struct {
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"` // A string, or a number of some servers.
		Message string          `json:"message"`
	}
	if json.Unmarshal(outer.Error, &inner) != nil {
		text := outer.Message
		_ = json.Unmarshal(outer.Error, &text) // Or a text alone.
		return problem{Message: text}
	}
	return problem{Type: inner.Type, Code: strings.Trim(string(inner.Code), `"`), Message: inner.Message}
}

// problemStatus returns the equivalent status of an error that was sent with status 200.
func problemStatus(raw []byte) int {
	p := readProblem(raw)
	if strings.Contains(p.Type+p.Code, "rate_limit") {
		return http.StatusTooManyRequests
	}
	return http.StatusBadGateway
}

// refusal returns the error for a response that is not a success.
func (x *exchange) refusal(r *egress.Response) *tool.Error {
	e := x.judge(r.Status, r.Body)
	if e.Kind == tool.RateLimited || e.Kind == tool.Unavailable {
		e.RetryAfter = egress.RetryAfter(r.Header, time.Now())
	}
	return e
}

// judge maps a status like the http tools, except for 404, which means a wrong base URL or model. The
// text of 401 and 403 is never quoted: it may contain a part of the key.
func (x *exchange) judge(status int, raw []byte) *tool.Error {
	p := readProblem(raw)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusProxyAuthRequired:
		if x.access.Credential == nil {
			return x.fail(
				tool.Denied, fmt.Sprintf("it wants a key (%d): give the pipeline's embedding a credentials_ref", status),
			)
		}
		return x.fail(tool.Denied, fmt.Sprintf("it did not accept the credential %s (%d)", x.cfg.CredentialsRef, status))
	case status == http.StatusPaymentRequired || p.Code == "insufficient_quota" || p.Type == "insufficient_quota":
		return x.fail(tool.Denied, fmt.Sprintf("the account of its key has no credit left (%d)", status))
	case status == http.StatusNotFound:
		return x.fail(
			tool.Invalid,
			fmt.Sprintf("there is no model %q at its base URL, or none that the credential may use (404)", x.cfg.Model),
		)
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests ||
		status == overloaded:
		return x.fail(tool.RateLimited, fmt.Sprintf("it limits the rate of requests (%d)", status))
	case status >= http.StatusInternalServerError:
		return x.fail(tool.Unavailable, fmt.Sprintf("it failed (%d)", status))
	case status >= http.StatusBadRequest:
		return x.fail(tool.Invalid, fmt.Sprintf("it refused the request (%d): %s", status, x.quote(p.Message)))
	default:
		return x.fail(tool.Unavailable, fmt.Sprintf("it answered with an unexpected status (%d)", status))
	}
}

// quote cleans an endpoint's message: redacted, on one line, and short.
func (x *exchange) quote(msg string) string {
	if msg = strings.Join(strings.Fields(x.known.Text(msg)), " "); msg == "" {
		return "no message"
	}
	if utf8.RuneCountInString(msg) > maxMessage {
		msg = string([]rune(msg)[:maxMessage]) + "…"
	}
	return msg
}

// garbled returns the error for a malformed response; what describes it without quoting it.
func (x *exchange) garbled(what string) *tool.Error {
	return x.fail(tool.Unavailable, "its answer can't be used: "+what)
}

// fail returns an error reported by the endpoint. Embedding requests are idempotent, so it has Sent and
// Answered set.
func (x *exchange) fail(kind tool.Kind, msg string) *tool.Error {
	return &tool.Error{Kind: kind, Op: "embed.Embed", Sent: true, Answered: true, Msg: "the embeddings endpoint: " + msg}
}
