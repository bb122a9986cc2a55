package api

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/agent"
)

const (
	// pollersAge is how long the result of a query is cached.
	pollersAge = 5 * time.Second
	// pollersTimeout bounds a query of Temporal: the answer about a run must
	// not wait for it.
	pollersTimeout = time.Second
	// pollerGone is how long after its last poll a poller counts as stopped. A
	// poll lasts a minute, and Temporal lists pollers for longer.
	pollerGone = 2 * time.Minute
	// startGrace is how long a run may take to start before its wait is
	// reported.
	startGrace = 2 * time.Second
)

// pollers reports whether workers poll the task queue. It is safe for
// concurrent use; concurrent callers share one query.
type pollers struct {
	temporal client.Client
	queue    string

	mu    sync.Mutex
	asked time.Time
	none  bool // There is certainly no poller.
}

// missing reports whether it is known that no worker polls the task queue. If
// Temporal does not answer, a poller is assumed.
func (p *pollers) missing(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked) < pollersAge {
		return p.none
	}
	ctx, cancel := context.WithTimeout(ctx, pollersTimeout)
	defer cancel()
	described, err := p.temporal.DescribeTaskQueue(ctx, p.queue, enums.TASK_QUEUE_TYPE_WORKFLOW)
	p.asked, p.none = time.Now(), err == nil
	for _, poller := range described.GetPollers() {
		if time.Since(poller.GetLastAccessTime().AsTime()) < pollerGone {
			p.none = false
		}
	}
	return p.none
}

// waitsFor returns a warning if a run waits for a worker and none polls its task
// queue, and else an empty string.
func (p *pollers) waitsFor(ctx context.Context, run agent.Run) string {
	if run.Status.Final() || run.Kind == agent.RunKindHost || time.Since(run.CreatedAt) < startGrace || !p.missing(ctx) {
		return ""
	}
	return fmt.Sprintf("no worker polls the task queue %q: start one with toolcrib worker --task-queue %s", p.queue,
		p.queue)
}
