package deliver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAttemptsSpreadOverADay(t *testing.T) {
	t.Parallel()

	var total, last time.Duration
	for attempt := 1; ; attempt++ {
		delay, more := retryDelay(attempt)
		if !more {
			require.Equal(t, maxAttempts, attempt)
			break
		}
		if attempt < 6 {
			require.Greater(t, delay, 2*last)
		}
		total, last = total+delay, delay
	}
	require.InDelta(t, 23.6, total.Hours(), 2.4)
	first := map[time.Duration]bool{}
	for range 20 {
		delay, _ := retryDelay(1)
		require.InDelta(t, firstDelay.Seconds(), delay.Seconds(), firstDelay.Seconds()*jitter)
		first[delay] = true
	}
	require.Greater(t, len(first), 10, "there is jitter")
}
