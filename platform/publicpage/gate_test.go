package publicpage_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/publicpage"
)

// A page has a burst of requests and then one a second; pages do not take one another's.
func TestGateOfAPage(t *testing.T) {
	t.Parallel()

	g, now := publicpage.NewGate(), time.Now()
	for range 30 {
		require.True(t, g.Opens("one", now))
	}
	require.False(t, g.Opens("one", now))
	require.True(t, g.Opens("two", now))
	require.True(t, g.Opens("one", now.Add(time.Second)))
	require.False(t, g.Opens("one", now.Add(time.Second)))
}

// Lookups have places; who waits gets the next one, or gives up.
func TestGateOfLookups(t *testing.T) {
	t.Parallel()

	g := publicpage.NewGate()
	var leaves []func()
	for range 4 {
		leave, ok := g.Enter(t.Context())
		require.True(t, ok)
		leaves = append(leaves, leave)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, ok := g.Enter(gone)
	require.False(t, ok)
	leaves[0]()
	_, ok = g.Enter(t.Context())
	require.True(t, ok)
}
