package httpcall

import (
	"context"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// outcome maps an answer to how the call ends: by what the configuration
// declares of it or else by its status, as [program.failure] says; and 2xx is
// an answer.
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

// failure returns how a call ends by an answer that is none, and neither a
// result nor an error for one that is:
//
//   - what the configuration declares, of whatever status;
//   - 401, 403, 407: our credential is not accepted, so Denied;
//   - 408, 425, 429: RateLimited, with the upstream's Retry-After;
//   - 5xx: Unavailable, with Retry-After where it is given;
//   - all others but 2xx, redirects that were not followed among them: the
//     tool answered "no", with the beginning of its text.
//
// Every error has Sent and Answered set: an answer came, so a request went.
func (p *program) failure(known *secret.Redactor, r *egress.Response, doc *part, now time.Time) (*tool.Result, error) {
	if rule := p.declared(r, doc); rule != nil {
		return rule.end(known, r, doc, now)
	}
	e := &tool.Error{Op: "httpcall.Execute", Sent: true, Answered: true}
	switch {
	case r.Status >= 200 && r.Status < 300:
		return nil, nil //nolint:nilnil // No failure.
	case r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden, r.Status == http.StatusProxyAuthRequired:
		e.Kind, e.Msg = tool.Denied, "the upstream did not accept the tool's credential: it answered "+statusText(r.Status)
	case r.Status == http.StatusRequestTimeout, r.Status == http.StatusTooEarly, r.Status == http.StatusTooManyRequests:
		e.Kind, e.Msg = tool.RateLimited, "the upstream asks to come back later: it answered "+statusText(r.Status)
		e.RetryAfter = egress.RetryAfter(r.Header, now)
	case r.Status >= 500:
		e.Kind, e.Msg = tool.Unavailable, "the upstream failed: it answered "+statusText(r.Status)
		e.RetryAfter = egress.RetryAfter(r.Header, now)
	default:
		return saidNo(known, r), nil
	}
	return nil, e
}
