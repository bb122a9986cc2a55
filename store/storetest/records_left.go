package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
)

// testRecordsLeft tests what a journal leaves to the ports that do one thing each: it
// writes nothing of it.
func testRecordsLeft(t *testing.T, d *Database) {
	t.Helper()
	f := NewFixture(t, d)
	record := func(r loop.Record) loop.Recorded {
		r.Tenant, r.RunID = f.Tenant, f.Run.ID
		before := f.EventTypes(t, f.Run.ID)
		done, err := f.Store.Record(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, before, f.EventTypes(t, f.Run.ID))
		require.Zero(t, done.Ended)
		require.False(t, done.Turn)
		require.False(t, done.End)
		require.Nil(t, done.Open)
		for _, ticket := range done.Tickets {
			require.Nil(t, ticket)
		}
		return done
	}
	ask := func(e ledger.Entry) ledger.AdmitRequest {
		return ledger.AdmitRequest{Entry: e, Repeatable: true, Send: true}
	}

	// A settlement under a fence that is another attempt's, or of a call that has ended,
	// and what follows it.
	e := f.Lone(t)
	f.Admit(t, e, true, true)
	f.Admit(t, e, true, true)
	turn := f.TurnOf(t, f.Turn.Message.ID, 2)
	record(loop.Record{
		Ended: []ledger.Settlement{Completed(e, 1)}, Turn: &turn, Begin: []ledger.AdmitRequest{ask(f.Lone(t))},
	})
	outcome, err := f.Store.Settle(t.Context(), Completed(e, 2))
	require.NoError(t, err)
	require.True(t, outcome.Won)
	record(loop.Record{Ended: []ledger.Settlement{Completed(e, 2)}})

	// The calls of a turn that another attempt stored.
	stored := f.NewTurnFrom(t, f.Run, f.Turn.Message.ID, "run/2", 2)
	late := f.TurnOf(t, f.Turn.Message.ID, 2)
	late.Key = stored.Key
	record(loop.Record{Turn: &late, Begin: []ledger.AdmitRequest{ask(f.Lone(t))}, End: &agent.RunEnd{
		Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCompleted, HeadMessageID: late.Message.ID, Execution: "x",
	}})

	// A call that was admitted before, and one under an invocation id of another.
	record(loop.Record{Begin: []ledger.AdmitRequest{ask(e)}})
	taken := f.Lone(t)
	taken.InvocationID = e.InvocationID
	record(loop.Record{Begin: []ledger.AdmitRequest{ask(taken)}})

	// A question whose answer is stored, and one whose transcript is not in memory.
	record(loop.Record{Ask: &loop.Question{Head: f.Turn.Message.ID, Key: stored.Key}})

	// What the authority over a call does not simply allow.
	for name, change := range map[string]func(*tool.Tool){
		"Disabled":    func(t *tool.Tool) { t.Status = tool.Disabled },
		"Inactive":    func(t *tool.Tool) { t.Active = false },
		"Deprecated":  func(t *tool.Tool) { t.Status = tool.Deprecated },
		"Quarantined": func(t *tool.Tool) { t.Quarantine = "the server changed it" },
	} {
		t.Run(name, func(t *testing.T) {
			e := f.Lone(t)
			f.edit(t, change)
			record(loop.Record{Begin: []ledger.AdmitRequest{ask(e)}})
			f.edit(t, func(t *tool.Tool) { t.Status, t.Active, t.Quarantine = tool.Published, true, "" })
			done, err := f.Store.Record(t.Context(), loop.Record{
				Tenant: f.Tenant, RunID: f.Run.ID, Begin: []ledger.AdmitRequest{ask(e)},
			})
			require.NoError(t, err)
			require.NotNil(t, done.Tickets[0])
		})
	}
	unpublished := f.Lone(t)
	unpublished.Digest = f.NewVersion(t)
	record(loop.Record{Begin: []ledger.AdmitRequest{ask(unpublished)}})
}
