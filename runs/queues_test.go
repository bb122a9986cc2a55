package runs_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/tool"
)

// New runs are refused where what waits is too much or too old, with a time to retry that is
// spread; what a queue of another tenant holds is none of the tenant's business.
func TestFullQueuesRefuse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		own, others agent.QueueDepth
		kind        tool.Kind
		reason      string
	}{
		"Few":    {own: agent.QueueDepth{Pending: 4999}},
		"Tenant": {own: agent.QueueDepth{Pending: 5000}, kind: tool.RateLimited, reason: runs.RefusedTenantQueue},
		"Old": {
			own: agent.QueueDepth{Pending: 100, OldestS: 300}, kind: tool.RateLimited, reason: runs.RefusedTenantAge,
		},
		"FewOld":      {own: agent.QueueDepth{Pending: 99, OldestS: 86400}},
		"NotOld":      {own: agent.QueueDepth{Pending: 100, OldestS: 299}},
		"OtherTenant": {others: agent.QueueDepth{Pending: 19_999, OldestS: 86400}},
		"WholeCluster": {
			others: agent.QueueDepth{Pending: 20_000}, kind: tool.Unavailable, reason: runs.RefusedClusterQueue,
		},
		"RunningIsNone": {own: agent.QueueDepth{Running: 100_000}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.publishAgent(t, "desk", agent.Definition{Name: "Desk"})
			b.store.depths.Pending = tt.own.Pending + tt.others.Pending
			b.store.depths.Tenants = []agent.TenantDepth{
				{Tenant: "other", QueueDepth: tt.others}, {Tenant: b.principal.Tenant, QueueDepth: tt.own},
			}
			require.NoError(t, b.LookAtQueues(t.Context()))
			_, err := b.Start(t.Context(), b.ask())
			if tt.kind == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, tt.kind, tool.KindOf(err), err)
			after := tool.AsError(err).RetryAfter
			require.GreaterOrEqual(t, after, 5*time.Second)
			require.Less(t, after, 10*time.Second)
			require.Empty(t, b.store.recorded(), "nothing is recorded")
			for reason, n := range b.Refusals() {
				require.Equal(t, reason == tt.reason, n == 1, "%s: %d", reason, n)
			}
		})
	}
}

// What this process accepts counts at once, not from the next look on; and a tenant at its limit
// of runs is counted among the refusals.
func TestQueueCountsWhatIsAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publishAgent(t, "desk", agent.Definition{Name: "Desk"})
	b.store.depths.Tenants = []agent.TenantDepth{
		{Tenant: b.principal.Tenant, QueueDepth: agent.QueueDepth{Pending: runs.DefaultMaxTenantQueued - 2}},
	}
	require.NoError(t, b.LookAtQueues(t.Context()))
	for range 2 {
		_, err := b.Start(t.Context(), b.ask())
		require.NoError(t, err)
	}
	_, err := b.Start(t.Context(), b.ask())
	require.Equal(t, tool.RateLimited, tool.KindOf(err), err)
	require.EqualValues(t, 1, b.Refusals()[runs.RefusedTenantQueue])

	b.store.depths.Tenants = nil
	require.NoError(t, b.LookAtQueues(t.Context()))
	b.store.reject = &tool.Error{Kind: tool.RateLimited, Msg: "the limit"}
	_, err = b.Start(t.Context(), b.ask())
	require.Equal(t, tool.RateLimited, tool.KindOf(err), err)
	require.EqualValues(t, 1, b.Refusals()[runs.RefusedRunLimit])
}

// A count that fails leaves the last one.
func TestQueuesAreKeptWhereCountingFails(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.store.depths.Pending = 7
	require.NoError(t, b.LookAtQueues(t.Context()))
	b.store.broken = errors.New("away")
	require.ErrorContains(t, b.LookAtQueues(t.Context()), "away")
	seen, at := b.Queues()
	require.Equal(t, 7, seen.Pending)
	require.WithinDuration(t, time.Now(), at, time.Minute)
}
