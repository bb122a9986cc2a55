package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// guarded returns a fixture whose tool needs an approval of every call.
func guarded(t *testing.T, d *Database) *Fixture {
	t.Helper()
	f := NewFixture(t, d)
	f.Tool, f.Version = f.Publish(t, "refund", tool.Policy{RequiresApproval: true})
	return f
}

// Request asks for the approval of a call.
func (f *Fixture) Request(tb testing.TB, e ledger.Entry) wait.Request {
	tb.Helper()
	target := wait.Target{Content: digestA, Credential: "shop", Host: "api.example.com:8443"}
	arguments := e.Arguments
	if e.ArgumentsStored {
		arguments = f.Turn.Calls[0].Arguments
	}
	return wait.Request{
		Entry: e, WorkflowID: "w/" + e.RunID, Target: target, Binding: bind(tb, target, arguments), Message: "Refund a-17?",
		Reasons: []string{"the tool requires an approval of every call"}, Needed: 1, Expires: time.Hour,
	}
}

func bind(tb testing.TB, target wait.Target, arguments json.RawMessage) string {
	tb.Helper()
	digest, err := tool.Digest(arguments)
	require.NoError(tb, err)
	return target.Bind(digest)
}

// Ask records a request.
func (f *Fixture) Ask(tb testing.TB, r wait.Request) wait.Approval {
	tb.Helper()
	a, err := f.Store.Ask(tb.Context(), r)
	require.NoError(tb, err)
	return a
}

// Verdict is a decision of somebody who may decide.
func (f *Fixture) Verdict(a wait.Approval, subject string, approve bool) wait.Verdict {
	return wait.Verdict{
		Principal: tool.Principal{Tenant: f.Tenant, Subject: subject, Permissions: []string{wait.DecidePermission}},
		ID:        a.ID, Approve: approve, Reason: "because", Seen: a.Binding,
	}
}

func (f *Fixture) decide(tb testing.TB, a wait.Approval, subject string, approve bool) wait.Approval {
	tb.Helper()
	decided, err := f.Store.Decide(tb.Context(), f.Verdict(a, subject, approve))
	require.NoError(tb, err)
	return decided
}

func (f *Fixture) invocation(tb testing.TB, id string) tool.Invocation {
	tb.Helper()
	i, err := f.Store.FindInvocation(tb.Context(), f.Tenant, id)
	require.NoError(tb, err)
	return i
}

func (f *Fixture) requireInvocation(
	tb testing.TB, id string, status tool.InvocationStatus, approval tool.ApprovalStatus,
) {
	tb.Helper()
	i := f.invocation(tb, id)
	require.Equal(tb, status, i.Status)
	require.Equal(tb, approval, i.ApprovalStatus)
}

func (f *Fixture) approval(tb testing.TB, id string) wait.Approval {
	tb.Helper()
	a, err := f.Store.FindApproval(tb.Context(), f.Tenant, id)
	require.NoError(tb, err)
	return a
}

// elapse moves the end of a request's time into the past.
func (f *Fixture) elapse(tb testing.TB, id string, by time.Duration) {
	tb.Helper()
	_, err := f.Conn(tb).Exec(tb.Context(), "update approvals set expires_at = now() - $2::interval where id = $1", id,
		fmt.Sprintf("%d ms", by.Milliseconds()))
	require.NoError(tb, err)
}

// eventsAfterTurn are the types of the events of the fixture's run after its turn.
func (f *Fixture) eventsAfterTurn(tb testing.TB) []tool.EventType {
	tb.Helper()
	return f.EventTypes(tb, f.Run.ID)[2:]
}

func testAsk(t *testing.T, d *Database) {
	t.Helper()
	t.Run("RecordsTheRequest", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		e := f.Entry(t)
		before := time.Now()
		a := f.Ask(t, f.Request(t, e))
		require.WithinRange(t, a.ExpiresAt, before.Add(59*time.Minute), before.Add(61*time.Minute))
		require.False(t, a.CreatedAt.IsZero())
		want := wait.Approval{
			ID: e.InvocationID, Tenant: f.Tenant, RunID: f.Run.ID, RootRunID: f.Run.ID, Turn: 1, CallID: "call_1",
			Tool: "refund", Version: "1.0.0", Agent: "support", Requester: "user:ada", Arguments: f.Turn.Calls[0].Arguments,
			Target: f.Request(t, e).Target, Binding: f.Request(t, e).Binding, Message: "Refund a-17?",
			Reasons: []string{"the tool requires an approval of every call"}, Round: 1, Needed: 1,
			Permission: wait.DecidePermission, Status: wait.Pending, CreatedAt: a.CreatedAt, ExpiresAt: a.ExpiresAt,
			WorkflowID: "w/" + f.Run.ID,
		}
		require.Equal(t, want, a)
		require.Equal(t, want, f.approval(t, a.ID))
		require.Equal(t, want, f.Ask(t, f.Request(t, e)), "asked twice, there is one")
		f.requireInvocation(t, a.ID, tool.StatusPending, tool.ApprovalPending)
		require.Equal(t, []tool.EventType{tool.EventNeedsApproval}, f.eventsAfterTurn(t))
		events, err := f.Store.ListEvents(t.Context(), f.Tenant, f.Run.ID, 0, 0)
		require.NoError(t, err)
		last := events[len(events)-1]
		require.Equal(t, a.ID, last.InvocationID)
		var payload agent.ApprovalAsked
		require.NoError(t, json.Unmarshal(last.Data, &payload))
		require.True(t, payload.ExpiresAt.Equal(a.ExpiresAt))
		payload.ExpiresAt = a.ExpiresAt
		require.Equal(t, agent.ApprovalAsked{
			Tool: "refund", Version: "1.0.0", CallID: "call_1", ApprovalID: a.ID, Round: 1, Message: a.Message,
			Reasons: a.Reasons, Binding: a.Binding, Needed: 1, ExpiresAt: a.ExpiresAt,
		}, payload)
	})

	t.Run("IsOfTheEffect", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		e := f.Lone(t)
		first := f.Ask(t, f.Request(t, e))
		reset := e
		reset.InvocationID = NewID(t)
		require.Equal(t, first, f.Ask(t, f.Request(t, reset)), "after a reset it is the first invocation's")
		_, err := f.Store.FindInvocation(t.Context(), f.Tenant, reset.InvocationID)
		RequireKind(t, tool.NotFound, err)

		other := reset
		other.Arguments = json.RawMessage(`{"q":"b"}`)
		_, err = f.Store.Ask(t.Context(), f.Request(t, other))
		RequireKind(t, tool.Conflict, err)
		taken := f.Lone(t)
		taken.InvocationID = e.InvocationID
		_, err = f.Store.Ask(t.Context(), f.Request(t, taken))
		RequireKind(t, tool.Conflict, err)
	})

	t.Run("NamesTheOutermostRun", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		parent, child := f.Run, f.Run
		for range 2 {
			child = f.nested(t, parent)
			parent = child
		}
		e := f.Lone(t)
		e.RunID = child.ID
		a := f.Ask(t, f.Request(t, e))
		require.Equal(t, child.ID, a.RunID)
		require.Equal(t, f.Run.ID, a.RootRunID)
		for _, run := range []string{f.Run.ID, child.ID} {
			listed, err := f.Store.ListApprovals(t.Context(), wait.Query{Tenant: f.Tenant, RunID: run, Limit: 10})
			require.NoError(t, err)
			require.Equal(t, []wait.Approval{a}, listed)
		}
	})

	t.Run("RefusesWhatIsOver", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		e := f.Lone(t)
		_, err := f.Store.Settle(t.Context(), failed(e, false))
		require.NoError(t, err)
		_, err = f.Store.Ask(t.Context(), f.Request(t, e))
		RequireKind(t, tool.Conflict, err)

		f.Tool, f.Version = f.Publish(t, "free", tool.Policy{})
		e = f.Lone(t)
		ticket := f.Admit(t, e, false, false)
		require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
		_, err = f.Store.Ask(t.Context(), f.Request(t, e))
		RequireKind(t, tool.Conflict, err)
	})

	t.Run("RefusesNonsense", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		for name, spoil := range map[string]func(r *wait.Request){
			"no effect":     func(r *wait.Request) { r.Entry.EffectID = "" },
			"no invocation": func(r *wait.Request) { r.Entry.InvocationID = "" },
			"no run":        func(r *wait.Request) { r.Entry.RunID = "" },
			"no binding":    func(r *wait.Request) { r.Binding = "" },
			"negative":      func(r *wait.Request) { r.Needed = -1 },
		} {
			r := f.Request(t, f.Lone(t))
			spoil(&r)
			_, err := f.Store.Ask(t.Context(), r)
			require.Equal(t, tool.Invalid, tool.KindOf(err), name)
		}
		r := f.Request(t, f.Lone(t))
		r.Entry.RunID = NewID(t)
		_, err := f.Store.Ask(t.Context(), r)
		RequireKind(t, tool.NotFound, err)
		r = f.Request(t, f.Entry(t))
		r.Entry.Position = 7
		_, err = f.Store.Ask(t.Context(), r)
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("HasDefaults", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		r := f.Request(t, f.Lone(t))
		r.Needed, r.Expires, r.Permission, r.Reasons = 0, 0, "", nil
		a := f.Ask(t, r)
		require.Equal(t, 1, a.Needed)
		require.Equal(t, wait.DecidePermission, a.Permission)
		require.Empty(t, a.Reasons)
		require.WithinDuration(t, time.Now().Add(wait.DefaultExpiry), a.ExpiresAt, time.Minute)
	})
}

func testApprovedCalls(t *testing.T, d *Database) {
	t.Helper()
	t.Run("AreHeldUntilThen", func(t *testing.T) {
		t.Parallel()
		for _, send := range []bool{false, true} {
			f := guarded(t, d)
			e := f.Entry(t)
			held := f.Admit(t, e, send, send)
			require.Empty(t, held.Approved)
			require.Equal(t, 1, held.Attempt)
			RequireKind(t, tool.Conflict, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, held.Fence))
			f.requireInvocation(t, e.InvocationID, tool.StatusPending, tool.ApprovalNotRequired)
			require.Empty(t, f.eventsAfterTurn(t), "it has not started")
			a := f.Ask(t, f.Request(t, e))
			again := f.Admit(t, e, send, send)
			require.Empty(t, again.Approved)
			require.Greater(t, again.Fence, held.Fence)
			RequireKind(t, tool.Conflict, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, again.Fence))
			f.requireInvocation(t, e.InvocationID, tool.StatusPending, tool.ApprovalPending)
			require.Nil(t, f.invocation(t, a.ID).StartedAt)

			require.Equal(t, wait.Approved, f.decide(t, a, "user:bob", true).Status)
			f.requireInvocation(t, e.InvocationID, tool.StatusApproved, tool.ApprovalApproved)
			ticket := f.Admit(t, e, send, send)
			require.Equal(t, a.Binding, ticket.Approved)
			require.Equal(t, f.Turn.Calls[0].Arguments, ticket.Arguments)
			require.Equal(t, 1, ticket.Attempt)
			require.Greater(t, ticket.Fence, again.Fence)
			f.requireInvocation(t, e.InvocationID, tool.StatusRunning, tool.ApprovalApproved)
			require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
			_, err := f.Store.Settle(t.Context(), Completed(e, ticket.Fence))
			require.NoError(t, err)
			f.requireInvocation(t, e.InvocationID, tool.StatusCompleted, tool.ApprovalApproved)
			require.Equal(t, []tool.EventType{
				tool.EventNeedsApproval, tool.EventApproved, tool.EventStarted, tool.EventCompleted,
			}, f.eventsAfterTurn(t))
			require.Equal(t, wait.Approved, f.approval(t, a.ID).Status)
		}
	})

	t.Run("MayBeAskedForAfterTheyStarted", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d) // The tool asks for nothing.
		e := f.Entry(t)
		first := f.Admit(t, e, false, false)
		a := f.Ask(t, f.Request(t, e))
		f.requireInvocation(t, e.InvocationID, tool.StatusPending, tool.ApprovalPending)
		RequireKind(t, tool.Conflict, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, first.Fence))
		_, err := f.Store.Settle(t.Context(), Completed(e, first.Fence))
		RequireKind(t, tool.Conflict, err)
		f.Admit(t, e, false, false) // Its caller refuses again.
		require.Equal(t, a, f.Ask(t, f.Request(t, e)))
		f.requireInvocation(t, e.InvocationID, tool.StatusPending, tool.ApprovalPending)
		f.decide(t, a, "user:bob", true)
		require.Equal(t, wait.Approved, f.Ask(t, f.Request(t, e)).Status)
		require.Equal(t, a.Binding, f.Admit(t, e, false, false).Approved)
	})

	t.Run("GetTheEditedArguments", func(t *testing.T) {
		t.Parallel()
		edited := json.RawMessage(`{"q":"a-18","n":9007199254740995}`)
		for _, lone := range []bool{false, true} {
			f := guarded(t, d)
			e := f.Entry(t)
			if lone {
				e = f.Lone(t)
			}
			a := f.Ask(t, f.Request(t, e))
			v := f.Verdict(a, "user:bob", true)
			v.Edited, v.EditedDigest, v.Binding = edited, digestOf(t, edited), bind(t, a.Target, edited)
			approved, err := f.Store.Decide(t.Context(), v)
			require.NoError(t, err)
			require.Equal(t, edited, approved.Edited)
			require.Equal(t, a.Arguments, approved.Arguments)
			require.Equal(t, v.Binding, approved.Binding)
			require.Equal(t, edited, approved.Decisions[0].Edited)
			ticket := f.Admit(t, e, false, false)
			require.Equal(t, edited, ticket.Arguments)
			require.Equal(t, v.Binding, ticket.Approved)
			require.Equal(t, a.Arguments, f.invocation(t, a.ID).Input)
			records, err := f.Store.Records(t.Context(), f.Tenant, []string{e.EffectID})
			require.NoError(t, err)
			require.Equal(t, edited, records[e.EffectID].Arguments)
			require.Equal(t, approved, f.Ask(t, f.Request(t, e)), "asked for what was asked before the edit")
			r := f.Request(t, e)
			r.Binding = v.Binding
			require.Equal(t, approved, f.Ask(t, r))
		}
	})

	t.Run("AreLeftByTheJournal", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		e := f.Lone(t)
		done, err := f.Store.Record(t.Context(), loop.Record{
			Tenant: f.Tenant, RunID: f.Run.ID, Begin: []ledger.AdmitRequest{{Entry: e, Repeatable: true, Send: true}},
		})
		require.NoError(t, err)
		require.Nil(t, done.Tickets[0])
		_, err = f.Store.FindEffect(t.Context(), f.Tenant, e.EffectID)
		RequireKind(t, tool.NotFound, err)

		f.Tool, f.Version = f.Publish(t, "free", tool.Policy{})
		e = f.Lone(t)
		f.Ask(t, f.Request(t, e))
		done, err = f.Store.Record(t.Context(), loop.Record{
			Tenant: f.Tenant, RunID: f.Run.ID, Begin: []ledger.AdmitRequest{{Entry: e, Repeatable: true, Send: true}},
		})
		require.NoError(t, err)
		require.Nil(t, done.Tickets[0])
	})

	t.Run("AreAskedAnewForAnotherBinding", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		e := f.Entry(t)
		a := f.Ask(t, f.Request(t, e))
		moved := f.Request(t, e)
		moved.Target.Host = "other.example.com"
		moved.Binding = bind(t, moved.Target, f.Turn.Calls[0].Arguments)
		moved.Needed, moved.Message = 2, "Really?"
		require.Equal(t, a, f.Ask(t, moved), "one that is pending stays")
		f.decide(t, a, "user:bob", true)
		ticket := f.Admit(t, e, true, true)
		require.Equal(t, a.Binding, ticket.Approved)
		second := f.Ask(t, moved)
		require.Equal(t, a.ID, second.ID)
		require.Equal(t, 2, second.Round)
		require.Equal(t, 2, second.Needed)
		require.Equal(t, wait.Pending, second.Status)
		require.Equal(t, moved.Binding, second.Binding)
		require.Equal(t, moved.Target, second.Target)
		require.Empty(t, second.Decisions)
		require.Nil(t, second.EndedAt)
		f.requireInvocation(t, a.ID, tool.StatusPending, tool.ApprovalPending)
		RequireKind(t, tool.Conflict, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
		require.Empty(t, f.Admit(t, e, true, true).Approved)
		_, err := f.Store.Decide(t.Context(), f.Verdict(a, "user:carol", true)) // Saw the first round.
		RequireKind(t, tool.Conflict, err)
		f.decide(t, second, "user:bob", true) // Decides of this round as well.
		require.Equal(t, wait.Approved, f.decide(t, second, "user:carol", true).Status)
		require.Equal(t, moved.Binding, f.Admit(t, e, true, true).Approved)
		require.Equal(t, []tool.EventType{
			tool.EventNeedsApproval, tool.EventApproved, tool.EventStarted, tool.EventNeedsApproval, tool.EventApproved,
			tool.EventStarted,
		}, f.eventsAfterTurn(t))
	})

	t.Run("KeepTheEditWhereItIsAskedFor", func(t *testing.T) {
		t.Parallel()
		edited := json.RawMessage(`{"q":"edited"}`)
		for _, keep := range []bool{true, false} {
			f := guarded(t, d)
			e := f.Lone(t)
			a := f.Ask(t, f.Request(t, e))
			v := f.Verdict(a, "user:bob", true)
			v.Edited, v.EditedDigest, v.Binding = edited, digestOf(t, edited), bind(t, a.Target, edited)
			_, err := f.Store.Decide(t.Context(), v)
			require.NoError(t, err)
			moved := f.Request(t, e)
			moved.Target.Content = digestB
			want := json.RawMessage(nil)
			moved.Binding = bind(t, moved.Target, e.Arguments)
			if keep {
				want, moved.Binding = edited, bind(t, moved.Target, edited)
			}
			require.Equal(t, want, f.Ask(t, moved).Edited)
			require.Equal(t, e.Arguments, f.Admit(t, e, false, false).Arguments, "nothing is approved")
		}
	})

	t.Run("ThatWereNotStay", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		e := f.Entry(t)
		a := f.Ask(t, f.Request(t, e))
		rejected := f.decide(t, a, "user:bob", false)
		moved := f.Request(t, e)
		moved.Binding = digestB
		require.Equal(t, rejected, f.Ask(t, moved))
		require.Empty(t, f.Admit(t, e, false, false).Approved)
	})
}

func digestOf(tb testing.TB, arguments json.RawMessage) string {
	tb.Helper()
	digest, err := tool.Digest(arguments)
	require.NoError(tb, err)
	return digest
}

func testListApprovals(t *testing.T, d *Database) {
	t.Helper()
	f := guarded(t, d)
	var want []wait.Approval
	for i := range 7 {
		a := f.Ask(t, f.Request(t, f.Lone(t)))
		if i%3 == 0 {
			a = f.decide(t, a, "user:bob", true)
		}
		want = append([]wait.Approval{a}, want...)
	}
	list := func(q wait.Query) []wait.Approval {
		q.Tenant = f.Tenant
		page, err := f.Store.ListApprovals(t.Context(), q)
		require.NoError(t, err)
		return page
	}
	require.Equal(t, want, list(wait.Query{Limit: 500}))
	var paged []wait.Approval
	for q := (wait.Query{Limit: 3}); ; q.Before = paged[len(paged)-1].ID {
		page := list(q)
		if len(page) == 0 {
			break
		}
		paged = append(paged, page...)
	}
	require.Equal(t, want, paged)
	turned := slices.Clone(want)
	slices.Reverse(turned)
	require.Equal(t, turned[:3], list(wait.Query{Limit: 3, Oldest: true}))
	require.Equal(t, turned[3:], list(wait.Query{Limit: 10, Oldest: true, Before: turned[2].ID}))
	require.Len(t, list(wait.Query{Limit: 10, Status: wait.Approved}), 3)
	require.Len(t, list(wait.Query{Limit: 10, Status: wait.Pending}), 4)
	require.Len(t, list(wait.Query{Limit: 10, Tool: "refund"}), 7)
	require.Empty(t, list(wait.Query{Limit: 10, Tool: "other"}))
	require.Empty(t, list(wait.Query{Limit: 10, RunID: NewID(t)}))
	batch := want[0].Batch()
	require.NotEmpty(t, list(wait.Query{Limit: 10, Batch: &batch}))
	for _, a := range list(wait.Query{Limit: 10, Batch: &batch}) {
		require.Equal(t, batch, a.Batch())
	}
	batch.Turn++
	require.Empty(t, list(wait.Query{Limit: 10, Batch: &batch}))
}
