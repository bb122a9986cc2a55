package pace

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// DefaultPatience is how long a request waits in its lane unless it says
// otherwise. One that would wait longer fails at once, so that its worker is
// free for others.
const DefaultPatience = 30 * time.Second

// maxLanes bounds the lanes that are kept while nobody uses them.
const maxLanes = 1024

// Limits are configured for each key and model. Zero is none.
type Limits struct {
	RequestsPerMinute int
	TokensPerMinute   int // Input and output.
}

// Pacer paces the requests to one provider. It is safe for concurrent use.
type Pacer struct {
	limits Limits
	peers  *Peers

	mu    sync.Mutex
	lanes map[laneKey]*lane
}

type laneKey struct {
	key   [sha256.Size]byte
	model string
}

// New returns a pacer with limits, which peers share; nil for none.
func New(limits Limits, peers *Peers) *Pacer {
	return &Pacer{limits: limits, peers: peers, lanes: make(map[laneKey]*lane)}
}

// Request is a request that is to be sent.
type Request struct {
	Tenant tool.TenantID
	Key    string // The key that it is sent with; only its digest is kept.
	Model  string
	Tokens int // An estimate of its input, until what it used is known.
	// Patience is how long it may wait; [DefaultPatience] if zero.
	Patience time.Duration
}

// LimitedError is the failure of a request that would have waited for too long.
// It was not sent.
type LimitedError struct {
	Wait time.Duration // Until it may be sent, about.
}

// Error implements error.
func (e *LimitedError) Error() string {
	return fmt.Sprintf("the rate limit is used up for %s", e.Wait.Round(100*time.Millisecond))
}

// Enter waits until r may be sent. It fails with a [*LimitedError] at once where
// that is not within its patience or the deadline of ctx, and with ctx's error
// if ctx ends first. The caller reports how the request ended to the permit.
func (p *Pacer) Enter(ctx context.Context, r Request) (*Permit, error) {
	if r.Patience <= 0 {
		r.Patience = DefaultPatience
	}
	if at, ok := ctx.Deadline(); ok {
		r.Patience = min(r.Patience, time.Until(at))
	}
	r.Tokens = max(r.Tokens, 0)
	if most := p.limits.TokensPerMinute; most > 0 {
		r.Tokens = min(r.Tokens, max(1, int(float64(most)/p.peers.count()))) // A larger one could never be sent.
	}
	began := time.Now()
	l := p.lane(r)
	w, err := l.enter(r)
	if err != nil {
		return nil, err
	}
	if w == nil {
		return &Permit{lane: l, reserved: r.Tokens}, nil
	}
	patience := time.NewTimer(r.Patience)
	defer patience.Stop()
	select {
	case <-w.granted:
	case <-ctx.Done():
		if l.leave(w) {
			return nil, ctx.Err()
		}
	case <-patience.C: // A limit was reported, or others were faster.
		if l.leave(w) {
			return nil, l.late(r)
		}
	}
	return &Permit{lane: l, reserved: r.Tokens, Waited: time.Since(began)}, nil
}

func (p *Pacer) lane(r Request) *lane {
	key := laneKey{key: sha256.Sum256([]byte(r.Key)), model: r.Model}
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.lanes[key]
	if !ok {
		if len(p.lanes) >= maxLanes {
			for k, old := range p.lanes {
				if old.idle() {
					delete(p.lanes, k)
				}
			}
		}
		l = newLane(p.limits, p.peers)
		p.lanes[key] = l
	}
	l.touch()
	return l
}

// Permit is the leave to send one request.
type Permit struct {
	Waited time.Duration // In the lane.

	lane     *lane
	reserved int
}

// Limited reports that the provider limited the rate, and wants no request for
// the given time; zero if it did not say how long.
func (p *Permit) Limited(wait time.Duration) { p.lane.limited(wait) }

// Answered reports that the request was answered, and the tokens that it used,
// input and output: if that is zero, because the provider did not say, the
// estimate counts.
func (p *Permit) Answered(tokens int) {
	if tokens <= 0 {
		tokens = p.reserved
	}
	p.lane.answered(tokens - p.reserved)
	p.reserved = tokens
}
