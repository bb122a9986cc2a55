package builtins

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// maxExcerpt bounds the excerpt of an error response that the model reads, in bytes.
const maxExcerpt = 2 << 10

// upstream is a response to be classified by its status.
type upstream struct {
	op   string // Of errors.
	resp *egress.Response
	now  time.Time
	ours bool // A credential was sent, so a refusal is about it.
}

// refusal returns the outcome of a response that is not a success: 408, 425 and 429 are
// RateLimited, 5xx Unavailable, 401, 402 and 403 Denied if a credential was sent, and all
// others an error result. Both are nil for 2xx.
func (u upstream) refusal(known *secret.Redactor) (*tool.Result, error) {
	r := u.resp
	if r.Status >= 200 && r.Status < 300 {
		return nil, nil
	}
	status := strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)))
	failed := &tool.Error{Op: u.op, Sent: true, Answered: true, RetryAfter: egress.RetryAfter(r.Header, u.now)}
	switch {
	case r.Status == http.StatusRequestTimeout, r.Status == http.StatusTooEarly, r.Status == http.StatusTooManyRequests:
		failed.Kind, failed.Msg = tool.RateLimited, "the upstream limits the rate of requests: it answered "+status
		return nil, failed
	case r.Status >= http.StatusInternalServerError:
		failed.Kind, failed.Msg = tool.Unavailable, "the upstream failed: it answered "+status
		return nil, failed
	case u.ours && (r.Status == http.StatusUnauthorized || r.Status == http.StatusPaymentRequired ||
		r.Status == http.StatusForbidden):
		failed.Kind, failed.Msg, failed.RetryAfter = tool.Denied, "the upstream did not accept the tool's credential: it "+
			"answered "+status, 0
		return nil, failed
	}
	text := string(withoutPart(known, r)) // Before it is cut again.
	text = strings.TrimSpace(plain(text[:min(len(text), maxExcerpt)]))
	return tool.ErrorResult(strings.TrimSuffix("the upstream answered "+status+": "+text, ": ")), nil
}

// withoutPart returns a redacted body without the beginning of a secret at its end: a model
// may have chosen where the body is cut.
func withoutPart(known *secret.Redactor, r *egress.Response) []byte {
	text := known.Text(string(r.Body))
	if r.Truncated {
		text = known.TrimPartial(text)
	}
	return []byte(text)
}

// accessOf returns the egress access of a call.
func accessOf(call *tool.Call) egress.Access {
	return egress.Access{Tenant: call.Principal.Tenant, Class: call.Egress, Rules: call.EgressRules}
}
