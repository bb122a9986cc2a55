package remote

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
)

// retryAfter returns the wait that a provider requests: from Retry-After-Ms,
// Retry-After, or else the reset times of exhausted limits. Zero if there is
// none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return bounded(ms * float64(time.Millisecond))
	}
	if s, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After")), 64); err == nil && s > 0 {
		return bounded(s * float64(time.Second))
	}
	if d := egress.RetryAfter(h, now); d > 0 {
		return d
	}
	var longest time.Duration
	for name := range h {
		bucket, ok := strings.CutPrefix(name, "X-Ratelimit-Remaining")
		reset := "X-Ratelimit-Reset" + bucket
		if !ok {
			if bucket, ok = cutAround(name, "Anthropic-Ratelimit-", "-Remaining"); !ok {
				continue
			}
			reset = "Anthropic-Ratelimit-" + bucket + "-Reset"
		}
		if left, err := strconv.ParseFloat(h.Get(name), 64); err == nil && left <= 0 {
			longest = max(longest, resetIn(h.Get(reset), now))
		}
	}
	return longest
}

// resetIn parses when a limit is reset: a duration ("1m2.5s"), seconds, a time in
// seconds or milliseconds since 1970, or a date of RFC 3339.
func resetIn(text string, now time.Time) time.Duration {
	if d, err := time.ParseDuration(text); err == nil {
		return bounded(float64(d))
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return bounded(float64(at.Sub(now)))
	}
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return 0
	case n > 1e12:
		return bounded((n - float64(now.UnixMilli())) * float64(time.Millisecond))
	case n > 1e9:
		return bounded((n - float64(now.Unix())) * float64(time.Second))
	default:
		return bounded(n * float64(time.Second))
	}
}

func bounded(nanoseconds float64) time.Duration {
	return time.Duration(min(max(nanoseconds, 0), float64(egress.MaxRetryAfter)))
}

func cutAround(s, prefix, suffix string) (middle string, ok bool) {
	s, before := strings.CutPrefix(s, prefix)
	s, after := strings.CutSuffix(s, suffix)
	return s, before && after
}
