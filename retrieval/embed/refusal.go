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

// maxMessage is how many characters of an endpoint's message are passed on.
const maxMessage = 300

// overloaded is the non-standard status that some endpoints answer with when
// they are overloaded.
const overloaded = 529

// problem is what endpoints say of a failure, in the shape of OpenAI's API and
// its like.
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

// problemStatus returns the status that fits a failure that was sent with
// status 200.
func problemStatus(raw []byte) int {
	p := readProblem(raw)
	if strings.Contains(p.Type+p.Code, "rate_limit") {
		return http.StatusTooManyRequests
	}
	return http.StatusBadGateway
}

// refusal says what an answer that is none means.
func (x *exchange) refusal(r *egress.Response) *tool.Error {
	e := x.judge(r.Status, r.Body)
	if e.Kind == tool.RateLimited || e.Kind == tool.Unavailable {
		e.RetryAfter = egress.RetryAfter(r.Header, time.Now())
	}
	return e
}

// judge maps a status as the http tools do, but for 404, which no other base URL
// or model name would get. The text of 401 and 403 is never passed on: it may
// hold a part of the key.
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
		return x.fail(tool.Denied, fmt.Sprintf("the account of its key has nothing left to spend (%d)", status))
	case status == http.StatusNotFound:
		return x.fail(
			tool.Invalid,
			fmt.Sprintf("there is no model %q at its base URL, or none that the credential may use (404)", x.cfg.Model),
		)
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests ||
		status == overloaded:
		return x.fail(tool.RateLimited, fmt.Sprintf("it asks to come back later (%d)", status))
	case status >= http.StatusInternalServerError:
		return x.fail(tool.Unavailable, fmt.Sprintf("it failed (%d)", status))
	case status >= http.StatusBadRequest:
		return x.fail(tool.Invalid, fmt.Sprintf("it refused the request (%d): %s", status, x.quote(p.Message)))
	default:
		return x.fail(tool.Unavailable, fmt.Sprintf("it answered with a status that is no answer (%d)", status))
	}
}

// quote makes an endpoint's message fit to be shown: without the key, on one
// line, and short.
func (x *exchange) quote(msg string) string {
	if msg = strings.Join(strings.Fields(x.known.Text(msg)), " "); msg == "" {
		return "it does not say why"
	}
	if utf8.RuneCountInString(msg) > maxMessage {
		msg = string([]rune(msg)[:maxMessage]) + "…"
	}
	return msg
}

// garbled is the failure of an answer that can't be used; what says how, without
// repeating any of it.
func (x *exchange) garbled(what string) *tool.Error {
	return x.fail(tool.Unavailable, "its answer can't be used: "+what)
}

// fail returns a failure that the endpoint answered with. Embedding requests
// may always be repeated, so it counts as sent and answered.
func (x *exchange) fail(kind tool.Kind, msg string) *tool.Error {
	return &tool.Error{Kind: kind, Op: "embed.Embed", Sent: true, Answered: true, Msg: "the embeddings endpoint: " + msg}
}
