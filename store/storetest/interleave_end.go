package storetest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// finish ends the run and what is left of its calls, as its workflow does, and checks what is
// recorded of each.
func (w *interleaving) finish() {
	w.endRun()
	for _, c := range w.calls {
		w.close(c, ledger.Settlement{
			Entry: c.e, Status: tool.StatusCancelled, Kind: tool.Cancelled, Msg: "cancelled", UnknownIfSent: true,
		})
	}
	events, err := w.f.Store.ListEvents(w.Context(), w.f.Tenant, w.f.Run.ID, 0, 1000)
	require.NoError(w, err)
	w.f.EventTypes(w, w.f.Run.ID)
	byCall := map[string][]tool.EventType{}
	for _, e := range events {
		byCall[e.InvocationID] = append(byCall[e.InvocationID], e.Type)
	}
	for _, c := range w.calls {
		w.requireOneEnd(c, byCall[c.e.InvocationID])
		w.requireApproved(c)
		w.requireAnswers(c)
	}
}

// requireOneEnd checks that a call ended once, and that all who asked were told the same.
func (w *interleaving) requireOneEnd(c *interleavedCall, events []tool.EventType) {
	i := w.f.invocation(w, c.e.InvocationID)
	require.True(w, i.Status.Final(), "%s: %s", c.name, i.Status)
	ends, won := 0, 0
	for _, kind := range []tool.EventType{
		tool.EventCompleted, tool.EventFailed, tool.EventRejected, tool.EventCancelled, tool.EventExpired,
	} {
		ends += count(events, kind)
	}
	require.Equal(w, 1, ends, "%s: %s", c.name, events)
	require.Equal(w, c.started, count(events, tool.EventStarted), "%s: %s", c.name, events)
	for _, late := range c.answers {
		if !late {
			won++
		}
	}
	for _, outcome := range c.outcomes {
		if outcome.Won {
			won++
		}
		require.Equal(w, i.Status, outcome.Status, c.name)
		require.Equal(w, i.ErrorKind, outcome.Kind, c.name)
		if outcome.Result != nil {
			require.Equal(w, numberOf(w, i.Output), numberOf(w, outcome.Result), c.name)
		}
	}
	require.Equal(w, 1, won, "%s: one settlement is the first", c.name)
	if w.alone {
		require.Equal(w, c.model.status, i.Status, c.name)
	}
}

// requireApproved checks that a call was sent only under what was approved, and that nothing
// is left that asks.
func (w *interleaving) requireApproved(c *interleavedCall) {
	if c.needs {
		for _, binding := range c.sent {
			require.True(w, c.approved[binding], "%s was sent as %q, approved are %v", c.name, binding, c.approved)
		}
	}
	a, err := w.f.Store.FindApproval(w.Context(), w.f.Tenant, c.e.InvocationID)
	if tool.KindOf(err) == tool.NotFound {
		require.Empty(w, c.seen, "a request is not lost")
		return
	}
	require.NoError(w, err)
	require.True(w, a.Status.Final(), "%s: %s", c.name, a.Status)
	subjects := map[string]bool{}
	for _, made := range a.Decisions {
		require.False(w, subjects[made.Subject], "%s decided twice", made.Subject)
		subjects[made.Subject] = true
		require.True(w, made.Approve || a.Status == wait.Rejected)
	}
	if a.Status == wait.Approved {
		require.Len(w, a.Decisions, a.Needed)
	}
	if w.alone {
		w.requireRequest(c, a)
	}
}

// requireAnswers checks that the result that was taken is the answer of the call, or an item
// of the inbox, once.
func (w *interleaving) requireAnswers(c *interleavedCall) {
	rows, err := w.conn.Query(w.Context(), "select content::text from inbox_items where call_id = $1", c.e.InvocationID)
	require.NoError(w, err)
	var items []string
	for rows.Next() {
		var text string
		require.NoError(w, rows.Scan(&text))
		items = append(items, text)
	}
	require.NoError(w, rows.Err())
	require.LessOrEqual(w, len(c.answers), 1, "%s: one result is the first", c.name)
	late := 0
	for n, isLate := range c.answers {
		found, err := w.f.Store.FindCall(w.Context(), w.f.Tenant, c.e.InvocationID)
		require.NoError(w, err)
		require.Equal(w, wait.CallResolved, found.Status)
		require.Equal(w, n, numberOf(w, found.Result))
		require.Equal(w, isLate, found.Late)
		if isLate {
			late++
			require.Contains(w, fmt.Sprint(items), fmt.Sprintf(`\"n\":%d}`, n))
			continue
		}
		i := w.f.invocation(w, c.e.InvocationID)
		require.Equal(w, tool.StatusCompleted, i.Status)
		require.Equal(w, n, numberOf(w, i.Output))
	}
	require.Len(w, items, late, "%s: %s", c.name, items)
	if found, err := w.f.Store.FindCall(w.Context(), w.f.Tenant, c.e.InvocationID); err == nil {
		require.NotEqual(w, wait.CallWaiting, found.Status, c.name)
		if w.alone {
			require.Equal(w, c.model.outside, found.Status, c.name)
		}
	}
}
