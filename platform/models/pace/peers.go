package pace

import "sync/atomic"

// Peers is how many processes send with the same keys, and so share their limits: each has an
// equal part. It is safe for concurrent use; the zero value, and nil, is this one alone.
type Peers struct{ others atomic.Int64 }

// Set says how many there are, this one included.
func (p *Peers) Set(processes int) { p.others.Store(int64(max(processes, 1) - 1)) }

func (p *Peers) count() float64 {
	if p == nil {
		return 1
	}
	return float64(p.others.Load() + 1)
}
