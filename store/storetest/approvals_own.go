package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// ownCall is a call that a key asked for directly.
func (f *Fixture) ownCall(t *testing.T, subject string) ledger.Entry {
	t.Helper()
	p := f.Principal
	p.Subject = subject
	run, err := f.Store.CreateRun(t.Context(), agent.Run{
		Tenant: f.Tenant, Kind: agent.RunKindToolCall, Mode: tool.Production, WorkflowID: "w/" + NewID(t), Principal: p,
	}, agent.Message{Content: []tool.Content{tool.Text("call")}})
	require.NoError(t, err)
	e := f.Lone(t)
	e.RunID, e.Principal, e.AgentID, e.Turn = run.ID, p, "", 0
	return e
}

// ownRequest asks for a confirmation that who made the call may give.
func (f *Fixture) ownRequest(t *testing.T, e ledger.Entry) wait.Request {
	t.Helper()
	r := f.Request(t, e)
	r.Target.Own = true
	r.Binding = bind(t, r.Target, f.Turn.Calls[0].Arguments)
	if !e.ArgumentsStored {
		r.Binding = bind(t, r.Target, e.Arguments)
	}
	return r
}

// testOwnConfirmation covers calls that who made them may confirm.
func testOwnConfirmation(t *testing.T, d *Database) {
	t.Helper()
	verdict := func(f *Fixture, a wait.Approval, subject string, permissions ...string) wait.Verdict {
		v := f.Verdict(a, subject, true)
		v.Principal.Permissions = permissions
		return v
	}

	t.Run("ByWhoMadeTheCall", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		maker := f.key(t, "")
		a := f.Ask(t, f.ownRequest(t, f.ownCall(t, maker)))
		require.True(t, a.Own)
		made := f.key(t, maker)
		for _, v := range []wait.Verdict{
			verdict(f, a, maker, wait.DecidePermission), // The usual permission is for others' calls.
			verdict(f, a, maker),
			verdict(f, a, made, "*"),
			verdict(f, a, "", wait.ConfirmPermission),
			verdict(f, a, f.key(t, ""), wait.ConfirmPermission), // Of another's call.
		} {
			_, err := f.Store.Decide(t.Context(), v)
			RequireKind(t, tool.Denied, err)
			_, err = f.Store.CheckDecision(t.Context(), v)
			RequireKind(t, tool.Denied, err)
		}
		confirmed, err := f.Store.Decide(t.Context(), verdict(f, a, maker, wait.ConfirmPermission))
		require.NoError(t, err)
		require.Equal(t, wait.Approved, confirmed.Status)
		require.Equal(t, maker, confirmed.Decisions[0].Subject)
	})

	t.Run("ByOthersToo", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		a := f.Ask(t, f.ownRequest(t, f.ownCall(t, f.key(t, ""))))
		require.Equal(t, wait.Approved, f.decide(t, a, "user:bob", true).Status)
	})

	t.Run("NotOfARunOfAnAgent", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		e := f.Entry(t)
		a := f.Ask(t, f.ownRequest(t, e))
		require.False(t, a.Own, "whatever asks for it")
		_, err := f.Store.Decide(t.Context(), verdict(f, a, e.Principal.Subject, "*"))
		RequireKind(t, tool.Denied, err)
	})

	t.Run("NotOnceMoreIsAskedFor", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		maker := f.key(t, "")
		e := f.ownCall(t, maker)
		a := f.Ask(t, f.ownRequest(t, e))
		_, err := f.Store.Decide(t.Context(), verdict(f, a, maker, wait.ConfirmPermission))
		require.NoError(t, err)
		stricter := f.Ask(t, f.Request(t, e))
		require.Equal(t, 2, stricter.Round)
		require.False(t, stricter.Own)
		_, err = f.Store.Decide(t.Context(), verdict(f, stricter, maker, "*"))
		RequireKind(t, tool.Denied, err)
	})
}
