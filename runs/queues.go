package runs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Defaults of [Config].
const (
	// DefaultMaxQueued leaves room for the queues of several tenants at their bound.
	DefaultMaxQueued = 20_000
	// DefaultMaxTenantQueued is below [DefaultMaxUnfinished]: of the runs that a tenant may have
	// unfinished, some wait for people.
	DefaultMaxTenantQueued = 5_000
	// DefaultMaxQueueAge is longer than workers are away when they are replaced.
	DefaultMaxQueueAge = 5 * time.Minute
)

const (
	// QueueInterval is how often queues are looked at.
	QueueInterval = 5 * time.Second
	// queueTrust is how long what was seen of them is good for; without a newer look, nothing is
	// refused because of it.
	queueTrust = 6 * QueueInterval
	// queueTenants is how many tenants with deep queues are known.
	queueTenants = 100
	// agedFrom is how many runs of a tenant must wait before their age matters: a few that wait for
	// a worker hold up nothing.
	agedFrom = 100
	// queueRetry is the least Retry-After of a queue that is full, and a random part of as much is
	// added.
	queueRetry = 5 * time.Second
)

// Reasons for which a request is refused before anything is recorded.
const (
	RefusedRunLimit     = "run_limit"     // The tenant has as many unfinished runs as it may.
	RefusedTenantQueue  = "tenant_queue"  // Too many of its runs have not begun.
	RefusedTenantAge    = "tenant_age"    // They wait too long.
	RefusedClusterQueue = "cluster_queue" // Too many runs of all tenants have not begun.
	RefusedTemporal     = "temporal"      // Temporal is away.
)

// queues is what this process knows of the queues of tenants. The zero value is ready to use.
type queues struct {
	mu      sync.Mutex
	depths  agent.QueueDepths
	at      time.Time             // When they were looked at; zero for never.
	added   map[tool.TenantID]int // Runs that this process has accepted since.
	total   int                   // Of them all.
	refused map[string]int64      // By reason.
}

// Queues returns what was seen of the queues last, and when.
func (s *Service) Queues() (agent.QueueDepths, time.Time) {
	s.queues.mu.Lock()
	defer s.queues.mu.Unlock()
	return s.queues.depths, s.queues.at
}

// Refusals counts the requests that this process has refused, by reason.
func (s *Service) Refusals() map[string]int64 {
	s.queues.mu.Lock()
	defer s.queues.mu.Unlock()
	all := map[string]int64{}
	for _, reason := range []string{
		RefusedRunLimit, RefusedTenantQueue, RefusedTenantAge, RefusedClusterQueue, RefusedTemporal,
	} {
		all[reason] = s.queues.refused[reason]
	}
	return all
}

// LookAtQueues counts what waits, for admission and metrics. [Service.DispatchUntil] does so every
// [QueueInterval].
func (s *Service) LookAtQueues(ctx context.Context) error {
	depths, err := s.cfg.Store.QueueDepths(ctx, queueTenants)
	if err != nil {
		return fmt.Errorf("counting what waits: %w", err)
	}
	s.queues.mu.Lock()
	defer s.queues.mu.Unlock()
	s.queues.depths, s.queues.at = depths, time.Now()
	s.queues.added, s.queues.total = map[tool.TenantID]int{}, 0
	return nil
}

// queueDue reports whether the queues are to be looked at again.
func (s *Service) queueDue() bool {
	s.queues.mu.Lock()
	defer s.queues.mu.Unlock()
	return time.Since(s.queues.at) >= QueueInterval
}

// admitQueue refuses a run whose tenant's queue, or that of all tenants, is full by what was seen
// last: with tool.RateLimited or tool.Unavailable, and when to retry.
func (s *Service) admitQueue(tenant tool.TenantID) error {
	s.queues.mu.Lock()
	defer s.queues.mu.Unlock()
	if time.Since(s.queues.at) > queueTrust {
		return nil
	}
	var own agent.QueueDepth
	for _, t := range s.queues.depths.Tenants {
		if t.Tenant == tenant {
			own = t.QueueDepth
		}
	}
	refuse := func(reason string, kind tool.Kind, format string, args ...any) error {
		s.queues.refuse(reason)
		return &tool.Error{
			Kind: kind, Op: "runs.accept", Msg: fmt.Sprintf(format, args...),
			RetryAfter: queueRetry + rand.N(queueRetry), //nolint:gosec // It spreads retries; it is no secret.
		}
	}
	age := time.Duration(own.OldestS * float64(time.Second))
	switch queued, all := own.Pending+s.queues.added[tenant], s.queues.depths.Pending+s.queues.total; {
	case s.cfg.MaxTenantQueued > 0 && queued >= s.cfg.MaxTenantQueued:
		return refuse(RefusedTenantQueue, tool.RateLimited,
			"%d runs of the tenant have not begun, and the limit is %d: retry later, or cancel some", queued,
			s.cfg.MaxTenantQueued)
	case s.cfg.MaxQueueAge > 0 && own.Pending >= agedFrom && age >= s.cfg.MaxQueueAge:
		return refuse(RefusedTenantAge, tool.RateLimited,
			"%d runs of the tenant have not begun, the oldest for %s, and the limit is %s: retry later, or cancel some",
			own.Pending, age.Round(time.Second), s.cfg.MaxQueueAge)
	case s.cfg.MaxQueued > 0 && all >= s.cfg.MaxQueued:
		return refuse(RefusedClusterQueue, tool.Unavailable, "too many runs have not begun: retry later")
	}
	return nil
}

// recorded counts a run that was recorded, or one that its tenant may not have now.
func (q *queues) recorded(tenant tool.TenantID, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case err == nil && q.added != nil:
		q.added[tenant]++
		q.total++
	case err != nil && tool.KindOf(err) == tool.RateLimited:
		q.refuse(RefusedRunLimit)
	}
}

// away counts a request that was refused because Temporal is away.
func (q *queues) away() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.refuse(RefusedTemporal)
}

// refuse counts a refusal. The caller has locked.
func (q *queues) refuse(reason string) {
	if q.refused == nil {
		q.refused = map[string]int64{}
	}
	q.refused[reason]++
}
