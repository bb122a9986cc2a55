package pace

import "time"

// bucket holds what may be used up at once, and is refilled over time. It may be
// overdrawn. A nil bucket limits nothing.
type bucket struct {
	whole float64 // Its size, if no other process shared it.
	rate  float64 // Each second, likewise.
	peers *Peers
	left  float64
	at    time.Time
}

// newBucket returns a full bucket; nil without a limit.
func newBucket(perMinute int, size float64, peers *Peers) *bucket {
	if perMinute <= 0 {
		return nil
	}
	b := &bucket{whole: size, rate: float64(perMinute) / 60, peers: peers, at: time.Now()}
	b.left = b.size()
	return b
}

// size is the part of this process, but at least one.
func (b *bucket) size() float64 { return max(1, b.whole/b.peers.count()) }

func (b *bucket) fill(now time.Time) {
	b.left = min(b.size(), b.left+b.rate/b.peers.count()*now.Sub(b.at).Seconds())
	b.at = now
}

// in returns how long it takes until the bucket holds n.
func (b *bucket) in(n float64, now time.Time) time.Duration {
	if b == nil {
		return 0
	}
	b.fill(now)
	if n = min(n, b.size()); b.left >= n { // More could never be sent.
		return 0
	}
	// A nanosecond more, so that rounding does not make it a moment too early.
	return time.Duration((n-b.left)/b.rate*b.peers.count()*float64(time.Second)) + 1
}

// take uses n up, or gives it back if it is negative.
func (b *bucket) take(n float64, now time.Time) {
	if b != nil {
		b.fill(now)
		b.left = min(b.size(), b.left-n)
	}
}
