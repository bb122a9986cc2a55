package grpcproxy

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Effect is what happens to a call.
type Effect string

const (
	// FailBefore answers Unavailable without forwarding: nothing happened.
	FailBefore Effect = "fail before"

	// FailAfter forwards and answers Unavailable instead of the server's
	// answer: it happened, and the client cannot know.
	FailAfter Effect = "fail after"

	// Hang forwards nothing and never answers, until the client gives up or the
	// fault is cancelled.
	Hang Effect = "hang"

	// HangAfter forwards and never answers.
	HangAfter Effect = "hang after"

	// Delay forwards after a pause.
	Delay Effect = "delay"
)

// Effects returns every effect.
func Effects() []Effect { return []Effect{FailBefore, FailAfter, Hang, HangAfter, Delay} }

// Fault names a method and what happens to it.
type Fault struct {
	// Method is the last part of the method's name, for example
	// StartWorkflowExecution. Empty is every method.
	Method string
	Effect Effect
	// Times is how many times it happens. Zero is until it is cancelled.
	Times int
	// Pause is how long [Delay] waits.
	Pause time.Duration
}

// Injection is a fault that waits to happen.
type Injection struct {
	fault    Fault
	left     atomic.Int64
	hits     atomic.Int64
	over     chan struct{}
	canceled atomic.Bool
}

// Hits returns how many times the fault has happened.
func (i *Injection) Hits() int { return int(i.hits.Load()) }

// Cancel makes the fault happen no more, and ends the calls that hang in it
// with Unavailable.
func (i *Injection) Cancel() {
	if i.canceled.CompareAndSwap(false, true) {
		close(i.over)
	}
}

// Inject adds a fault. The first one that fits a call happens.
func (p *Proxy) Inject(f Fault) *Injection {
	i := &Injection{fault: f, over: make(chan struct{})}
	i.left.Store(int64(f.Times))
	p.mu.Lock()
	defer p.mu.Unlock()
	live := p.faults[:0]
	for _, old := range p.faults {
		if !old.canceled.Load() {
			live = append(live, old)
		}
	}
	p.faults = append(live, i)
	return i
}

// strike returns the fault that happens to a call; nil for none.
func (p *Proxy) strike(method string) *Injection {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.faults {
		if i.canceled.Load() || i.fault.Method != "" && i.fault.Method != method {
			continue
		}
		if i.fault.Times > 0 && i.left.Add(-1) < 0 {
			continue
		}
		i.hits.Add(1)
		return i
	}
	return nil
}

func (i *Injection) before(ctx context.Context, method string) error {
	if i == nil {
		return nil
	}
	switch i.fault.Effect {
	case FailBefore:
		return lost(method)
	case Hang:
		return i.hang(ctx, method)
	case Delay:
		return pause(ctx, i.fault.Pause)
	case FailAfter, HangAfter: // Once the server has answered.
	}
	return nil
}

func (i *Injection) after(ctx context.Context, method string) error {
	if i == nil {
		return nil
	}
	switch i.fault.Effect {
	case FailAfter:
		return lost(method)
	case HangAfter:
		return i.hang(ctx, method)
	case FailBefore, Hang, Delay: // Done.
	}
	return nil
}

func (i *Injection) hang(ctx context.Context, method string) error {
	select {
	case <-i.over:
		return lost(method)
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

func lost(method string) error {
	return status.Error(codes.Unavailable, method+": connection lost")
}
