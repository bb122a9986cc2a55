package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// lane shares a number of children among tenants.
//
// A tenant without a running child may take any free place. Others may take another only
// while that leaves the reserve free, so that no tenant ever has all places. Of the waiting
// tenants that may take a place, the one with the least recent processor time is first.
type lane struct {
	cfg     Config
	size    int
	reserve int
	low     bool // Its children always run at a lower priority.
	notice  *fenceNotice

	mu       sync.Mutex
	idle     []*child // The most recently used is last.
	live     int      // Children that exist or are being started.
	busy     int      // Places taken.
	accounts map[tool.TenantID]*account
	stats    Stats
	closed   bool
	reaper   *time.Timer
}

// waiter is a job that waits for a place.
type waiter struct {
	grant chan placement // Closed when the lane closes.
}

// placement is the result of waiting: a child of the tenant, or the right to start one after
// another has ended.
type placement struct {
	child *child
	evict *child
}

func newLane(cfg Config, size int, notice *fenceNotice) *lane {
	l := &lane{cfg: cfg, size: size, notice: notice, accounts: make(map[tool.TenantID]*account)}
	if size > 1 {
		l.reserve = max(1, size/4)
	}
	return l
}

// account returns a tenant's account, creating it if necessary.
func (l *lane) account(tenant tool.TenantID) *account {
	a := l.accounts[tenant]
	if a == nil {
		a = &account{tenant: tenant, running: make(map[*child]bool)}
		l.accounts[tenant] = a
	}
	return a
}

// forget drops an account without state.
func (l *lane) forget(a *account, now time.Time) {
	if a.forgettable(now) {
		delete(l.accounts, a.tenant)
	}
}

// admits reports whether a tenant may take a place now.
func (l *lane) admits(a *account) bool {
	free := l.size - l.busy
	return free > 0 && (a.places == 0 || free > l.reserve)
}

// acquire returns a child for a tenant, or waits until it may have one.
func (l *lane) acquire(ctx context.Context, tenant tool.TenantID) (*child, error) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, unavailable(errClosed)
	}
	a := l.account(tenant)
	if len(a.waiting) == 0 && l.admits(a) {
		at := l.place(a)
		l.mu.Unlock()
		return l.take(ctx, at, tenant)
	}
	if len(a.waiting) >= l.cfg.MaxWaiting {
		l.mu.Unlock()
		return nil, busy(fmt.Sprintf("%d programs of this tenant are waiting for a sandbox already", l.cfg.MaxWaiting), nil)
	}
	w := &waiter{grant: make(chan placement, 1)}
	a.waiting = append(a.waiting, w)
	l.mu.Unlock()
	select {
	case at, ok := <-w.grant:
		if !ok {
			return nil, unavailable(errClosed)
		}
		return l.take(ctx, at, tenant)
	case <-ctx.Done():
		return nil, l.leave(ctx, w, tenant)
	}
}

// place takes a place for a tenant that [lane.admits]: with an idle child of its own, or the
// right to start one. If there are too many children, it evicts an idle child of the tenant
// that has most of them.
func (l *lane) place(a *account) placement {
	l.busy++
	a.places++
	for i, c := range slices.Backward(l.idle) {
		if c.tenant == a.tenant {
			l.idle = slices.Delete(l.idle, i, i+1)
			return placement{child: c}
		}
	}
	if l.live < l.size {
		l.live++
		return placement{}
	}
	return placement{evict: l.spare()}
}

// spare removes the idle child to evict: of the tenant with the most idle children, the
// least recently used.
func (l *lane) spare() *child {
	count := make(map[tool.TenantID]int, len(l.idle))
	for _, c := range l.idle {
		count[c.tenant]++
	}
	best := -1
	for i, c := range l.idle {
		if best < 0 || count[c.tenant] > count[l.idle[best].tenant] {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	c := l.idle[best]
	l.idle = slices.Delete(l.idle, best, best+1)
	return c
}

// take turns a placement into a running child.
func (l *lane) take(ctx context.Context, at placement, tenant tool.TenantID) (*child, error) {
	if at.evict != nil {
		l.bury(at.evict, EndEvicted)
	}
	c := at.child
	if c == nil {
		var err error
		if c, err = start(ctx, l.cfg.Command); err != nil {
			l.give(nil, tenant)
			if ctx.Err() != nil {
				return nil, cancelled(ctx)
			}
			return nil, unavailable(err)
		}
		c.tenant = tenant
		l.notice.say(ctx, c.lacks)
		l.cfg.Observer.Started()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.child == nil {
		l.stats.Started++
	}
	c.begin()
	a := l.account(tenant)
	a.running[c] = true
	return c, nil
}

// leave removes a waiter whose context has ended from the queue. A placement it received
// meanwhile goes to the next.
func (l *lane) leave(ctx context.Context, w *waiter, tenant tool.TenantID) error {
	l.mu.Lock()
	a := l.account(tenant)
	i := slices.Index(a.waiting, w)
	if i >= 0 {
		a.waiting = slices.Delete(a.waiting, i, i+1)
		l.forget(a, time.Now())
	}
	l.mu.Unlock()
	if i < 0 {
		if at, ok := <-w.grant; ok {
			if at.evict != nil {
				l.bury(at.evict, EndEvicted)
			}
			l.give(at.child, tenant)
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return busy("all sandboxes were busy until the call's deadline", ctx.Err())
	}
	return cancelled(ctx)
}

// release returns a child; why is the outcome of its last run.
func (l *lane) release(c *child, sound bool, why string) {
	used := c.used() // Before bury, which ends its clock.
	l.mu.Lock()
	l.stats.Runs++
	if !sound {
		l.stats.Killed++
	}
	a := l.account(c.tenant)
	delete(a.running, c)
	a.charge(time.Now(), used)
	l.mu.Unlock()
	tenant := c.tenant
	switch {
	case !sound:
		l.bury(c, why)
		c = nil
	case c.runs >= l.cfg.MaxRuns, c.grown():
		l.bury(c, EndReplaced)
		c = nil
	case !l.low:
		c.restore()
	}
	l.give(c, tenant)
}

// give releases a tenant's place, with its child or without, and serves waiting
// runs.
func (l *lane) give(c *child, tenant tool.TenantID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	a := l.account(tenant)
	a.places--
	l.busy--
	if c != nil && !l.closed {
		c.since = now
		l.idle = append(l.idle, c)
	} else {
		l.live--
		if c != nil {
			go l.bury(c, EndClosed) // It does not take the lane's lock.
		}
	}
	l.serve(now)
	l.forget(a, now)
	l.reapLater()
}

// serve gives free places to waiting runs.
func (l *lane) serve(now time.Time) {
	for !l.closed {
		var best *account
		var least time.Duration
		for _, a := range l.accounts {
			if len(a.waiting) == 0 || !l.admits(a) {
				continue
			}
			if use := a.usage(now); best == nil || use < least {
				best, least = a, use
			}
		}
		if best == nil {
			return
		}
		w := best.waiting[0]
		best.waiting = best.waiting[1:]
		w.grant <- l.place(best)
	}
}

// bury ends a child and reports why.
func (l *lane) bury(c *child, why string) {
	c.end()
	l.cfg.Observer.Ended(why)
}

func (l *lane) statistics() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Live, s.Idle = l.live, len(l.idle)
	for _, a := range l.accounts {
		s.Waiting += len(a.waiting)
	}
	return s
}

func (l *lane) close() {
	l.mu.Lock()
	l.closed = true
	idle := l.idle
	l.idle, l.live = nil, l.live-len(l.idle)
	for _, a := range l.accounts {
		for _, w := range a.waiting {
			close(w.grant)
		}
		a.waiting = nil
	}
	if l.reaper != nil {
		l.reaper.Stop()
	}
	l.mu.Unlock()
	for _, c := range idle {
		l.bury(c, EndClosed)
	}
}

// busyRetry is the delay before retrying a job that found no child.
const busyRetry = time.Second

func busy(msg string, err error) error {
	return &tool.Error{Kind: tool.RateLimited, Op: "sandbox.Run", Msg: msg, RetryAfter: busyRetry, Err: err}
}
