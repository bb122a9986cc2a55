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

// maxExcerpt is how much of a refusal's text the model is shown, in bytes.
const maxExcerpt = 2 << 10

// upstream is an answer that is to be judged by its status.
type upstream struct {
	op   string // Of errors.
	resp *egress.Response
	now  time.Time
	ours bool // A credential of ours was sent, so that a refusal is about it.
}

// refusal returns how a call ends whose answer is none: 408, 425 and 429 are
// RateLimited, 5xx Unavailable, 401, 402 and 403 Denied where they are about a
// credential of ours, and all others the tool's "no". Both are nil for 2xx.
func (u upstream) refusal(known *secret.Redactor) (*tool.Result, error) {
	r := u.resp
	if r.Status >= 200 && r.Status < 300 {
		return nil, nil //nolint:nilnil // It is none.
	}
	status := strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)))
	failed := &tool.Error{Op: u.op, Sent: true, Answered: true, RetryAfter: egress.RetryAfter(r.Header, u.now)}
	switch {
	case r.Status == http.StatusRequestTimeout, r.Status == http.StatusTooEarly, r.Status == http.StatusTooManyRequests:
		failed.Kind, failed.Msg = tool.RateLimited, "the upstream asks to come back later: it answered "+status
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

// withoutPart returns the body of an answer that was cut without secrets, and
// without the beginning of one at its end, which is in no list of secrets: where
// it is cut, a model may have chosen.
func withoutPart(known *secret.Redactor, r *egress.Response) []byte {
	text := known.Text(string(r.Body))
	if r.Truncated {
		text = known.TrimPartial(text)
	}
	return []byte(text)
}

// accessOf is what a call may do outside.
func accessOf(call *tool.Call) egress.Access {
	return egress.Access{Tenant: call.Principal.Tenant, Class: call.Egress, Rules: call.EgressRules}
}
