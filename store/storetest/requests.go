package storetest

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// Digests of two requests that are not the same.
var (
	digestA = strings.Repeat("a", 64)
	digestB = strings.Repeat("b", 64)
)

func testRequests(t *testing.T, d *Database) {
	t.Helper()
	answer := store.Answer{Status: 201, Header: map[string][]string{"Location": {"/x"}}, Body: []byte("{\x00}\n")}
	key := func(t *testing.T, text string) store.RequestKey {
		t.Helper()
		return store.RequestKey{Tenant: d.Tenant(t), Subject: "key:a", Text: text}
	}
	begin := func(t *testing.T, k store.RequestKey, digest string, lease, keep time.Duration) store.Request {
		t.Helper()
		r, err := d.Store.BeginRequest(t.Context(), k, digest, lease, keep)
		require.NoError(t, err)
		return r
	}

	t.Run("OnceAnswered", func(t *testing.T) {
		t.Parallel()
		k := key(t, "k")
		first := begin(t, k, digestA, time.Minute, time.Hour)
		require.True(t, first.Taken)
		waiting := begin(t, k, digestB, time.Minute, time.Hour)
		require.False(t, waiting.Taken)
		require.Nil(t, waiting.Answer)
		require.Equal(t, digestA, waiting.Digest)
		require.NoError(t, d.Store.FinishRequest(t.Context(), k, first.Fence, answer))
		again := begin(t, k, digestA, time.Minute, time.Hour)
		require.False(t, again.Taken)
		require.Equal(t, first.ID, again.ID)
		require.Equal(t, &answer, again.Answer)
		RequireKind(t, tool.Conflict, d.Store.FinishRequest(t.Context(), k, first.Fence, answer))
		RequireKind(t, tool.Conflict, d.Store.ReleaseRequest(t.Context(), k, first.Fence, false))
	})

	t.Run("AnotherSubjectOrKeyIsAnotherRequest", func(t *testing.T) {
		t.Parallel()
		k := key(t, "k")
		begin(t, k, digestA, time.Minute, time.Hour)
		other := k
		other.Subject = "key:b"
		require.True(t, begin(t, other, digestA, time.Minute, time.Hour).Taken)
		other = k
		other.Text = "l"
		require.True(t, begin(t, other, digestA, time.Minute, time.Hour).Taken)
	})

	t.Run("AServerThatDied", func(t *testing.T) {
		t.Parallel()
		k := key(t, "k")
		dead := begin(t, k, digestA, 0, time.Hour) // Its lease has run out at once.
		require.False(t, begin(t, k, digestB, time.Minute, time.Hour).Taken, "another request does not inherit the key")
		heir := begin(t, k, digestA, time.Minute, time.Hour)
		require.True(t, heir.Taken)
		require.Equal(t, dead.ID, heir.ID, "it is the same request")
		RequireKind(t, tool.Conflict, d.Store.FinishRequest(t.Context(), k, dead.Fence, answer))
		require.NoError(t, d.Store.FinishRequest(t.Context(), k, heir.Fence, answer))
	})

	t.Run("Released", func(t *testing.T) {
		t.Parallel()
		k := key(t, "k")
		first := begin(t, k, digestA, time.Minute, time.Hour)
		require.NoError(t, d.Store.ReleaseRequest(t.Context(), k, first.Fence, false))
		require.True(t, begin(t, k, digestA, time.Minute, time.Hour).Taken)
	})

	t.Run("ReleasedAnew", func(t *testing.T) {
		t.Parallel()
		k := key(t, "k")
		first := begin(t, k, digestA, time.Minute, time.Hour)
		require.NoError(t, d.Store.ReleaseRequest(t.Context(), k, first.Fence, true))
		second := begin(t, k, digestA, time.Minute, time.Hour)
		require.True(t, second.Taken)
		require.NotEqual(t, first.ID, second.ID, "what was made under the first id is over")
		require.False(t, begin(t, k, digestB, time.Minute, time.Hour).Taken, "the key is still that request's")
	})

	t.Run("Renewed", func(t *testing.T) {
		t.Parallel()
		k := key(t, "k")
		slow := begin(t, k, digestA, 0, time.Hour) // Its lease has run out at once.
		require.NoError(t, d.Store.RenewRequest(t.Context(), k, slow.Fence, time.Minute))
		waiting := begin(t, k, digestA, time.Minute, time.Hour)
		require.False(t, waiting.Taken, "it is still served")
		require.InDelta(t, time.Minute.Seconds(), waiting.Wait.Seconds(), 30)
		require.NoError(t, d.Store.RenewRequest(t.Context(), k, slow.Fence, 0))
		heir := begin(t, k, digestA, time.Minute, time.Hour)
		require.True(t, heir.Taken)
		RequireKind(t, tool.Conflict, d.Store.RenewRequest(t.Context(), k, slow.Fence, time.Minute))
		require.NoError(t, d.Store.FinishRequest(t.Context(), k, heir.Fence, answer))
		RequireKind(t, tool.Conflict, d.Store.RenewRequest(t.Context(), k, heir.Fence, time.Minute))
	})

	t.Run("OneOfMany", func(t *testing.T) {
		t.Parallel()
		k := key(t, "k")
		var taken atomic.Int32
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if r, err := d.Store.BeginRequest(t.Context(), k, digestA, time.Minute, time.Hour); err == nil && r.Taken {
					taken.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, taken.Load())
	})

	t.Run("SweptWhenItsTimeIsOver", func(t *testing.T) {
		t.Parallel()
		old, kept := key(t, "old"), key(t, "kept")
		was := begin(t, old, digestA, time.Minute, 0)
		require.NoError(t, d.Store.FinishRequest(t.Context(), old, was.Fence, answer))
		now := begin(t, old, digestB, time.Minute, 0) // Not even swept yet: the key is free.
		require.True(t, now.Taken)
		require.NotEqual(t, was.ID, now.ID)
		begin(t, kept, digestA, time.Minute, time.Hour)
		gone, err := d.Store.SweepRequests(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, gone)
		require.False(t, begin(t, kept, digestA, time.Minute, time.Hour).Taken)
		RequireKind(t, tool.Conflict, d.Store.ReleaseRequest(t.Context(), old, now.Fence, false))
	})
}
