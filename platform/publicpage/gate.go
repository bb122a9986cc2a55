// Package publicpage holds what pages without a login share: the headers that keep them private, and the gate that
// bounds what strangers with links, good or guessed, take of the server.
package publicpage

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limits. They do not depend on the client's address, which a proxy may hide. One page does not take the time of
// others. Tokens cannot be guessed: guesses take some connections of the database at most, and other requests wait
// their turn.
const (
	maxLookups     = 4
	maxWaiting     = 256
	patience       = 5 * time.Second
	opensPerSecond = 1
	opensBurst     = 30
	maxLimiters    = 10_000
)

// Gate bounds the requests for pages. It is safe for concurrent use.
type Gate struct {
	slots   chan struct{} // Of requests that look up their token.
	waiting atomic.Int64  // Requests that wait for one.

	mu    sync.Mutex
	opens map[string]*rate.Limiter // Of requests with a token that opens a page, by page.
}

// NewGate returns a gate.
func NewGate() *Gate {
	return &Gate{slots: make(chan struct{}, maxLookups), opens: map[string]*rate.Limiter{}}
}

// Enter waits for a place among the lookups, up to leave. It reports false where too many wait.
func (g *Gate) Enter(ctx context.Context) (leave func(), ok bool) {
	if g.waiting.Add(1) > maxWaiting {
		g.waiting.Add(-1)
		return nil, false
	}
	defer g.waiting.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case g.slots <- struct{}{}:
		return func() { <-g.slots }, true
	case <-ctx.Done():
		return nil, false
	}
}

// Opens counts one request more for a page, and reports whether it may have it. Beyond maxLimiters all pages begin
// anew.
func (g *Gate) Opens(page string, now time.Time) bool {
	g.mu.Lock()
	l := g.opens[page]
	if l == nil {
		if len(g.opens) >= maxLimiters {
			clear(g.opens)
		}
		l = rate.NewLimiter(opensPerSecond, opensBurst)
		g.opens[page] = l
	}
	g.mu.Unlock()
	return l.AllowN(now, 1)
}
