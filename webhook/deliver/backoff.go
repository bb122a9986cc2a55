package deliver

import (
	"math/rand/v2"
	"time"
)

// The attempts of a delivery spread over about a day: after 5 s, 20 s, 80 s, 5, 21 and 85
// minutes, 5.7 hours, and twice 8 hours.
const (
	firstDelay  = 5 * time.Second
	delayFactor = 4
	maxDelay    = 8 * time.Hour
	maxAttempts = 10
	jitter      = 0.1
)

// retryDelay returns how long after an attempt, counted from 1, the next one is due, within the
// jitter; false if there is no next one.
func retryDelay(attempt int) (time.Duration, bool) {
	if attempt >= maxAttempts {
		return 0, false
	}
	d := firstDelay
	for range attempt - 1 {
		d = min(d*delayFactor, maxDelay)
	}
	return time.Duration(float64(d) * (1 - jitter + 2*jitter*rand.Float64())), true //nolint:gosec // No secret.
}
