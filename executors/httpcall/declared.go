package httpcall

import (
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// maxErrorText bounds the upstream's message in an error, in bytes.
const maxErrorText = 500

// declared returns the first rule that an answer matches; nil without one.
func (p *program) declared(r *egress.Response, doc *part) *ErrorRule {
	for i := range p.Errors {
		if rule := &p.Errors[i]; rule.matches(r.Status, doc) {
			return rule
		}
	}
	return nil
}

func (r *ErrorRule) matches(status int, doc *part) bool {
	if !r.covers(status) {
		return false
	}
	if r.Where == nil {
		return true
	}
	v, ok := doc.at(*r.Where)
	if len(r.Equals) > 0 {
		return ok && equal(v, r.Equals)
	}
	return ok && says(v)
}

// end returns the outcome that the rule declares. The error has Sent and Answered
// set, whatever its kind, since an answer was received.
func (r *ErrorRule) end(known *secret.Redactor, resp *egress.Response, doc *part, now time.Time) (*tool.Result, error) {
	text := r.text(doc)
	if r.Kind == kindAnswerError {
		if text == "" {
			return saidNo(known, resp), nil
		}
		return tool.ErrorResult(shorten(known, text, excerptBytes)), nil
	}
	failed := &tool.Error{Kind: tool.Kind(r.Kind), Op: "httpcall.Execute", Sent: true, Answered: true}
	failed.Msg = "the upstream answered " + statusText(resp.Status)
	if text != "" {
		failed.Msg += ": " + shorten(known, text, maxErrorText)
	}
	if failed.Kind == tool.RateLimited || failed.Kind == tool.Unavailable {
		failed.RetryAfter = r.retryAfter(resp, doc, now)
	}
	return nil, failed
}

// text returns the rule's message; empty where it has none, or its reference is
// absent in the answer.
func (r *ErrorRule) text(doc *part) string {
	switch {
	case r.Message == nil:
		return ""
	case r.Message.From == nil:
		return r.Message.Literal
	}
	raw, ok := doc.at(*r.Message.From)
	if !ok || !says(raw) {
		return ""
	}
	if s, ok := scalar(raw); ok {
		return s
	}
	return string(raw)
}

func (r *ErrorRule) retryAfter(resp *egress.Response, doc *part, now time.Time) time.Duration {
	if r.RetryAfter != nil {
		if raw, ok := doc.at(*r.RetryAfter); ok {
			text, _ := scalar(raw)
			if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 {
				return time.Duration(min(seconds, egress.MaxRetryAfter.Seconds()) * float64(time.Second))
			}
		}
	}
	return egress.RetryAfter(resp.Header, now)
}

// shorten returns the beginning of a text, redacted before it is cut, since a cut
// secret would not be recognised.
func shorten(known *secret.Redactor, text string, limit int) string {
	return tool.Clip(strings.TrimSpace(strings.ToValidUTF8(known.Text(text), "\uFFFD")), limit)
}
