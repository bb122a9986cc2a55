package egress

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter bounds an upstream's Retry-After.
const MaxRetryAfter = time.Hour

// RetryAfter returns the delay in a response's Retry-After header (RFC 9110, section
// 10.2.3: seconds or a date), between zero and [MaxRetryAfter]; zero without one.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(MaxRetryAfter/time.Second) {
			return MaxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), MaxRetryAfter)
}
