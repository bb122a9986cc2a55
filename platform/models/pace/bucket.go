package pace

import "time"

// bucket holds what may be used up at once, and is refilled over time. It may be
// overdrawn. A nil bucket limits nothing.
type bucket struct {
	size float64
	rate float64 // Each second.
	left float64
	at   time.Time
}

// newBucket returns a full bucket; nil without a limit.
func newBucket(perMinute int, size float64) *bucket {
	if perMinute <= 0 {
		return nil
	}
	return &bucket{size: size, rate: float64(perMinute) / 60, left: size, at: time.Now()}
}

func (b *bucket) fill(now time.Time) {
	b.left = min(b.size, b.left+b.rate*now.Sub(b.at).Seconds())
	b.at = now
}

// in returns how long it takes until the bucket holds n.
func (b *bucket) in(n float64, now time.Time) time.Duration {
	if b == nil {
		return 0
	}
	b.fill(now)
	if b.left >= n {
		return 0
	}
	// A nanosecond more, so that rounding does not make it a moment too early.
	return time.Duration((n-b.left)/b.rate*float64(time.Second)) + 1
}

// take uses n up, or gives it back if it is negative.
func (b *bucket) take(n float64, now time.Time) {
	if b != nil {
		b.fill(now)
		b.left = min(b.size, b.left-n)
	}
}
