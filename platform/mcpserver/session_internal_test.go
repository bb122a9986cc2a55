package mcpserver

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func opened(owner string, n int) *session {
	return &session{id: owner + strconv.Itoa(n), owner: owner, closing: make(chan struct{})}
}

func hasEnded(s *session) bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// A further session ends the one of its owner that is idle for longest; where all are in use, there is none.
func TestSessionsAreLimited(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		table := newSessions(3, time.Hour)
		var mine []*session
		for i := range 3 {
			time.Sleep(time.Second)
			mine = append(mine, opened("a", i))
			require.True(t, table.add(mine[i]))
		}
		others := opened("b", 0)
		require.True(t, table.add(others))
		_, leave, ok := table.enter("a0", "a")
		require.True(t, ok)
		time.Sleep(time.Second)
		leave() // It was used last.

		require.True(t, table.add(opened("a", 3)))
		synctest.Wait()
		require.True(t, hasEnded(mine[1]), "the one that was idle for longest")
		require.False(t, hasEnded(mine[0]))
		require.False(t, hasEnded(others), "that of another key")
		_, _, ok = table.enter("a1", "a")
		require.False(t, ok)

		for _, id := range []string{"a0", "a2", "a3"} {
			_, leave, ok := table.enter(id, "a")
			require.True(t, ok)
			defer leave()
		}
		require.False(t, table.add(opened("a", 4)), "all are in use")
		require.True(t, table.add(opened("b", 1)), "another key has its own")
	})
}

// A session without requests ends after its time, and not while one is served; another owner never enters it.
func TestIdleSessionsEnd(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		table := newSessions(3, time.Minute)
		s := opened("a", 0)
		require.True(t, table.add(s))
		time.Sleep(59 * time.Second)
		_, leave, ok := table.enter("a0", "a")
		require.True(t, ok)
		_, _, ok = table.enter("a0", "b")
		require.False(t, ok)
		time.Sleep(time.Hour)
		require.False(t, hasEnded(s), "it is in use")
		leave()
		time.Sleep(59 * time.Second)
		synctest.Wait()
		require.False(t, hasEnded(s))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.True(t, hasEnded(s))
		_, _, ok = table.enter("a0", "a")
		require.False(t, ok)
		leave() // A request that ends after its session changes nothing.
		require.Empty(t, table.of)
	})
}

// Sessions come, go and end at once without losing count.
func TestSessionsRace(t *testing.T) {
	t.Parallel()

	table := newSessions(4, time.Hour)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 200 {
				s := opened("a", g*1000+i)
				if !table.add(s) {
					continue
				}
				if _, leave, ok := table.enter(s.id, "a"); ok {
					leave()
				}
				if i%3 == 0 {
					table.remove(s)
				}
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, len(table.of), 4)
}
