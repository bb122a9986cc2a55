package pace

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

const (
	// burst is how much of a minute's requests may be sent at once.
	burst = 1.0 / 6
	// Without a time from the provider, a lane is closed for this long, doubled
	// with each limit in a row.
	firstPause, longestPause = time.Second, 30 * time.Second
	// spacing is the mean distance of requests after a limit, until one is
	// answered.
	spacing = 100 * time.Millisecond
	// idleTime is how long a lane that nobody uses is kept at least.
	idleTime = time.Minute
)

// lane paces the requests with one key to one model.
type lane struct {
	mu       sync.Mutex
	requests *bucket
	tokens   *bucket

	closed time.Time // No request is sent before.
	inARow int       // Limits since the last answer.
	used   time.Time

	waiting map[tool.TenantID][]*waiter
	turns   []tool.TenantID // Those with waiters, the next one first.
	timer   *time.Timer
}

// waiter is a request in the queue of its tenant.
type waiter struct {
	request Request
	granted chan struct{} // Closed when it may be sent.
}

func newLane(l Limits, peers *Peers) *lane {
	return &lane{
		requests: newBucket(l.RequestsPerMinute, float64(l.RequestsPerMinute)*burst, peers),
		tokens:   newBucket(l.TokensPerMinute, float64(l.TokensPerMinute), peers),
		waiting:  make(map[tool.TenantID][]*waiter),
	}
}

// enter takes a permit, or a place in the queue. It fails for a request that
// would certainly wait longer than it may.
func (l *lane) enter(r Request) (*waiter, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	wait := l.wait(r, now)
	if len(l.turns) == 0 && wait == 0 {
		l.take(r, now)
		return nil, nil
	}
	if wait > r.Patience {
		return nil, &LimitedError{Wait: spread(wait)}
	}
	w := &waiter{request: r, granted: make(chan struct{})}
	if len(l.waiting[r.Tenant]) == 0 {
		l.turns = append(l.turns, r.Tenant)
	}
	l.waiting[r.Tenant] = append(l.waiting[r.Tenant], w)
	l.grant()
	return w, nil
}

// wait returns how long a request that is alone would wait.
func (l *lane) wait(r Request, now time.Time) time.Duration {
	return max(l.closed.Sub(now), l.requests.in(1, now), l.tokens.in(float64(r.Tokens), now), 0)
}

func (l *lane) take(r Request, now time.Time) {
	l.requests.take(1, now)
	l.tokens.take(float64(r.Tokens), now)
	if l.inARow > 0 {
		l.closed = now.Add(jitter(spacing))
	}
}

// grant lets requests go as far as may be now, the tenants in turn, and comes
// back when the next one may.
func (l *lane) grant() {
	for len(l.turns) > 0 {
		tenant := l.turns[0]
		w := l.waiting[tenant][0]
		now := time.Now()
		if wait := l.wait(w.request, now); wait > 0 {
			if l.timer != nil {
				l.timer.Stop()
			}
			l.timer = time.AfterFunc(wait, func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.grant()
			})
			return
		}
		l.take(w.request, now)
		l.drop(w)
		if len(l.waiting[tenant]) > 0 {
			l.turns = append(l.turns[1:], tenant)
		}
		close(w.granted)
	}
}

// drop takes a waiter from its queue, and its tenant's turn with the last one.
func (l *lane) drop(w *waiter) bool {
	tenant := w.request.Tenant
	i := slices.Index(l.waiting[tenant], w)
	if i < 0 {
		return false
	}
	if l.waiting[tenant] = slices.Delete(l.waiting[tenant], i, i+1); len(l.waiting[tenant]) == 0 {
		delete(l.waiting, tenant)
		l.turns = slices.DeleteFunc(l.turns, func(t tool.TenantID) bool { return t == tenant })
	}
	return true
}

// leave gives a place in the queue up; false if the permit was given already.
func (l *lane) leave(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.drop(w)
	if left {
		l.grant() // The next one may need less.
	}
	return left
}

// late is the failure of a request whose patience is over.
func (l *lane) late(r Request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &LimitedError{Wait: spread(max(l.wait(r, time.Now()), firstPause))}
}

func (l *lane) limited(wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait <= 0 {
		wait = min(firstPause<<min(l.inARow, 10), longestPause)
	}
	l.inARow++
	if until := time.Now().Add(spread(wait)); until.After(l.closed) {
		l.closed = until
	}
	l.grant()
}

func (l *lane) answered(more int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.tokens.take(float64(more), now)
	if l.inARow > 0 && l.closed.Sub(now) <= 2*spacing { // A limit that was reported since is kept.
		l.inARow, l.closed = 0, now
	}
	l.grant()
}

func (l *lane) touch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = time.Now()
}

// idle reports whether the lane holds nothing that is not to be forgotten.
func (l *lane) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	return len(l.turns) == 0 && now.Sub(l.used) > idleTime && now.After(l.closed)
}

// jitter returns a random time of half to one and a half of d.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d) //nolint:gosec // A secret would be no better.
}

// spread returns d, or a little more: processes that were limited at the same
// time do not come back at the same time.
func spread(d time.Duration) time.Duration {
	return d + rand.N(max(min(d/10, time.Second), 1)) //nolint:gosec // As above.
}
