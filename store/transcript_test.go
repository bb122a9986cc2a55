package store_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// A store that has seen a run grow, and what it remembers of it, says the same
// of each turn as one that never saw the run, through forks and retries too.
func TestTranscriptsThatAreKeptAreRight(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, seed))

	same := func(head, key string) agent.OpenTurn {
		t.Helper()
		got, err := f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, head, key)
		require.NoError(t, err)
		fresh, err := store.Open(t.Context(), d.URL, store.Options{SetRole: store.AppRole, MaxConns: 1, NotifyInterval: -1})
		require.NoError(t, err)
		defer fresh.Close()
		want, err := fresh.OpenTurn(t.Context(), f.Tenant, f.Run.ID, head, key)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, head, lastAssistant(got.Transcript))
		require.Contains(t, got.Policies, f.Tool.ID)
		return got
	}

	heads := []string{f.Turn.Message.ID}
	f.Answer(t, f.Turn)
	keys := []string{""}
	var kept []agent.Message // A reader's copy, which nobody may write to.
	for range 60 {
		// Mostly on from the last turn; now and then from an earlier one, as
		// after a reset, or once more from the same.
		at := len(heads) - 1
		if random.IntN(4) == 0 {
			at = random.IntN(len(heads))
		}
		before := same(heads[at], uuid.NewString()).Transcript
		key := uuid.NewString()
		turn := f.NewTurnFrom(t, f.Run, heads[at], key, len(heads)+1)
		if random.IntN(3) == 0 {
			stored := same(heads[at], key)
			require.NotNil(t, stored.Stored)
			require.Equal(t, turn.Message.ID, stored.Stored.Message.ID)
		}
		f.Answer(t, turn)
		heads, keys = append(heads, turn.Message.ID), append(keys, key)
		if kept == nil {
			kept = before
		}
	}
	require.Len(t, kept, 3, "the user's message, the first turn and its answer")

	_, err := f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, storetest.NewID(t), "x")
	storetest.RequireKind(t, tool.NotFound, err)
	_, err = f.Store.OpenTurn(t.Context(), d.Tenant(t), f.Run.ID, heads[len(heads)-1], "x")
	storetest.RequireKind(t, tool.NotFound, err)
}

func lastAssistant(messages []agent.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == agent.RoleAssistant {
			return m.ID
		}
	}
	return ""
}

// A turn in the middle of a long run is one round trip, as the first is.
func TestLongRunsTakeOneRoundTripATurn(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	var w wire
	s, err := store.Open(t.Context(), w.through(
		t, d.URL,
	), store.Options{SetRole: store.AppRole, MaxConns: 1, NotifyInterval: -1})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	turn := f.Turn
	for i := range 5 {
		f.Answer(t, turn)
		open := func() {
			_, err := s.OpenTurn(t.Context(), f.Tenant, f.Run.ID, turn.Message.ID, uuid.NewString())
			require.NoError(t, err)
		}
		trips := w.count(open)
		if i > 1 { // The first ones prepare their statements.
			require.Equal(t, 1, trips)
		}
		turn = f.NewTurnFrom(t, f.Run, turn.Message.ID, uuid.NewString(), i+2)
	}
}
