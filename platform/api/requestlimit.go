package api

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds on the requests that a process serves at once, streams apart. Most of
// them wait for a call or a run.
const (
	DefaultMaxRequests       = 4096
	DefaultMaxTenantRequests = 1024
)

// limitRequests refuses requests beyond the number that the process serves at
// once, before any other work. Probes and metrics are always served, and streams
// have a bound of their own.
func (s *server) limitRequests(next http.Handler) http.Handler {
	var active atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/v1/") && !isMCP(r) || asksForStream(r) {
			next.ServeHTTP(w, r)
			return
		}
		defer active.Add(-1)
		if active.Add(1) > int64(s.cfg.MaxRequests) {
			p := refusal(
				string(tool.Unavailable), fmt.Sprintf("the server is already serving %d requests", s.cfg.MaxRequests),
			)
			p.RetryAfter = retryBusy.Seconds()
			writeProblem(w, r, p)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// retryBusy is when a refused request may be accepted.
const retryBusy = 2 * time.Second

// manyRequests refuses a request of a tenant that has reached its limit.
func manyRequests(most int) *v1.Problem {
	p := refusal(string(tool.RateLimited), fmt.Sprintf(
		"the tenant has %d requests waiting at this server, which is the limit: start runs and follow their events "+
			"instead of waiting for each", most))
	p.RetryAfter = retryBusy.Seconds()
	return p
}
