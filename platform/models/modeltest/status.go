package modeltest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

type statusCase struct {
	status     int
	kind       string // The provider's word for the error.
	header     map[string]string
	want       tool.Kind
	retryAfter time.Duration // About.
	says       string
	quoted     bool // The provider's message is passed on.
}

// statuses: what each status means, whether the provider's message is passed
// on, and that a key that it repeats never is.
func (p Provider) statuses(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]statusCase{
		"BadRequest": {
			status: 400, kind: "invalid_request_error", want: tool.Invalid, says: "refused the request", quoted: true,
		},
		"Unprocessable":  {status: 422, want: tool.Invalid, quoted: true},
		"BadKey":         {status: 401, kind: "authentication_error", want: tool.Denied, says: "TESTING_API_KEY"},
		"Forbidden":      {status: 403, kind: "permission_error", want: tool.Denied, says: "refused the key"},
		"Unpaid":         {status: 402, kind: "billing_error", want: tool.Denied, says: "no credit left"},
		"NoModel":        {status: 404, kind: "not_found_error", want: tool.Invalid, says: `no model "` + ModelName + `"`},
		"TooLarge":       {status: 413, kind: "request_too_large", want: tool.Invalid},
		"RequestTimeout": {status: 408, want: tool.RateLimited},
		"TooEarly":       {status: 425, want: tool.RateLimited},
		"Limited": {
			status: 429, kind: "rate_limit_error", header: map[string]string{"Retry-After": "7"}, want: tool.RateLimited,
			retryAfter: 7 * time.Second,
		},
		"LimitedFraction": {
			status: 429, header: map[string]string{"Retry-After": "0.5"}, want: tool.RateLimited,
			retryAfter: 500 * time.Millisecond,
		},
		"LimitedMillis": {
			status: 429, header: map[string]string{"Retry-After-Ms": "1500", "Retry-After": "2"}, want: tool.RateLimited,
			retryAfter: 1500 * time.Millisecond,
		},
		"LimitedUntil": {
			status: 429,
			header: map[string]string{"Retry-After": time.Now().Add(30 * time.Minute).UTC().Format(http.TimeFormat)},
			want:   tool.RateLimited, retryAfter: 30 * time.Minute,
		},
		"LimitedReset": {
			status: 429, header: map[string]string{
				"X-Ratelimit-Remaining-Requests": "12", "X-Ratelimit-Reset-Requests": "8h",
				"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6m0s",
			}, want: tool.RateLimited, retryAfter: 6 * time.Minute,
		},
		"LimitedResetDate": {
			status: 429, header: map[string]string{
				"Anthropic-Ratelimit-Tokens-Remaining": "0",
				"Anthropic-Ratelimit-Tokens-Reset":     time.Now().Add(20 * time.Minute).UTC().Format(time.RFC3339),
			}, want: tool.RateLimited, retryAfter: 20 * time.Minute,
		},
		"LimitedForLong": {
			status: 429, header: map[string]string{"Retry-After": "999999"}, want: tool.RateLimited, retryAfter: time.Hour,
		},
		"NoQuota": {status: 429, kind: "insufficient_quota", want: tool.Denied, says: "no credit left"},
		"Failed":  {status: 500, kind: "api_error", want: tool.Unavailable},
		"BadGateway": {
			status: 502, header: map[string]string{"Retry-After": "3"}, want: tool.Unavailable, retryAfter: 3 * time.Second,
		},
		"Unavailable": {status: 503, want: tool.Unavailable},
		"Saturated":   {status: 503, kind: "overloaded_error", want: tool.RateLimited},
		"Overloaded":  {status: 529, kind: "overloaded_error", want: tool.RateLimited},
		"Elsewhere":   {status: 304, want: tool.Unavailable},
	} {
		for way, change := range ways() {
			t.Run(name+way, func(t *testing.T) {
				t.Parallel()

				server := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
					for name, value := range tt.header {
						w.Header().Set(name, value)
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(tt.status)
					// Providers repeat keys, and what was sent to them.
					_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":"max_tokens is too large; your key is %s"}}`,
						tt.kind, theKey)
				})
				req := simple()
				change(req)
				_, err := p.open(t, server.URL).Generate(t.Context(), req)
				e := tool.AsError(err)
				require.Equal(t, tt.want, e.Kind, "%v", err)
				require.Contains(t, e.Msg, tt.says)
				require.Equal(t, tt.quoted, contains(e.Msg, "max_tokens is too large"))
				require.NotContains(t, err.Error(), theKey)
				require.True(t, e.Answered)
				require.InDelta(t, tt.retryAfter.Seconds(), e.RetryAfter.Seconds(), 60, "a slow test sees less of a date")
				require.Equal(t, tt.retryAfter > 0, e.RetryAfter > 0)
				server.One(t) // Nothing but Temporal retries.
			})
		}
	}
}
