package store_test

import (
	"flag"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/profile"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

var rateTime = flag.Duration("rate-time", 5*time.Second, "how long eight workers call up to the rate of a profile")

// Eight workers, each with connections of its own, that try as often as they may let through what the
// rate of a profile says: never more, and no more than 2 % less.
func TestRateOfEightWorkers(t *testing.T) {
	t.Parallel()

	const calls, burst, workers = 40, 40, 8
	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	p, err := f.Store.CreateProfile(t.Context(), profile.Profile{Tenant: f.Tenant, Profile: tool.Profile{
		Name: "even", Rate: &tool.Rate{Calls: calls, Per: tool.PerSecond, Burst: burst},
	}})
	require.NoError(t, err)
	_, err = f.Store.SetAssignment(t.Context(), profile.Assignment{
		Tenant: f.Tenant, ToolID: f.Tool.ID, ProfileID: p.ID,
	})
	require.NoError(t, err)
	base := f.Lone(t)
	other, version := f.Publish(t, "other", tool.Policy{})

	stores := make([]*store.Store, workers)
	for i := range stores {
		stores[i], err = store.Open(t.Context(), d.URL, store.Options{SetRole: store.AppRole, MaxConns: 2})
		require.NoError(t, err)
		t.Cleanup(stores[i].Close)
		e := base // Of a tool without a profile: the statement is planned once per connection.
		e.InvocationID, e.EffectID, e.ToolID, e.Digest = storetest.NewID(t), uuid.NewString(), other.ID, version.Digest
		_, err = stores[i].Admit(t.Context(), ledger.AdmitRequest{Entry: e, Repeatable: true, Send: true})
		require.NoError(t, err)
	}
	var admitted, refused atomic.Int64
	began := time.Now()
	until := began.Add(*rateTime)
	var all sync.WaitGroup
	for _, s := range stores {
		all.Go(func() {
			for time.Now().Before(until) {
				e := base
				e.InvocationID, e.EffectID = storetest.NewID(t), uuid.NewString()
				_, err := s.Admit(t.Context(), ledger.AdmitRequest{Entry: e, Repeatable: true, Send: true})
				switch {
				case err == nil:
					admitted.Add(1)
				case tool.KindOf(err) == tool.RateLimited:
					refused.Add(1)
					next := time.NewTimer(min(tool.AsError(err).RetryAfter, time.Until(until)))
					<-next.C
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	most := burst + calls*time.Since(began).Seconds()
	least := 0.98 * (burst + calls*until.Sub(began).Seconds())
	t.Logf("%d calls were admitted and %d refused; the rate allows %.0f to %.0f", admitted.Load(), refused.Load(),
		least, most)
	require.LessOrEqual(t, float64(admitted.Load()), most)
	require.GreaterOrEqual(t, float64(admitted.Load()), least)
}
