package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

const escalated = "approvals.escalated"

// testEscalation is alone in its database: what escalates is looked for in all tenants.
func testEscalation(t *testing.T, d *Database) {
	t.Helper()
	f, other := guarded(t, d), guarded(t, d)
	ask := func(g *Fixture) wait.Approval {
		r := g.Request(t, g.Entry(t))
		r.EscalateAfter, r.EscalateTo = time.Hour, escalated
		return g.Ask(t, r)
	}
	manager := func(g *Fixture, a wait.Approval) wait.Verdict {
		v := g.Verdict(a, "user:manager", true)
		v.Principal.Permissions = []string{escalated}
		return v
	}
	sweep := func(limit, want int) {
		n, err := f.Store.EscalateDue(t.Context(), limit)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	mine, theirs := ask(f), ask(other)
	require.False(t, mine.Escalated)
	require.Equal(t, escalated, mine.EscalateTo)
	require.WithinDuration(t, time.Now().Add(time.Hour), *mine.EscalatesAt, time.Minute)
	sweep(10, 0)
	_, err := f.Store.Decide(t.Context(), manager(f, mine))
	RequireKind(t, tool.Denied, err)
	never := f.Ask(t, f.Request(t, f.Lone(t)))

	_, err = f.Conn(t).Exec(t.Context(), "update approvals set escalates_at = now() where escalates_at is not null")
	require.NoError(t, err)
	sweep(1, 1)
	sweep(10, 1)
	sweep(10, 0)
	require.Equal(t, []tool.EventType{tool.EventNeedsApproval, tool.EventNeedsApproval, tool.EventEscalated},
		f.eventsAfterTurn(t), "once, and only for the request that escalates")
	require.False(t, f.approval(t, never.ID).Escalated)
	require.True(t, f.approval(t, mine.ID).Escalated)
	for g, a := range map[*Fixture]wait.Approval{f: mine, other: theirs} {
		decided, err := g.Store.Decide(t.Context(), manager(g, a))
		require.NoError(t, err)
		require.Equal(t, wait.Approved, decided.Status)
	}
	r := f.Request(t, f.Lone(t))
	r.EscalateAfter = time.Hour
	_, err = f.Store.Ask(t.Context(), r)
	RequireKind(t, tool.Invalid, err)
}
