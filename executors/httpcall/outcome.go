package httpcall

import (
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// outcome maps an answer's status to how the call ends:
//
//   - 2xx: the tool answered;
//   - 401, 403, 407: our credential is not accepted, so Denied;
//   - 408, 425, 429: RateLimited, with the upstream's Retry-After;
//   - 5xx: Unavailable, with Retry-After where it is given;
//   - all others, redirects that were not followed among them: the tool
//     answered "no", with the beginning of its text.
//
// Every error has Sent and Answered set: an answer came, so a request went.
func (p *program) outcome(known *secret.Redactor, r *egress.Response, now time.Time) (*tool.Result, error) {
	failed := &tool.Error{Op: "httpcall.Execute", Sent: true, Answered: true}
	switch {
	case r.Status >= 200 && r.Status < 300:
		return p.answered(known, r), nil
	case r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden, r.Status == http.StatusProxyAuthRequired:
		failed.Kind, failed.Msg = tool.Denied, "the upstream did not accept the tool's credential: it answered "+statusText(r.Status)
	case r.Status == http.StatusRequestTimeout, r.Status == http.StatusTooEarly, r.Status == http.StatusTooManyRequests:
		failed.Kind, failed.Msg = tool.RateLimited, "the upstream asks to come back later: it answered "+statusText(r.Status)
		failed.RetryAfter = egress.RetryAfter(r.Header, now)
	case r.Status >= 500:
		failed.Kind, failed.Msg = tool.Unavailable, "the upstream failed: it answered "+statusText(r.Status)
		failed.RetryAfter = egress.RetryAfter(r.Header, now)
	default:
		return saidNo(known, r), nil
	}
	return nil, failed
}
