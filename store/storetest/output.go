package storetest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

func testOutput(t *testing.T, d *Database) {
	t.Helper()
	t.Run("OneOrder", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d) // Its run has begun and has a turn: events 1 and 2.
		f.Say(t, f.Run, 2, 1, "The order")
		f.NewTurn(t, f.Run, 2)
		require.NoError(t, f.Store.AppendOutput(t.Context(), agent.Output{
			Tenant: f.Tenant, RunID: f.Run.ID, Turn: 2, Attempt: 3, CallID: "call_1", Text: "a\x00b\xff",
		}))
		f.NewTurn(t, f.Run, 3)

		all := f.stream(t, 0, 0).Events
		require.Equal(t, []tool.EventType{
			agent.EventRunStarted, agent.EventTurn, agent.EventOutputAppended, agent.EventTurn, tool.EventOutputAppended,
			agent.EventTurn,
		}, types(all))
		for i, e := range all {
			require.Equal(t, int64(i+1), e.Seq)
			require.Equal(t, f.Run.ID, e.RunID)
			require.NotZero(t, e.At)
		}
		require.Equal(t, agent.Output{Turn: 2, Attempt: 1, Text: "The order"}, outputOf(t, all[2]))
		require.Equal(t, agent.Output{Turn: 2, Attempt: 3, CallID: "call_1", Text: "a\ufffdb\ufffd"}, outputOf(t, all[4]))

		var one []tool.Event
		for after := int64(0); ; {
			page := f.stream(t, after, 1)
			if len(page.Events) == 0 {
				break
			}
			one, after = append(one, page.Events...), page.Events[0].Seq
		}
		require.Equal(t, all, one, "page by page it is the same")
		require.Equal(t, all[3:], f.stream(t, 3, 0).Events)

		events, err := f.Store.ListEvents(t.Context(), f.Tenant, f.Run.ID, 0, 0)
		require.NoError(t, err)
		require.Equal(t, []tool.Event{all[0], all[1], all[3], all[5]}, events, "the record is without output")
	})

	t.Run("Over", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		page := f.stream(t, 0, 0)
		require.False(t, page.Over)
		require.Equal(t, agent.RunRunning, page.Status)
		require.NoError(
			t, f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunFailed}),
		)

		require.False(t, f.stream(t, 0, 2).Over, "the run has ended, and there is more to read")
		page = f.stream(t, 2, 1)
		require.True(t, page.Over)
		require.Equal(t, agent.RunFailed, page.Status)
		require.Equal(t, []tool.EventType{agent.EventRunFailed}, types(page.Events))
		require.True(t, f.stream(t, 3, 1).Over)
	})

	t.Run("GoesWithItsRun", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.Say(t, f.Run, 1, 1, "gone")
		conn := d.Conn(t)
		_, err := conn.Exec(t.Context(), "delete from runs where tenant_id = $1", f.Tenant)
		require.NoError(t, err)
		var left int
		require.NoError(
			t, conn.QueryRow(t.Context(), "select count(*) from run_output where tenant_id = $1", f.Tenant).Scan(&left),
		)
		require.Zero(t, left)
		_, err = f.Store.ReadStream(t.Context(), f.Tenant, f.Run.ID, 0, 0)
		RequireKind(t, tool.NotFound, err)
		for _, id := range []string{"", "nonsense", f.Run.ID} {
			RequireKind(
				t, tool.NotFound, f.Store.AppendOutput(t.Context(), agent.Output{Tenant: f.Tenant, RunID: id, Text: "x"}),
			)
			_, err = f.Store.ReadStream(t.Context(), f.Tenant, id, 0, 0)
			RequireKind(t, tool.NotFound, err)
		}
	})
}

// Say adds what a model said to a run's output.
func (f *Fixture) Say(tb testing.TB, run agent.Run, turn, attempt int, text string) {
	tb.Helper()
	require.NoError(tb, f.Store.AppendOutput(tb.Context(), agent.Output{
		Tenant: f.Tenant, RunID: run.ID, Turn: turn, Attempt: attempt, Text: text,
	}))
}

func (f *Fixture) stream(tb testing.TB, after int64, limit int) store.StreamPage {
	tb.Helper()
	page, err := f.Store.ReadStream(tb.Context(), f.Tenant, f.Run.ID, after, limit)
	require.NoError(tb, err)
	return page
}

func types(events []tool.Event) []tool.EventType {
	out := make([]tool.EventType, len(events))
	for i, e := range events {
		out[i] = e.Type
	}
	return out
}

func outputOf(tb testing.TB, e tool.Event) agent.Output {
	tb.Helper()
	var o agent.Output
	require.NoError(tb, json.Unmarshal(e.Data, &o))
	return o
}
