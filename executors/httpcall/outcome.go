package httpcall

import (
	"context"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// outcome maps a response to a result or an error: by the rules of the
// configuration, or else by its status, see [program.failure]. 2xx is a result.
func (p *program) outcome(ctx context.Context, r *egress.Response, now time.Time) (*tool.Result, error) {
	known := secret.RedactorFrom(ctx)
	doc := newPart(nil)
	if len(p.Errors) > 0 {
		doc = document(r)
	}
	if res, err := p.failure(known, r, doc, now); res != nil || err != nil {
		return res, err
	}
	return p.answered(ctx, known, r)
}

// failure returns the outcome of a response that is not a success, and neither a
// result nor an error for a success:
//
//   - a rule of the configuration, for any status;
//   - 401, 403, 407: the credential was rejected, so Denied;
//   - 408, 425, 429: RateLimited, with the upstream's Retry-After;
//   - 5xx: Unavailable, with Retry-After where it is given;
//   - all others but 2xx, including redirects that were not followed: an error
//     result with the beginning of the body.
//
// Every error has Sent and Answered set, since a response was received.
func (p *program) failure(known *secret.Redactor, r *egress.Response, doc *part, now time.Time) (*tool.Result, error) {
	if rule := p.declared(r, doc); rule != nil {
		return rule.end(known, r, doc, now)
	}
	e := &tool.Error{Op: "httpcall.Execute", Sent: true, Answered: true}
	switch {
	case r.Status >= 200 && r.Status < 300:
		return nil, nil
	case r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden, r.Status == http.StatusProxyAuthRequired:
		e.Kind, e.Msg = tool.Denied, "the upstream did not accept the tool's credential: it answered "+statusText(r.Status)
	case r.Status == http.StatusRequestTimeout, r.Status == http.StatusTooEarly, r.Status == http.StatusTooManyRequests:
		e.Kind, e.Msg = tool.RateLimited, "the upstream limits the rate of requests: it answered "+statusText(r.Status)
		e.RetryAfter = egress.RetryAfter(r.Header, now)
	case r.Status >= 500:
		e.Kind, e.Msg = tool.Unavailable, "the upstream failed: it answered "+statusText(r.Status)
		e.RetryAfter = egress.RetryAfter(r.Header, now)
	default:
		return saidNo(known, r), nil
	}
	return nil, e
}
