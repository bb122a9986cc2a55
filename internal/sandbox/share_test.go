package sandbox_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

// crowd has a tenant run so many jobs that end when the latch opens, and returns
// when the pool has so many at work and all others waiting. The returned function
// waits for all.
func crowd(t *testing.T, p *sandbox.Pool, tenant tool.TenantID, l latch, jobs, atWork int) (wait func()) {
	t.Helper()
	before := p.Stats()
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			j := job(tenant, "await "+string(l))
			j.Limits.Time = 10 * time.Minute
			_, err := p.Run(t.Context(), j)
			if err != nil {
				t.Errorf("a job of %s: %v", tenant, err)
			}
		})
	}
	require.Eventually(t, func() bool {
		s := p.Stats()
		return s.Live-s.Idle == before.Live-before.Idle+atWork && s.Waiting == before.Waiting+jobs-atWork
	}, time.Minute, time.Millisecond)
	return wg.Wait
}

func patient(c *sandbox.Config) { c.Max.Time = 10 * time.Minute }

// A tenant never holds every child: another's job finds one at once, however
// many of the first run and wait, and whether its own are idle or not.
func TestNoTenantHoldsEveryChild(t *testing.T) {
	t.Parallel()
	for size, atMost := range map[int]int{2: 1, 3: 2, 4: 3, 8: 6} {
		p := newPool(t, patient, func(c *sandbox.Config) { c.Children = size })
		l := newLatch(t)
		wait := crowd(t, p, "noisy", l, 16, atMost)
		for range 3 {
			_, err := p.Run(t.Context(), job("quiet", "echo"))
			require.NoError(t, err)
		}
		_, err := p.Run(t.Context(), job("another", "echo"))
		require.NoError(t, err)
		require.Equal(t, 16-atMost, p.Stats().Waiting, "the places of others stay free")
		l.open(t)
		wait()
		require.NoError(t, p.Close())
	}
}

// Of those that wait, the tenant with the least processor time is served first,
// whoever came first.
func TestLeastProcessorTimeIsServedFirst(t *testing.T) {
	t.Parallel()
	p := newPool(t, patient, func(c *sandbox.Config) { c.Children = 1 })
	_, err := p.Run(t.Context(), job("heavy", "burn"))
	require.NoError(t, err)
	l := newLatch(t)
	wait := crowd(t, p, "holder", l, 1, 1)

	var wg sync.WaitGroup
	var mu sync.Mutex
	var order []tool.TenantID
	for i, tenant := range []tool.TenantID{"heavy", "heavy", "light"} {
		wg.Go(func() {
			j := job(tenant, "echo")
			j.Print = func(string) {
				mu.Lock()
				defer mu.Unlock()
				if len(order) == 0 || order[len(order)-1] != tenant {
					order = append(order, tenant)
				}
			}
			_, err := p.Run(t.Context(), j)
			if err != nil {
				t.Error(err)
			}
		})
		require.Eventually(t, func() bool { return p.Stats().Waiting == i+1 }, time.Minute, time.Millisecond)
	}
	l.open(t)
	wg.Wait()
	wait()
	require.Equal(t, []tool.TenantID{"light", "heavy"}, order)
}

// A tenant's queue is bounded; another's is not full because of it.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	p := newPool(t, patient, func(c *sandbox.Config) { c.Children, c.MaxWaiting = 1, 3 })
	l := newLatch(t)
	wait := crowd(t, p, "noisy", l, 4, 1)
	_, err := p.Run(t.Context(), job("noisy", "echo"))
	require.Equal(t, tool.RateLimited, tool.KindOf(err), "%v", err)
	require.Positive(t, tool.AsError(err).RetryAfter)
	waitQuiet := crowd(t, p, "quiet", l, 2, 0)
	l.open(t)
	wait()
	waitQuiet()
}

// Compilation takes no child from calls, and is shared by tenants in the same
// way.
func TestCompilationHasItsOwnChildren(t *testing.T) {
	t.Parallel()
	p := newPool(t, patient, func(c *sandbox.Config) { c.Children, c.CompileTime = 1, 10*time.Minute })
	l := newLatch(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			j := job("noisy", "await "+string(l))
			j.Check = true
			if _, err := p.Run(t.Context(), j); err != nil {
				t.Error(err)
			}
		})
	}
	require.Eventually(t, func() bool { return p.Stats().Waiting == 7 }, time.Minute, time.Millisecond)
	for _, check := range []bool{false, true} {
		j := job("quiet", "echo")
		j.Check = check
		_, err := p.Run(t.Context(), j)
		require.NoError(t, err)
	}
	require.Equal(t, 7, p.Stats().Waiting)
	l.open(t)
	wg.Wait()
}

// Compilation ends by a budget of processor time, whatever time the job asks for,
// and by the clock where it uses none.
func TestCompilationHasItsOwnBudget(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"burn for ever", "hang"} {
		p := newPool(t, func(c *sandbox.Config) { c.CompileTime = 100 * time.Millisecond })
		j := job("t", program)
		j.Check = true
		_, err := p.Run(t.Context(), j)
		require.Equal(t, sandbox.OverTime, classOf(err), "%s: %v", program, err)
	}
}

// A tenant that used much processor time runs at a lower priority than others.
func TestHeavyTenantsHaveALowerPriority(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	nice := func(tenant tool.TenantID) int {
		out, err := p.Run(t.Context(), job(tenant, "nice"))
		require.NoError(t, err)
		n, err := strconv.Atoi(string(out.Output))
		require.NoError(t, err)
		return n
	}
	usual := nice("quiet")
	require.Equal(t, usual, nice("heavy"))
	_, err := p.Run(t.Context(), job("heavy", "burn"))
	require.NoError(t, err)
	require.Equal(t, min(19, usual+10), nice("heavy"))
	require.Equal(t, usual, nice("quiet"))
}
