package store_test

import (
	"encoding/json"
	"testing"

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

// BenchmarkOpenTurn reads what a run's four-hundredth turn starts from.
func BenchmarkOpenTurn(b *testing.B) {
	f := storetest.NewFixture(b, storetest.NewDatabase(b))
	for i := range 400 {
		turn := f.NewTurn(b, f.Run, i+2)
		_, err := f.Store.Settle(b.Context(), storetest.Completed(f.EntryOf(f.Run, turn, turn.Message.ID), 0))
		require.NoError(b, err)
	}
	for b.Loop() {
		open, err := f.Store.OpenTurn(b.Context(), f.Tenant, f.Run.ID, "", "new")
		require.NoError(b, err)
		require.Len(b, open.Transcript, 802)
	}
}
