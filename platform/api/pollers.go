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
	// pollersAge is for how long what was found is told again.
	pollersAge = 5 * time.Second
	// pollersTimeout bounds asking: what is told of a run must not wait for it.
	pollersTimeout = time.Second
	// pollerGone is after how long who polled last is taken to be gone. A poll
	// lasts a minute, and Temporal remembers its caller for longer.
	pollerGone = 2 * time.Minute
	// startGrace is how long a run may take to begin before anybody asks why.
	startGrace = 2 * time.Second
)

// pollers tells whether workers listen on the task queue. It is safe for
// concurrent use; callers at the same time share one question.
type pollers struct {
	temporal client.Client
	queue    string

	mu    sync.Mutex
	asked time.Time
	none  bool // That nobody listens is known, not merely unknown.
}

// missing reports whether it is known that nobody listens. Where Temporal does
// not tell, somebody is taken to.
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

// waitsFor says what a run waits for, if it waits for a worker that is not
// there; else it says nothing.
func (p *pollers) waitsFor(ctx context.Context, run agent.Run) string {
	if run.Status.Final() || run.Kind == agent.HostRun || time.Since(run.CreatedAt) < startGrace || !p.missing(ctx) {
		return ""
	}
	return fmt.Sprintf("no worker polls the task queue %q: start one with toolcrib worker --task-queue %s", p.queue,
		p.queue)
}
