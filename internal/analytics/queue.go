// Package analytics sends events about calls to a host's analytics. Events may be lost: a full queue
// drops them, and a sink that fails is not asked again. No call waits for them, and none fails by
// them. What must not be lost is in the ledger and the audit log.
package analytics

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// ToolRun is the event of one attempt of a call that ended (reference number S0-82). It has no
// arguments, results or texts of errors.
type ToolRun struct {
	At             time.Time           `json:"at"` // When the attempt ended.
	Tenant         tool.TenantID       `json:"tenant_id"`
	Subject        string              `json:"subject"`
	RunID          string              `json:"run_id,omitempty"`
	AgentID        string              `json:"agent_id,omitempty"`
	InvocationID   string              `json:"invocation_id"`
	Tool           string              `json:"tool"`
	Version        string              `json:"version"`
	Implementation tool.Implementation `json:"implementation_type"`
	Attempt        int                 `json:"attempt"`
	Duration       time.Duration       `json:"duration_ns"`
	IsError        bool                `json:"is_error"`             // The tool answered no.
	ErrorKind      tool.Kind           `json:"error_kind,omitempty"` // Why there is no answer.
}

// Sink takes events. It is called by one goroutine at a time, with a deadline, and must not keep
// the slice.
type Sink func(ctx context.Context, events []ToolRun) error

// Bounds of a [Queue].
const (
	DefaultSize = 4096
	maxBatch    = 256
	patience    = 5 * time.Second // For one call of the sink.
)

// Queue hands events to a sink in the background. It is safe for concurrent use.
type Queue struct {
	sink    Sink
	log     *slog.Logger
	events  chan ToolRun
	closing chan struct{}
	once    sync.Once
	done    sync.WaitGroup
	dropped atomic.Int64
}

// New returns a queue of so many events at most. Close it.
func New(sink Sink, size int, log *slog.Logger) *Queue {
	if size <= 0 {
		size = DefaultSize
	}
	q := &Queue{sink: sink, log: log, events: make(chan ToolRun, size), closing: make(chan struct{})}
	q.done.Go(q.send)
	return q
}

// Add queues an event, or drops it where the queue is full or closed. It never blocks.
func (q *Queue) Add(e ToolRun) {
	select {
	case <-q.closing:
		q.dropped.Add(1)
		return
	default:
	}
	select {
	case q.events <- e:
	default:
		q.dropped.Add(1)
	}
}

// Dropped returns how many events were lost: for a full queue, or by a sink that failed.
func (q *Queue) Dropped() int64 { return q.dropped.Load() }

// Close sends what is queued, once, and ends the queue. It waits for the sink's deadline at most.
func (q *Queue) Close() error {
	q.once.Do(func() { close(q.closing) })
	q.done.Wait()
	return nil
}

// send hands events to the sink until the queue is closed.
func (q *Queue) send() {
	for {
		select {
		case first := <-q.events:
			q.deliver(q.batch(first))
		case <-q.closing:
			if rest := q.batch(); len(rest) > 0 {
				q.deliver(rest)
			}
			q.dropped.Add(int64(len(q.events)))
			return
		}
	}
}

// batch returns the given events with those that are queued.
func (q *Queue) batch(events ...ToolRun) []ToolRun {
	for len(events) < maxBatch {
		select {
		case e := <-q.events:
			events = append(events, e)
		default:
			return events
		}
	}
	return events
}

func (q *Queue) deliver(events []ToolRun) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	defer func() {
		if r := recover(); r != nil { // The host's code does not end the worker.
			q.lost(ctx, len(events), slog.Any("panic", r))
		}
	}()
	if err := q.sink(ctx, events); err != nil {
		q.lost(ctx, len(events), slog.Any("error", err))
	}
}

func (q *Queue) lost(ctx context.Context, n int, why slog.Attr) {
	q.dropped.Add(int64(n))
	q.log.LogAttrs(ctx, slog.LevelWarn, "analytics events were lost", slog.Int("events", n), why)
}

// Middleware adds an event for each attempt that ends.
func (q *Queue) Middleware(now func() time.Time) tool.Middleware {
	return func(next tool.Executor) tool.Executor {
		return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
			began := now()
			result, err := next.Execute(ctx, call)
			e := ToolRun{
				At: now(), Tenant: call.Principal.Tenant, Subject: call.Principal.Subject, RunID: call.RunID,
				AgentID: call.AgentID, InvocationID: call.InvocationID, Attempt: call.Attempt,
			}
			e.Duration = e.At.Sub(began)
			if v := call.Version; v != nil {
				e.Tool, e.Version, e.Implementation = v.Slug, v.Number, v.Snapshot.ImplementationType()
			}
			switch {
			case err != nil:
				e.ErrorKind = tool.KindOf(err)
			case result != nil:
				e.IsError = result.IsError
			}
			q.Add(e)
			return result, err
		})
	}
}
