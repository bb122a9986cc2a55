package api

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
)

// hubSite is a hub on a listener that the test is, and a counted source.
type hubSite struct {
	*hub
	listening atomic.Int64 // Now.
	listened  atomic.Int64 // Ever.
	reads     atomic.Int64
	woken     func(store.Wake)
}

// newHubSite returns a hub that has stopped listening when the test's bubble ends.
func newHubSite(t *testing.T) *hubSite {
	t.Helper()
	h := &hubSite{}
	t.Cleanup(func() {
		time.Sleep(linger)
		synctest.Wait()
		require.Zero(t, h.listening.Load())
	})
	h.hub = newHub(func(ctx context.Context, woken func(store.Wake)) error {
		h.woken = woken
		h.listening.Add(1)
		h.listened.Add(1)
		defer h.listening.Add(-1)
		<-ctx.Done()
		return ctx.Err()
	}, slog.New(slog.DiscardHandler))
	return h
}

func (h *hubSite) source(_ context.Context, after string) (passage, error) {
	n := h.reads.Add(1)
	time.Sleep(10 * time.Millisecond) // So long does the database take.
	return passage{frames: []frame{{id: after + "+" + strconv.FormatInt(n, 10)}}}, nil
}

var topic = store.Wake{Tenant: "tenant", RunID: "run"}

// Two hundred followers cost one listener, and one read for each wake-up.
func TestFollowersShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHubSite(t)
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				f := h.join(t.Context(), topic)
				defer f.leave()
				for range 3 {
					<-f.news()
					_, err := f.read(t.Context(), "7", h.source)
					require.NoError(t, err)
				}
			})
		}
		synctest.Wait()
		require.EqualValues(t, 1, h.listening.Load())
		for range 3 {
			h.hub.woken(store.Wake{Tenant: "tenant", RunID: "other"})
			h.hub.woken(topic)
			time.Sleep(50 * time.Millisecond)
		}
		wg.Wait()
		require.EqualValues(t, 3, h.reads.Load())
		require.EqualValues(t, 1, h.listened.Load())
		require.Empty(t, h.feeds)
		time.Sleep(linger / 2)
		h.join(t.Context(), topic).leave()
		time.Sleep(linger - time.Second)
		require.EqualValues(t, 1, h.listening.Load(), "the next follower finds a listener")
		time.Sleep(2 * time.Second)
		require.Zero(t, h.listening.Load(), "nobody follows, nobody listens")
		require.EqualValues(t, 1, h.listened.Load())
	})
}

// A read that began before a wake-up is not the answer to it.
func TestNewsWantsANewRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHubSite(t)
		f := h.join(t.Context(), topic)
		defer f.leave()
		var wg sync.WaitGroup
		answers := make([]string, 3)
		ask := func(i int) {
			wg.Go(func() {
				p, err := f.read(t.Context(), "7", h.source)
				require.NoError(t, err)
				answers[i] = p.frames[0].id
			})
			synctest.Wait()
		}
		ask(0)
		ask(1)
		h.hub.woken(topic)
		ask(2)
		wg.Wait()
		require.Equal(t, []string{"7+1", "7+1", "7+2"}, answers)
	})
}

// The follower that began a shared read may leave without the others losing it.
func TestLeaderLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHubSite(t)
		f := h.join(t.Context(), topic)
		defer f.leave()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := f.read(ctx, "7", h.source)
			require.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		wg.Go(func() {
			_, err := f.read(t.Context(), "7", h.source)
			require.NoError(t, err)
		})
		synctest.Wait()
		cancel()
		wg.Wait()
		require.EqualValues(t, 1, h.reads.Load())
	})
}

// Without a connection that listens, the poll wakes followers of runs and of
// tenants, and the connection is made again.
func TestPollRemains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHubSite(t)
		h.listen = func(context.Context, func(store.Wake)) error {
			h.listened.Add(1)
			return errors.New("down")
		}
		run, tenant := h.join(t.Context(), topic), h.join(t.Context(), store.Wake{Tenant: "tenant"})
		began := time.Now()
		for range 2 {
			ofRun, ofTenant := run.news(), tenant.news()
			<-ofRun
			<-ofTenant
		}
		require.Equal(t, 2*pollInterval, time.Since(began))
		synctest.Wait()
		require.GreaterOrEqual(t, h.listened.Load(), int64(2))
		run.leave()
		tenant.leave()
		synctest.Wait()
	})
}

// A wake-up of a run wakes the followers of its tenant, and no others.
func TestWakeUpsReachTheirFollowers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHubSite(t)
		ready := func(f *feed) func() bool {
			news := f.news()
			return func() bool {
				select {
				case <-news:
					return true
				default:
					return false
				}
			}
		}
		var woken []func() bool
		for _, w := range []store.Wake{topic, {Tenant: "tenant"}, {Tenant: "tenant", RunID: "other"}, {Tenant: "stranger"}} {
			f := h.join(t.Context(), w)
			defer f.leave()
			woken = append(woken, ready(f))
		}
		h.hub.woken(topic)
		got := make([]bool, len(woken))
		for i, is := range woken {
			got[i] = is()
		}
		require.Equal(t, []bool{true, true, false, false}, got)
	})
}
