package store_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// BenchmarkPureCall is what the ledger adds to a pure call: two round trips.
func BenchmarkPureCall(b *testing.B) {
	f := storetest.NewFixture(b, storetest.NewDatabase(b, store.Options{MaxConns: 16}))
	call := func() {
		e := f.Lone(b)
		ticket, err := f.Store.Admit(b.Context(), ledger.AdmitRequest{Entry: e, Repeatable: true, Send: true})
		require.NoError(b, err)
		_, err = f.Store.Settle(b.Context(), ledger.Settlement{
			Entry: e, Fence: ticket.Fence, Status: tool.StatusCompleted, Result: tool.JSONResult(json.RawMessage(`{"ok":true}`)),
		})
		require.NoError(b, err)
	}
	b.Run("OneAtATime", func(b *testing.B) {
		for b.Loop() {
			call()
		}
	})
	b.Run("Parallel", func(b *testing.B) {
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				call()
			}
		})
	})
}

// BenchmarkResolve is a look-up that misses every cache.
func BenchmarkResolve(b *testing.B) {
	f := storetest.NewFixture(b, storetest.NewDatabase(b))
	for b.Loop() {
		_, err := f.Store.Entries(b.Context(), f.Tenant, tool.Ref{Slug: f.Tool.Slug})
		require.NoError(b, err)
	}
}

// BenchmarkOpenTurn reads what a run's four-hundredth turn starts from: by a
// worker that made the turn before, and by one that never saw the run.
func BenchmarkOpenTurn(b *testing.B) {
	d := storetest.NewDatabase(b)
	f := storetest.NewFixture(b, d)
	turn, previous := f.Turn, ""
	for i := range 400 {
		f.Answer(b, turn)
		previous = turn.Message.ID
		turn = f.NewTurnFrom(b, f.Run, previous, uuid.NewString(), i+2)
	}
	f.Answer(b, turn)
	open := func(b *testing.B, s *store.Store, head string) {
		b.Helper()
		_, err := s.OpenTurn(b.Context(), f.Tenant, f.Run.ID, head, "new")
		require.NoError(b, err)
	}
	b.Run("Following", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			open(b, f.Store, previous)
			b.StartTimer()
			open(b, f.Store, turn.Message.ID)
		}
	})
	b.Run("New", func(b *testing.B) {
		for b.Loop() {
			open(b, f.Store, "")
		}
	})
}
