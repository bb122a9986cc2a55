package store_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// Calls and a model write a run's events and output at the same time: whoever
// reads meanwhile gets each number once and in order.
func TestStreamIsGaplessUnderLoad(t *testing.T) {
	t.Parallel()

	f := raceFixture(t)
	entries := make([]ledger.Entry, racers)
	for i := range entries {
		entries[i] = f.Lone(t)
	}
	want := 2 + 3*racers + 1
	read := make(chan []tool.Event, 1)
	go func() {
		var all []tool.Event
		var after int64
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && t.Context().Err() == nil; {
			page, err := f.Store.ReadStream(t.Context(), f.Tenant, f.Run.ID, after, 3)
			if err != nil {
				break
			}
			if all = append(all, page.Events...); len(all) > 0 {
				after = all[len(all)-1].Seq
			}
			if page.Over {
				break
			}
		}
		read <- all
	}()
	race(func(i int) {
		ticket, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: entries[i], Repeatable: true, Send: true})
		require.NoError(t, err)
		f.Say(t, f.Run, 2, 1, strconv.Itoa(i))
		_, err = f.Store.Settle(t.Context(), storetest.Completed(entries[i], ticket.Fence))
		require.NoError(t, err)
	})
	require.NoError(
		t, f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCompleted}),
	)
	all := <-read
	require.Equal(t, want, len(all)) //nolint:testifylint // The list itself says nothing.
	for i, e := range all {
		require.Equal(t, int64(i+1), e.Seq)
	}
	require.Equal(t, agent.EventRunCompleted, all[want-1].Type)
}
