package serve

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/client"
)

const (
	// peersInterval is the time between two counts of the workers of a task queue.
	peersInterval = 15 * time.Second
	peersTimeout  = 5 * time.Second
	// peerGone is how long after its last poll a worker counts as gone. A poll lasts a minute.
	peerGone = 90 * time.Second
)

// countPeers tells share how many workers poll the task queue, now and whenever that changes,
// until ctx ends. While Temporal does not answer, the last count stands.
func countPeers(ctx context.Context, c client.Client, queue string, log *slog.Logger, share func(workers int)) {
	last := 0
	tick := time.NewTicker(peersInterval)
	defer tick.Stop()
	for {
		if n, err := Peers(ctx, c, queue); err == nil && n != last {
			log.DebugContext(ctx, "workers share the rate limits of models", slog.Int("workers", n))
			last = n
			share(n)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Peers returns how many workers poll a task queue, at least one. It fails while Temporal does not
// answer.
func Peers(ctx context.Context, c client.Client, queue string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, peersTimeout)
	defer cancel()
	described, err := c.DescribeTaskQueue(ctx, queue, enums.TASK_QUEUE_TYPE_ACTIVITY)
	if err != nil {
		return 0, fmt.Errorf("counting the workers of task queue %q: %w", queue, err)
	}
	return peers(described.GetPollers(), time.Now()), nil
}

// peers counts the workers among the pollers, at least one.
func peers(pollers []*taskqueuepb.PollerInfo, now time.Time) int {
	found := map[string]bool{}
	for _, p := range pollers {
		if now.Sub(p.GetLastAccessTime().AsTime()) < peerGone {
			found[p.GetIdentity()] = true
		}
	}
	return max(len(found), 1)
}
