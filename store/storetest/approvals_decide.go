package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

func testDecide(t *testing.T, d *Database) {
	t.Helper()
	t.Run("Approves", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		a := f.Ask(t, f.Request(t, f.Entry(t)))
		approved := f.decide(t, a, "user:bob", true)
		require.Equal(t, wait.Approved, approved.Status)
		require.Equal(t, "because", approved.Reason)
		require.NotNil(t, approved.EndedAt)
		require.Len(t, approved.Decisions, 1)
		require.False(t, approved.Decisions[0].At.IsZero())
		approved.Decisions[0].At = time.Time{}
		require.Equal(t, []wait.Decision{{Subject: "user:bob", Approve: true, Reason: "because"}}, approved.Decisions)
		events, err := f.Store.ListEvents(t.Context(), f.Tenant, f.Run.ID, 0, 0)
		require.NoError(t, err)
		var payload agent.CallApproved
		require.NoError(t, json.Unmarshal(events[len(events)-1].Data, &payload))
		require.Equal(t, agent.CallApproved{
			Tool: "refund", Version: "1.0.0", CallID: "call_1", ApprovalID: a.ID, Round: 1, By: []string{"user:bob"},
		}, payload)
	})

	t.Run("RejectsAtOnce", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		e := f.Entry(t)
		r := f.Request(t, e)
		r.Needed = 3
		a := f.Ask(t, r)
		f.decide(t, a, "user:bob", true)
		rejected := f.decide(t, a, "user:carol", false)
		require.Equal(t, wait.Rejected, rejected.Status)
		require.Len(t, rejected.Decisions, 2)
		f.requireInvocation(t, a.ID, tool.StatusPending, tool.ApprovalRejected)
		require.Equal(t, []tool.EventType{tool.EventNeedsApproval}, f.eventsAfterTurn(t))
		outcome, err := f.Store.Settle(t.Context(), ledger.Settlement{
			Entry: e, Status: tool.StatusRejected, Kind: tool.Denied, Msg: "rejected by user:carol",
		})
		require.NoError(t, err)
		require.True(t, outcome.Won)
		require.False(t, outcome.Sent)
		f.requireInvocation(t, a.ID, tool.StatusRejected, tool.ApprovalRejected)
		require.Equal(t, []tool.EventType{tool.EventNeedsApproval, tool.EventRejected}, f.eventsAfterTurn(t))
		require.Equal(t, rejected, f.approval(t, a.ID))
	})

	t.Run("NeedsSeveral", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		r := f.Request(t, f.Entry(t))
		r.Needed = 3
		a := f.Ask(t, r)
		for i := range 2 {
			require.Equal(t, wait.Pending, f.decide(t, a, fmt.Sprintf("user:%d", i), true).Status)
			require.Equal(t, wait.Pending, f.decide(t, a, fmt.Sprintf("user:%d", i), true).Status, "counts once")
		}
		require.Equal(t, wait.Approved, f.decide(t, a, "user:2", true).Status)
	})

	t.Run("Edits", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		r := f.Request(t, f.Entry(t))
		r.Needed = 2
		a := f.Ask(t, r)
		edit := f.Verdict(a, "user:bob", true)
		edit.Edited = json.RawMessage(`{"q":"less"}`)
		edit.EditedDigest, edit.Binding = digestOf(t, edit.Edited), bind(t, a.Target, edit.Edited)
		for range 2 { // Made twice, it is made once, although it changed what it saw.
			edited, err := f.Store.Decide(t.Context(), edit)
			require.NoError(t, err)
			require.Equal(t, wait.Pending, edited.Status)
			require.Equal(t, edit.Binding, edited.Binding)
		}
		other := edit
		other.Edited = json.RawMessage(`{"q":"more"}`)
		other.EditedDigest, other.Binding = digestOf(t, other.Edited), bind(t, a.Target, other.Edited)
		_, err := f.Store.Decide(t.Context(), other)
		RequireKind(t, tool.Conflict, err)
		other.Principal.Subject, other.Seen = "user:carol", edit.Binding
		found, err := f.Store.Decide(t.Context(), other)
		RequireKind(t, tool.Conflict, err)
		require.Equal(t, edit.Edited, found.Edited, "who is refused learns what there is")
		_, err = f.Store.Decide(t.Context(), f.Verdict(a, "user:carol", true))
		RequireKind(t, tool.Conflict, err)
		approved := f.decide(t, found, "user:carol", true)
		require.Equal(t, wait.Approved, approved.Status)
		require.Equal(t, edit.Edited, approved.Edited)
		events, err := f.Store.ListEvents(t.Context(), f.Tenant, f.Run.ID, 0, 0)
		require.NoError(t, err)
		require.Contains(t, string(events[len(events)-1].Data), `"edited":true`)
		require.NotContains(t, string(events[len(events)-1].Data), "less")
	})

	t.Run("RefusesWhoMayNot", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		requester := f.key(t, "")
		e := f.Entry(t)
		e.Principal.Subject = requester
		r := f.Request(t, e)
		r.Permission = "refunds.approve"
		a := f.Ask(t, r)
		require.Equal(t, requester, a.Requester)
		made := f.key(t, requester)
		for name, subject := range map[string]string{
			"the call's subject": requester, "the run's subject": "user:ada", "its key": made,
			"the key of its key": f.key(t, made), "nobody": "",
		} {
			v := f.Verdict(a, subject, true)
			v.Principal.Permissions = []string{"*"}
			found, err := f.Store.Decide(t.Context(), v)
			require.Equal(t, tool.Denied, tool.KindOf(err), "%s: %v", name, err)
			require.Empty(t, found)
			_, err = f.Store.CheckDecision(t.Context(), v)
			require.Equal(t, tool.Denied, tool.KindOf(err), "%s: %v", name, err)
			refusals, mistake := f.Store.MayDecide(t.Context(), v.Principal, []wait.Approval{a, a})
			require.NoError(t, mistake)
			for _, refusal := range refusals {
				require.EqualError(t, refusal, strings.ReplaceAll(err.Error(), "store.CheckDecision", "store.MayDecide"), name)
			}
		}
		_, err := f.Store.Decide(t.Context(), f.Verdict(a, "user:bob", true))
		RequireKind(t, tool.Denied, err)
		var missing *tool.PermissionError
		require.ErrorAs(t, err, &missing)
		require.Equal(t, []string{"refunds.approve"}, missing.Permissions)
		require.Equal(t, a, f.approval(t, a.ID))
		v := f.Verdict(a, f.key(t, ""), true)
		v.Principal.Permissions = []string{"refunds.approve"}
		checked, err := f.Store.CheckDecision(t.Context(), v)
		require.NoError(t, err)
		require.Equal(t, a, checked)
		require.Equal(t, a, f.approval(t, a.ID), "a check records nothing")
		refusals, err := f.Store.MayDecide(t.Context(), v.Principal, []wait.Approval{a})
		require.NoError(t, err)
		require.Equal(t, []error{nil}, refusals)
		approved, err := f.Store.Decide(t.Context(), v)
		require.NoError(t, err)
		require.Equal(t, wait.Approved, approved.Status)
	})

	t.Run("RefusesWhatIsOver", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		a := f.Ask(t, f.Request(t, f.Lone(t)))
		approved := f.decide(t, a, "user:bob", true)
		require.Equal(t, approved, f.decide(t, a, "user:bob", true), "the same again")
		for _, v := range []wait.Verdict{f.Verdict(a, "user:bob", false), f.Verdict(a, "user:carol", true)} {
			found, err := f.Store.Decide(t.Context(), v)
			RequireKind(t, tool.Conflict, err)
			require.ErrorContains(t, err, "it is approved, already decided by user:bob")
			require.Equal(t, approved, found)
		}
		late := f.Ask(t, f.Request(t, f.Lone(t)))
		f.elapse(t, late.ID, time.Second)
		_, err := f.Store.Decide(t.Context(), f.Verdict(late, "user:bob", true))
		RequireKind(t, tool.Conflict, err)
		_, err = f.Store.CheckDecision(t.Context(), f.Verdict(late, "user:bob", true))
		RequireKind(t, tool.Conflict, err)
		require.Equal(t, wait.Pending, f.approval(t, late.ID).Status)
		refusals, err := f.Store.MayDecide(t.Context(), f.Verdict(late, "user:bob", true).Principal,
			[]wait.Approval{approved, late})
		require.NoError(t, err)
		for i, says := range []string{"already decided by user:bob", "the time of the request is over"} {
			RequireKind(t, tool.Conflict, refusals[i])
			require.ErrorContains(t, refusals[i], says)
		}
	})

	t.Run("RefusesNonsense", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		a := f.Ask(t, f.Request(t, f.Lone(t)))
		edited := json.RawMessage(`{"q":"x"}`)
		for name, spoil := range map[string]func(v *wait.Verdict){
			"edited rejection": func(v *wait.Verdict) { v.Approve = false },
			"no binding":       func(v *wait.Verdict) { v.Binding = "" },
			"another digest":   func(v *wait.Verdict) { v.EditedDigest = digestA },
			"not JSON":         func(v *wait.Verdict) { v.Edited = json.RawMessage(`{`) },
			"not storable": func(v *wait.Verdict) {
				v.Edited = json.RawMessage(`{"q":"\u0000"}`)
				v.EditedDigest = digestOf(t, v.Edited)
			},
		} {
			v := f.Verdict(a, "user:bob", true)
			v.Edited, v.EditedDigest, v.Binding = edited, digestOf(t, edited), digestB
			spoil(&v)
			_, err := f.Store.Decide(t.Context(), v)
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%s: %v", name, err)
		}
		for _, id := range []string{"", "x", NewID(t)} {
			a.ID = id
			_, err := f.Store.Decide(t.Context(), f.Verdict(a, "user:bob", true))
			RequireKind(t, tool.NotFound, err)
			_, err = f.Store.FindApproval(t.Context(), f.Tenant, id)
			RequireKind(t, tool.NotFound, err)
			_, err = f.Store.End(t.Context(), f.Tenant, id, wait.Expired)
			RequireKind(t, tool.NotFound, err)
		}
	})
}

// key creates a key and returns its subject.
func (f *Fixture) key(tb testing.TB, by string) string {
	tb.Helper()
	made, _, err := f.Store.CreateKey(tb.Context(), store.Key{Tenant: f.Tenant, Name: "test", CreatedBy: by})
	require.NoError(tb, err)
	return "key:" + made.ID
}

func testEndApproval(t *testing.T, d *Database) {
	t.Helper()
	t.Run("Expires", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		e := f.Entry(t)
		a := f.Ask(t, f.Request(t, e))
		early, err := f.Store.End(t.Context(), f.Tenant, a.ID, wait.Expired)
		require.NoError(t, err)
		require.Equal(t, a, early, "it has time left")
		f.elapse(t, a.ID, time.Second)
		ended, err := f.Store.End(t.Context(), f.Tenant, a.ID, wait.Expired)
		require.NoError(t, err)
		require.Equal(t, wait.Expired, ended.Status)
		f.requireInvocation(t, a.ID, tool.StatusPending, tool.ApprovalExpired)
		again, err := f.Store.End(t.Context(), f.Tenant, a.ID, wait.Cancelled)
		require.NoError(t, err)
		require.Equal(t, ended, again)
		_, err = f.Store.Settle(t.Context(), ledger.Settlement{
			Entry: e, Status: tool.StatusExpired, Kind: tool.Timeout, Msg: "nobody decided",
		})
		require.NoError(t, err)
		f.requireInvocation(t, a.ID, tool.StatusExpired, tool.ApprovalExpired)
		require.Equal(t, []tool.EventType{tool.EventNeedsApproval, tool.EventExpired}, f.eventsAfterTurn(t))
		for _, as := range []wait.Status{wait.Approved, wait.Rejected, wait.Pending, ""} {
			_, err := f.Store.End(t.Context(), f.Tenant, a.ID, as)
			RequireKind(t, tool.Invalid, err)
		}
	})

	t.Run("Cancels", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		a := f.Ask(t, f.Request(t, f.Lone(t)))
		ended, err := f.Store.End(t.Context(), f.Tenant, a.ID, wait.Cancelled)
		require.NoError(t, err)
		require.Equal(t, wait.Cancelled, ended.Status)
		f.requireInvocation(t, a.ID, tool.StatusPending, tool.ApprovalExpired)
	})

	t.Run("GoesWithTheCall", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		for status, want := range map[tool.InvocationStatus]wait.Status{
			tool.StatusCancelled: wait.Cancelled, tool.StatusFailed: wait.Cancelled, tool.StatusExpired: wait.Expired,
		} {
			e := f.Lone(t)
			a := f.Ask(t, f.Request(t, e))
			_, err := f.Store.Settle(t.Context(), ledger.Settlement{Entry: e, Status: status, Kind: tool.Cancelled, Msg: "x"})
			require.NoError(t, err)
			a = f.approval(t, a.ID)
			require.Equal(t, want, a.Status)
			require.NotNil(t, a.EndedAt)
			f.requireInvocation(t, a.ID, status, tool.ApprovalExpired)
			_, err = f.Store.Decide(t.Context(), f.Verdict(a, "user:bob", true))
			RequireKind(t, tool.Conflict, err)
		}
		require.NotContains(t, f.claimed(t), f.Tenant, "there is nobody to tell")
	})

	t.Run("GoesWithTheRun", func(t *testing.T) {
		t.Parallel()
		for _, end := range []func(f *Fixture) error{
			func(f *Fixture) error {
				return f.Store.FinishRun(t.Context(), agent.RunEnd{
					Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCancelled, Execution: "x",
				})
			},
			func(f *Fixture) error {
				run, err := f.Store.FindRun(t.Context(), f.Tenant, f.Run.ID)
				if err != nil {
					return err
				}
				_, err = f.Store.CloseRun(t.Context(), store.RunClosure{
					Tenant: f.Tenant, RunID: run.ID, StatusSeen: run.Status, SeqSeen: run.LastSeq, Status: agent.RunFailed,
					Kind: tool.InternalError,
				})
				return err
			},
		} {
			f := guarded(t, d)
			e := f.Lone(t)
			a := f.Ask(t, f.Request(t, e))
			over := f.decide(t, f.Ask(t, f.Request(t, f.Lone(t))), "user:bob", true)
			other := f.Lone(t)
			other.RunID = f.NewRun(t).ID
			kept := f.Ask(t, f.Request(t, other))
			require.NoError(t, end(f))
			require.Equal(t, wait.Cancelled, f.approval(t, a.ID).Status)
			require.Equal(t, over, f.approval(t, over.ID))
			require.Equal(t, kept, f.approval(t, kept.ID))
			_, err := f.Store.Settle(t.Context(), ledger.Settlement{
				Entry: e, Status: tool.StatusCancelled, Kind: tool.Cancelled, Msg: "cancelled",
			})
			require.NoError(t, err)
			f.requireInvocation(t, a.ID, tool.StatusCancelled, tool.ApprovalExpired)
			require.Equal(t, wait.Cancelled, f.approval(t, a.ID).Status)
		}
	})
}

// claimed claims what is undelivered, by tenant.
func (f *Fixture) claimed(tb testing.TB) map[tool.TenantID][]wait.Undelivered {
	tb.Helper()
	claimed, err := f.Store.ClaimUndelivered(tb.Context(), 100, time.Minute)
	require.NoError(tb, err)
	by := map[tool.TenantID][]wait.Undelivered{}
	for _, u := range claimed {
		by[u.Tenant] = append(by[u.Tenant], u)
	}
	return by
}

// testDeliveries is alone in its database: what it claims is of every tenant.
func testDeliveries(t *testing.T, d *Database) {
	t.Helper()
	f, other := guarded(t, d), guarded(t, d)
	ctx := t.Context()
	e := f.Lone(t)
	approved := f.decide(t, f.Ask(t, f.Request(t, e)), "user:bob", true)
	rejected := other.decide(t, other.Ask(t, other.Request(t, other.Lone(t))), "user:bob", false)
	f.Ask(t, f.Request(t, f.Lone(t)))
	undelivered := func(a wait.Approval) wait.Undelivered {
		return wait.Undelivered{Tenant: a.Tenant, ID: a.ID, WorkflowID: a.WorkflowID, Round: a.Round}
	}
	one, err := f.Store.ClaimUndelivered(ctx, 1, time.Minute)
	require.NoError(t, err)
	require.Equal(t, []wait.Undelivered{undelivered(approved)}, one, "the oldest first")
	require.Equal(t, map[tool.TenantID][]wait.Undelivered{other.Tenant: {undelivered(rejected)}}, f.claimed(t))
	require.Empty(t, f.claimed(t), "claimed for the time of the lease")
	_, err = f.Conn(t).Exec(ctx, "update approvals set deliver_at = now() where deliver_at is not null")
	require.NoError(t, err)
	require.NoError(t, other.Store.Delivered(ctx, undelivered(rejected)))
	require.NoError(t, other.Store.Delivered(ctx, undelivered(rejected)))
	require.Equal(t, map[tool.TenantID][]wait.Undelivered{f.Tenant: {undelivered(approved)}}, f.claimed(t))

	moved := f.Request(t, e)
	moved.Binding = digestB
	second := f.Ask(t, moved)
	require.Empty(t, f.claimed(t), "it is asked anew")
	second = f.decide(t, second, "user:bob", true)
	require.NoError(t, f.Store.Delivered(ctx, undelivered(approved)), "of the round before")
	require.Equal(t, map[tool.TenantID][]wait.Undelivered{f.Tenant: {undelivered(second)}}, f.claimed(t))
	anyRound := undelivered(second)
	anyRound.Round = 0
	require.NoError(t, f.Store.Delivered(ctx, anyRound))
	_, err = f.Conn(t).Exec(ctx, "update approvals set deliver_at = now() where deliver_at is not null")
	require.NoError(t, err)
	require.Empty(t, f.claimed(t))
	_, err = f.Store.ClaimUndelivered(ctx, 1, time.Hour)
	RequireKind(t, tool.Invalid, err)
}

// testOverdue is alone in its database too.
func testOverdue(t *testing.T, d *Database) {
	t.Helper()
	f, other := guarded(t, d), guarded(t, d)
	var late []wait.Approval
	for _, g := range []*Fixture{f, other, f} {
		a := g.Ask(t, g.Request(t, g.Lone(t)))
		g.elapse(t, a.ID, 10*time.Minute)
		late = append(late, a)
	}
	recent := f.Ask(t, f.Request(t, f.Lone(t)))
	f.elapse(t, recent.ID, time.Second)
	expire := func(limit, want int) {
		n, err := f.Store.ExpireOverdue(t.Context(), limit, 5*time.Minute)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	expire(2, 2)
	expire(10, 1)
	expire(10, 0)
	require.Equal(t, wait.Pending, f.approval(t, recent.ID).Status)
	for i, g := range []*Fixture{f, other, f} {
		require.Equal(t, wait.Expired, g.approval(t, late[i].ID).Status)
		g.requireInvocation(t, late[i].ID, tool.StatusPending, tool.ApprovalExpired)
	}
	require.Len(t, f.claimed(t)[f.Tenant], 2)
}

const deciders = 50

// approvalCases are the foreign-tenant cases of approvals.
var approvalCases = map[string]func(t *testing.T, f foreign){
	"Ask": func(t *testing.T, f foreign) {
		t.Helper()
		r := f.Request(t, f.Lone(t))
		r.Entry.Principal.Tenant = f.stranger
		_, err := f.Store.Ask(t.Context(), r)
		RequireKind(t, tool.NotFound, err)
	},
	"Decide": func(t *testing.T, f foreign) {
		t.Helper()
		a := f.Fixture.Ask(t, f.Request(t, f.Lone(t)))
		v := f.Verdict(a, "user:bob", true)
		v.Principal.Tenant = f.stranger
		found, err := f.Store.Decide(t.Context(), v)
		RequireKind(t, tool.NotFound, err)
		require.Empty(t, found)
		require.Equal(t, a, f.approval(t, a.ID))
	},
	"CheckDecision": func(t *testing.T, f foreign) {
		t.Helper()
		a := f.Fixture.Ask(t, f.Request(t, f.Lone(t)))
		v := f.Verdict(a, "user:bob", true)
		v.Principal.Tenant = f.stranger
		_, err := f.Store.CheckDecision(t.Context(), v)
		RequireKind(t, tool.NotFound, err)
	},
	"MayDecide": func(t *testing.T, f foreign) {
		t.Helper()
		a := f.Fixture.Ask(t, f.Request(t, f.Lone(t)))
		p := f.Verdict(a, "user:bob", true).Principal
		p.Tenant = f.stranger
		refusals, err := f.Store.MayDecide(t.Context(), p, []wait.Approval{a})
		require.NoError(t, err)
		RequireKind(t, tool.NotFound, refusals[0])
	},
	"End": func(t *testing.T, f foreign) {
		t.Helper()
		a := f.Fixture.Ask(t, f.Request(t, f.Lone(t)))
		_, err := f.Store.End(t.Context(), f.stranger, a.ID, wait.Cancelled)
		RequireKind(t, tool.NotFound, err)
		require.Equal(t, a, f.approval(t, a.ID))
	},
	"FindApproval": func(t *testing.T, f foreign) {
		t.Helper()
		a := f.Fixture.Ask(t, f.Request(t, f.Lone(t)))
		_, err := f.Store.FindApproval(t.Context(), f.stranger, a.ID)
		RequireKind(t, tool.NotFound, err)
	},
	"ListApprovals": func(t *testing.T, f foreign) {
		t.Helper()
		a := f.Fixture.Ask(t, f.Request(t, f.Lone(t)))
		for _, q := range []wait.Query{{}, {RunID: a.RunID}} {
			q.Tenant = f.stranger
			listed, err := f.Store.ListApprovals(t.Context(), q)
			require.NoError(t, err)
			require.Empty(t, listed)
		}
	},
	"CountApprovers": func(t *testing.T, f foreign) {
		t.Helper()
		f.Key(t, f.Tenant, wait.DecidePermission)
		n, err := f.Store.CountApprovers(t.Context(), f.stranger, []string{wait.DecidePermission}, "")
		require.NoError(t, err)
		require.Zero(t, n)
	},
	"Delivered": func(t *testing.T, f foreign) {
		t.Helper()
		a := f.decide(t, f.Fixture.Ask(t, f.Request(t, f.Lone(t))), "user:bob", true)
		require.NoError(t, f.Store.Delivered(t.Context(), wait.Undelivered{Tenant: f.stranger, ID: a.ID}))
		var kept bool
		require.NoError(t, f.Conn(t).QueryRow(t.Context(), "select deliver_at is not null from approvals where id = $1",
			a.ID).Scan(&kept))
		require.True(t, kept)
	},
}
