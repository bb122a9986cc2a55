package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
)

// What a key has sent is not forgotten before its bucket would be full again, nor while a request of it
// goes on; a key that has paid is.
func TestSharesKeepWhatWasSpent(t *testing.T) {
	t.Parallel()
	s := newShares(store.Limits{})
	now := time.Now()
	s.now = func() time.Time { return now }
	known := func(id byte) *share {
		sh, draw, refused, err := s.begin(t.Context(), shareID{id})
		require.NoError(t, err)
		require.Nil(t, refused)
		require.Nil(t, s.end(shareID{id}, sh, draw, store.Allowance{
			Limits: store.Limits{BytesPerMinute: 1000}, Bytes: 1000,
		}, nil))
		return sh
	}
	debtor, busy := known(1), known(2)
	known(3)
	s.open(debtor)
	s.spend(debtor, 10_000) // Ten minutes' worth.
	s.open(busy)
	kept := func() (ids []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.swept = time.Time{}
		s.sweep(now)
		for id := byte(1); id <= 3; id++ {
			if s.of[shareID{id}] != nil {
				ids = append(ids, id)
			}
		}
		return ids
	}
	now = now.Add(2 * time.Minute)
	require.Equal(t, []byte{1, 2}, kept())
	s.spend(busy, 0)
	now = now.Add(10 * time.Minute)
	require.Empty(t, kept())
}
