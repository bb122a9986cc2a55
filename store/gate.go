package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// maxWaiting bounds the callers that wait for the same operation.
const maxWaiting = 10_000

// errCrowded is the error of a caller above maxWaiting.
var errCrowded = errors.New("too many callers wait for the same operation")

// gate assigns connections to operations, so that operations which all wait for one
// locked table do not use up the pool. It is safe for concurrent use.
//
// Operations take turns by name, whatever the number of callers of each. An
// operation may hold three quarters of the connections; the limit is halved each time
// it stalls, and doubled each time it does not.
type gate struct {
	limit int

	mu     sync.Mutex
	busy   int
	lanes  map[string]*lane
	turns  []*lane // Lanes with waiting callers; the first is next.
	waits  int64
	waited time.Duration
}

// lane is an operation's queue at the gate.
type lane struct {
	most    int // Connections that it may hold now.
	busy    int
	waiting []chan struct{} // Closed when the caller may begin; the first is next.
}

func newGate(limit int) *gate { return &gate{limit: limit, lanes: map[string]*lane{}} }

// full is the connection limit of an operation that does not stall.
func (g *gate) full() int { return max(1, g.limit*3/4) }

// enter waits until the operation may take a connection, and returns the function
// that releases it. It fails with the context's error, or with errCrowded.
func (g *gate) enter(ctx context.Context, op string) (leave func(stalled bool), err error) {
	g.mu.Lock()
	l := g.lanes[op]
	if l == nil {
		l = &lane{most: g.full()}
		g.lanes[op] = l
	}
	leave = func(stalled bool) { g.leave(l, stalled) }
	if len(l.waiting) == 0 && g.free(l) {
		g.busy, l.busy = g.busy+1, l.busy+1
		g.mu.Unlock()
		return leave, nil
	}
	if len(l.waiting) >= maxWaiting {
		g.mu.Unlock()
		return nil, errCrowded
	}
	ready := make(chan struct{})
	if len(l.waiting) == 0 {
		g.turns = append(g.turns, l)
	}
	l.waiting = append(l.waiting, ready)
	g.waits++
	g.mu.Unlock()

	began := time.Now()
	select {
	case <-ready:
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waited += time.Since(began)
	if err != nil {
		g.abandon(l, ready)
		return nil, err
	}
	return leave, nil
}

// free reports whether the lane may start another operation.
func (g *gate) free(l *lane) bool { return g.busy < g.limit && l.busy < l.most }

// abandon removes a waiting caller, or releases the connection it was given meanwhile.
func (g *gate) abandon(l *lane, ready chan struct{}) {
	if i := slices.Index(l.waiting, ready); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		if len(l.waiting) == 0 {
			g.turns = slices.DeleteFunc(g.turns, func(other *lane) bool { return other == l })
		}
		return
	}
	g.busy, l.busy = g.busy-1, l.busy-1
	g.admit()
}

func (g *gate) leave(l *lane, stalled bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy, l.busy = g.busy-1, l.busy-1
	if stalled {
		l.most = max(1, l.most/2)
	} else {
		l.most = min(g.full(), 2*l.most)
	}
	g.admit()
}

// admit starts waiting callers, one of each lane in turn.
func (g *gate) admit() {
	for passed := 0; passed < len(g.turns) && g.busy < g.limit; {
		l := g.turns[0]
		g.turns = g.turns[1:]
		if !g.free(l) {
			g.turns = append(g.turns, l)
			passed++
			continue
		}
		passed = 0
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
		g.busy, l.busy = g.busy+1, l.busy+1
		if len(l.waiting) > 0 {
			g.turns = append(g.turns, l)
		}
	}
}

// stats returns the number of callers that waited, and their total waiting time.
func (g *gate) stats() (waits int64, waited time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waits, g.waited
}
