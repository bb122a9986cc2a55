package api_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// However many follow, the process listens once; and when all have left, not at all.
func TestManyFollowersListenOnce(t *testing.T) {
	t.Parallel()
	const followers = 200
	b := setup(t)
	run := b.record(t)
	conn := b.Conn(t)
	listening := func() (n int) {
		require.NoError(t, conn.QueryRow(t.Context(), `select count(*) from pg_stat_activity
			where datname = current_database() and query like 'listen %'`).Scan(&n))
		return n
	}
	streams := make([]*stream, followers)
	for i := range streams {
		streams[i] = b.stream(t, events(run), nil)
		streams[i].event()
	}
	require.Eventually(t, func() bool { return listening() == 1 }, 30*time.Second, 20*time.Millisecond)
	for range 5 {
		b.say(t, run, 1, 1, "to all")
	}
	b.finish(t, run)
	var wg sync.WaitGroup
	for _, s := range streams {
		wg.Go(func() {
			require.Equal(t, []string{"2", "3", "4", "5", "6", "7", ""}, ids(s.rest()))
		})
	}
	require.LessOrEqual(t, listening(), 1)
	wg.Wait()
	require.Eventually(t, func() bool { return listening() == 0 }, 30*time.Second, 20*time.Millisecond)
}
