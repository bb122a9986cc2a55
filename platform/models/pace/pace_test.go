package pace_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/models/pace"
	"github.com/toolcrib/toolcrib/tool"
)

func request(tenant string, tokens int) pace.Request {
	return pace.Request{Tenant: tool.TenantID(tenant), Key: "k", Model: "m", Tokens: tokens, Patience: time.Hour}
}

func enter(t *testing.T, p *pace.Pacer, r pace.Request) *pace.Permit {
	t.Helper()
	permit, err := p.Enter(t.Context(), r)
	require.NoError(t, err)
	return permit
}

// Without limits, nothing waits; and what one key or model is refused, others
// are not.
func TestUnlimited(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := pace.New(pace.Limits{}, nil)
		for range 1000 {
			require.Zero(t, enter(t, p, request("a", 1000)).Waited)
		}
		enter(t, p, request("a", 0)).Limited(time.Hour)
		for _, r := range []pace.Request{{Key: "other", Model: "m"}, {Key: "k", Model: "other"}} {
			require.Zero(t, enter(t, p, r).Waited)
		}
	})
}

// One that was limited closes the lane for all; then they go one after the
// other until one is answered, never at once, and never too early.
func TestLimitedByTheProvider(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := pace.New(pace.Limits{}, nil)
		began := time.Now()
		enter(t, p, request("a", 0)).Limited(10 * time.Second)
		var mu sync.Mutex
		var at []time.Duration
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				permit := enter(t, p, request("a", 0))
				mu.Lock()
				defer mu.Unlock()
				at = append(at, time.Since(began))
				if len(at) == 8 {
					permit.Answered(0)
				}
			})
		}
		all.Wait()
		require.GreaterOrEqual(t, at[0], 10*time.Second)
		require.Less(t, at[0], 11*time.Second+time.Millisecond)
		for i := 1; i < 8; i++ {
			require.GreaterOrEqual(t, at[i]-at[i-1], 50*time.Millisecond, i)
		}
		require.Less(t, at[15]-at[7], time.Millisecond, "answered: the lane is open")
	})
}

// Without a time from the provider, the lane is closed for longer each time.
func TestLimitedWithoutATime(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := pace.New(pace.Limits{}, nil)
		enter(t, p, request("a", 0)).Limited(0)
		for _, seconds := range []int{1, 2, 4, 8, 16, 30, 30} {
			permit := enter(t, p, request("a", 0))
			require.InDelta(t, seconds, permit.Waited.Seconds(), 1.1)
			permit.Limited(0)
		}
	})
}

// A request that would wait for too long fails at once, with how long; one whose
// patience or time ends in the queue leaves it.
func TestPatience(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := pace.New(pace.Limits{}, nil)
		began := time.Now()
		enter(t, p, request("a", 0)).Limited(time.Minute)
		_, err := p.Enter(t.Context(), pace.Request{Tenant: "a", Key: "k", Model: "m"})
		limited, ok := errors.AsType[*pace.LimitedError](err)
		require.True(t, ok)
		require.InDelta(t, 61, limited.Wait.Seconds(), 2)
		require.Zero(t, time.Since(began))
		short, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		_, err = p.Enter(short, request("a", 0))
		require.ErrorAs(t, err, &limited, "its deadline is earlier")
		require.Zero(t, time.Since(began))

		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		_, err = p.Enter(gone, request("a", 0))
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, time.Second, time.Since(began))

		// A limit that is reported while it waits.
		q := pace.New(pace.Limits{}, nil)
		first := enter(t, q, request("a", 0))
		first.Limited(time.Second)
		time.AfterFunc(500*time.Millisecond, func() { first.Limited(time.Hour) })
		r := request("a", 0)
		r.Patience = 5 * time.Second
		_, err = q.Enter(t.Context(), r)
		require.ErrorAs(t, err, &limited)
		require.Greater(t, limited.Wait, 50*time.Minute)
	})
}

// Configured limits hold over any time, and tenants take turns.
func TestConfiguredRequests(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := pace.New(pace.Limits{RequestsPerMinute: 60}, nil)
		began := time.Now()
		var mu sync.Mutex
		var order []tool.TenantID
		var all sync.WaitGroup
		send := func(tenant string, n int) {
			for range n {
				all.Go(func() {
					enter(t, p, request(tenant, 0))
					mu.Lock()
					defer mu.Unlock()
					order = append(order, tool.TenantID(tenant))
				})
			}
			synctest.Wait()
		}
		send("greedy", 60)
		send("a", 3)
		send("b", 3)
		require.Len(t, order, 10, "a sixth of a minute's at once")
		all.Wait()
		require.InDelta(t, 56, time.Since(began).Seconds(), 1)
		last := 0
		for i, tenant := range order {
			if tenant != "greedy" {
				last = i
			}
		}
		require.LessOrEqual(t, last, 20, "%v", order)
	})
}

// Tokens are counted by estimates, and then as they were used.
func TestConfiguredTokens(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := pace.New(pace.Limits{TokensPerMinute: 6000}, nil)
		permit := enter(t, p, request("a", 1000))
		permit.Answered(6000)
		next := enter(t, p, request("a", 500))
		require.InDelta(t, 5, next.Waited.Seconds(), 0.1)
		next.Answered(1)
		require.Zero(t, enter(t, p, request("a", 400)).Waited, "what was not used is given back")
		huge := enter(t, p, request("a", 1<<30))
		require.InDelta(t, 60, huge.Waited.Seconds(), 2, "more than a minute's waits for a minute's")
	})
}

// Lanes that nobody uses are forgotten, not those that are closed.
func TestManyLanes(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		p := pace.New(pace.Limits{}, nil)
		enter(t, p, request("a", 0)).Limited(time.Hour)
		for i := range 3000 {
			r := request("a", 0)
			r.Model = fmt.Sprint("m", i)
			enter(t, p, r)
			time.Sleep(200 * time.Millisecond)
		}
		r := request("a", 0)
		r.Patience = time.Minute
		_, err := p.Enter(t.Context(), r)
		require.Error(t, err)
		require.Less(t, p.Lanes(), 1025)
	})
}

// Processes that share a limit have equal parts of it, as many as there are at the time.
func TestPeersShareTheLimits(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		const workers = 3
		peers := new(pace.Peers)
		peers.Set(workers)
		limits := pace.Limits{RequestsPerMinute: 180, TokensPerMinute: 180_000}
		var sent sync.Map
		var all sync.WaitGroup
		began := time.Now()
		for range workers {
			p := pace.New(limits, peers)
			all.Go(func() {
				for i := 0; time.Since(began) < 10*time.Minute; i++ {
					permit := enter(t, p, request("a", 100))
					permit.Answered(100)
					sent.Store(permit, true)
				}
			})
		}
		all.Wait()
		n := 0
		sent.Range(func(any, any) bool { n++; return true })
		require.InDelta(t, 10*180, n, 40, "what may come at once beside")

		alone := pace.New(pace.Limits{TokensPerMinute: 6000}, peers)
		enter(t, alone, request("a", 2000))
		began = time.Now()
		peers.Set(1)
		enter(t, alone, request("a", 3000))
		require.InDelta(t, 30*time.Second, time.Since(began), float64(time.Second), "it has the whole rate now")
		peers.Set(0)
		peers.Set(1000)
		require.NotPanics(t, func() { enter(t, alone, request("a", 9000)) }, "a part is never none")
	})
}
