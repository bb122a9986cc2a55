package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Said is what a person said to the fixture's run.
func (f *Fixture) Said(text string) agent.InboxItem {
	return agent.InboxItem{
		Tenant: f.Tenant, RunID: f.Run.ID, Kind: agent.InboxMessage, By: "user:ada", Content: []tool.Content{tool.Text(text)},
	}
}

func (f *Fixture) say(tb testing.TB, text string) {
	tb.Helper()
	added, err := f.Store.AddToInbox(tb.Context(), f.Said(text))
	require.NoError(tb, err)
	require.True(tb, added)
}

func (f *Fixture) take(tb testing.TB) []agent.Message {
	tb.Helper()
	after, _ := f.takeUp(tb)
	return after
}

func (f *Fixture) open(tb testing.TB) agent.OpenTurn {
	tb.Helper()
	open, err := f.Store.OpenTurn(tb.Context(), f.Tenant, f.Run.ID, f.Turn.Message.ID, "next")
	require.NoError(tb, err)
	return open
}

func said(m agent.Message) (out []string) {
	for _, c := range m.Content {
		out = append(out, c.Text)
	}
	return out
}

func testInbox(t *testing.T, d *Database) {
	t.Helper()
	t.Run("IsTakenUpByATurn", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		require.Empty(t, f.take(t), "there is nothing")
		before := f.open(t)
		f.say(t, "wait")
		f.say(t, "stop")
		require.Equal(t, 2, f.open(t).Inbox)
		after := f.take(t)
		require.Len(t, after, 1)
		require.Equal(t, agent.RoleUser, after[0].Role)
		require.Equal(t, []string{"wait", "stop"}, said(after[0]))
		require.Equal(t, f.Turn.Message.ID, after[0].ParentID)
		require.Equal(t, agent.EventInbox, f.eventsAfterTurn(t)[0])

		// An attempt that comes after finds it, and what came since.
		require.Equal(t, messageIDs(after), messageIDs(f.take(t)))
		open := f.open(t)
		require.Zero(t, open.Inbox)
		require.Equal(t, append(messageIDs(before.Transcript), after[0].ID), messageIDs(open.Transcript))
		f.say(t, "go on")
		again := f.take(t)
		require.Len(t, again, 2)
		require.Equal(t, []string{"go on"}, said(again[1]))
		require.Equal(t, append(messageIDs(before.Transcript), messageIDs(again)...), messageIDs(f.open(t).Transcript))
		run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Equal(t, again[1].ID, run.HeadMessageID)
	})
	t.Run("KeepsItsRunOpen", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.say(t, "wait")
		end := agent.RunEnd{
			Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCompleted, Execution: f.Run.FirstRunID, UnlessInbox: true,
		}
		require.ErrorIs(t, f.Store.FinishRun(t.Context(), end), agent.ErrInbox)
		run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.Equal(t, agent.RunRunning, run.Status)
		f.take(t)
		require.NoError(t, f.Store.FinishRun(t.Context(), end))
		require.NoError(t, f.Store.FinishRun(t.Context(), end), "again")
		added, err := f.Store.AddToInbox(t.Context(), f.Said("too late"))
		require.NoError(t, err)
		require.False(t, added, "a message is for a run that goes on")
	})
	t.Run("TakesLateResultsOfAnEndedRun", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		c := f.Offered(t, func(o *wait.Offer) { o.Async = true })
		end := agent.RunEnd{
			Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCompleted, Execution: f.Run.FirstRunID, UnlessInbox: true,
		}
		require.NoError(t, f.Store.FinishRun(t.Context(), end))
		events := len(f.eventsAfterTurn(t))
		f.submit(t, c, `{"n":1}`)
		require.Len(t, f.eventsAfterTurn(t), events, "a run that is over has no more events")
		require.NoError(t, f.Store.FinishRun(t.Context(), end), "it is over")
		require.Equal(t, []string{`[Tool Result: ` + c.Slug + `] (callId: ` + c.CallID + `) {"n":1}`}, said(f.take(t)[0]))
	})
}

func messageIDs(messages []agent.Message) (out []string) {
	for _, m := range messages {
		out = append(out, m.ID)
	}
	return out
}

// inboxCases are the foreign-tenant cases of inboxes.
var inboxCases = map[string]func(t *testing.T, f foreign){
	"AddToInbox": func(t *testing.T, f foreign) {
		t.Helper()
		item := f.Said("hello")
		item.Tenant = f.stranger
		_, err := f.Store.AddToInbox(t.Context(), item)
		require.Equal(t, tool.NotFound, tool.KindOf(err))
	},
	"TakeInbox": func(t *testing.T, f foreign) {
		t.Helper()
		f.say(t, "hello")
		_, _, err := f.Store.TakeInbox(t.Context(), f.stranger, f.Run.ID, f.Turn.Message.ID, 2)
		require.Equal(t, tool.NotFound, tool.KindOf(err))
	},
}
