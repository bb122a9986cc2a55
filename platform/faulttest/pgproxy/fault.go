package pgproxy

import (
	"strings"
	"sync/atomic"
)

// Effect is what happens to a statement.
type Effect string

const (
	// ResetBefore resets the connection instead of forwarding the statement: it
	// never ran.
	ResetBefore Effect = "reset before"

	// ResetAfter lets the server run the statement and the rest of its batch,
	// and resets the connection instead of returning the answer: it is
	// committed, and its client cannot know.
	ResetAfter Effect = "reset after"

	// SilentAfter is [ResetAfter] without the reset: the answer is dropped and
	// the connection stays open and silent.
	SilentAfter Effect = "silent after"
)

// Effects returns every effect.
func Effects() []Effect { return []Effect{ResetBefore, ResetAfter, SilentAfter} }

// Fault names a statement and what happens to it.
type Fault struct {
	// Statement is a part of the SQL text, for example the name that sqlc puts
	// in front: "-- name: AdmitCall ".
	Statement string
	Effect    Effect
	// Times is how many times it happens. Defaults to once.
	Times int
}

// Injection is a fault that waits to happen.
type Injection struct {
	fault Fault
	left  atomic.Int64
	hits  atomic.Int64
}

// Hits returns how many times the fault has happened.
func (i *Injection) Hits() int { return int(i.hits.Load()) }

// Cancel makes the fault happen no more.
func (i *Injection) Cancel() { i.left.Store(0) }

// Inject adds a fault. The first one that fits a statement happens.
func (p *Proxy) Inject(f Fault) *Injection {
	i := &Injection{fault: f}
	i.left.Store(int64(max(f.Times, 1)))
	p.mu.Lock()
	defer p.mu.Unlock()
	live := p.faults[:0]
	for _, old := range p.faults {
		if old.left.Load() > 0 {
			live = append(live, old)
		}
	}
	p.faults = append(live, i)
	return i
}

// strike returns what happens to a statement; empty for nothing.
func (p *Proxy) strike(sql string) Effect {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.faults {
		if !strings.Contains(sql, i.fault.Statement) {
			continue
		}
		if i.left.Add(-1) >= 0 {
			i.hits.Add(1)
			return i.fault.Effect
		}
	}
	return ""
}
