package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// maxMessage is how many characters of a provider's message are passed on.
const maxMessage = 300

// problem is the error body of a provider, in the shapes of OpenAI, Anthropic and
// compatible servers.
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
		Code    json.RawMessage `json:"code"` // A string, or, of some servers, a number.
		Message string          `json:"message"`
	}
	if json.Unmarshal(outer.Error, &inner) != nil {
		var text string
		if json.Unmarshal(outer.Error, &text) != nil {
			text = outer.Message
		}
		return problem{Message: text}
	}
	return problem{Type: inner.Type, Code: strings.Trim(string(inner.Code), `"`), Message: inner.Message}
}

// refusal classifies an error response. The text of 401 and 403 is never passed
// on: it may contain a part of the key.
func (x *Exchange) refusal(status int, h http.Header, raw []byte) *tool.Error {
	p := readProblem(raw)
	e := x.judge(status, p)
	e.Answered = true
	if e.Kind == tool.RateLimited || e.Kind == tool.Unavailable {
		e.RetryAfter = retryAfter(h, time.Now())
	}
	if x.permit != nil && (e.RetryAfter > 0 || e.Kind == tool.RateLimited && limits(status)) {
		x.permit.Limited(e.RetryAfter)
	}
	return e
}

func (x *Exchange) judge(status int, p problem) *tool.Error {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return x.fail(tool.Denied, fmt.Sprintf("it refused the key (%d); the key is from: %s", status, x.source), nil)
	case status == http.StatusPaymentRequired || p.Code == "insufficient_quota" || p.Type == "insufficient_quota" ||
		p.Type == "billing_error":
		return x.fail(tool.Denied, fmt.Sprintf("the account of the key has no credit left (%d)", status), nil)
	case status == http.StatusNotFound:
		return x.fail(
			tool.Invalid, fmt.Sprintf("there is no model %q at its base URL, or the key may not use it (404)", x.model), nil,
		)
	case status == http.StatusRequestEntityTooLarge:
		return x.fail(tool.Invalid, "the request exceeds its size limit (413)", nil)
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status == http.StatusTooEarly:
		return x.fail(tool.RateLimited, fmt.Sprintf("it limits the rate of requests (%d)", status), nil)
	case status == 529 || status == http.StatusServiceUnavailable && overloaded(p):
		return x.fail(tool.RateLimited, fmt.Sprintf("it is overloaded (%d)", status), nil)
	case status >= http.StatusInternalServerError:
		return x.fail(tool.Unavailable, fmt.Sprintf("it failed (%d)", status), nil)
	case status >= http.StatusBadRequest:
		return x.fail(tool.Invalid, fmt.Sprintf("it refused the request (%d): %s", status, x.quote(p.Message)), nil)
	default:
		return x.fail(tool.Unavailable, fmt.Sprintf("it answered with an unexpected status (%d)", status), nil)
	}
}

// limits reports whether a status says that too much is asked of the provider.
func limits(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == 529
}

func overloaded(p problem) bool {
	return strings.Contains(p.Type+p.Code+strings.ToLower(p.Message), "overload")
}

// eventStatus maps the types of errors within a stream to the HTTP statuses that
// they have otherwise.
var eventStatus = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"permission_error":      http.StatusForbidden,
	"billing_error":         http.StatusPaymentRequired,
	"not_found_error":       http.StatusNotFound,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"rate_limit_exceeded":   http.StatusTooManyRequests,
	"insufficient_quota":    http.StatusTooManyRequests,
	"overloaded_error":      529,
	"invalid_prompt":        http.StatusBadRequest,
}

// Event classifies an error that is an event of a stream.
func (x *Exchange) Event(raw []byte) error {
	p := readProblem(raw)
	status, ok := eventStatus[p.Type]
	if !ok {
		status, ok = eventStatus[p.Code]
	}
	if !ok {
		status = http.StatusInternalServerError
	}
	return x.refusal(status, nil, raw)
}

// quote sanitizes a provider's message: it redacts the key, removes line breaks
// and truncates the message.
func (x *Exchange) quote(msg string) string {
	if msg = strings.Join(strings.Fields(x.redactor.Text(msg)), " "); msg == "" {
		return "it gave no reason"
	}
	if utf8.RuneCountInString(msg) > maxMessage {
		msg = string([]rune(msg)[:maxMessage]) + "…"
	}
	return msg
}
