package storetest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

func testPhases(t *testing.T, d *Database) {
	t.Helper()
	t.Run("OnlyTheAdmittedAttemptSends", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		RequireKind(t, tool.NotFound, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, 1))
		ticket := f.Admit(t, e, false, false)
		RequireKind(t, tool.Conflict, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence+1))
		require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
		RequireKind(t, tool.Conflict, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
	})

	t.Run("RecordsAreWhatIsKnown", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		whole, step := f.Lone(t), f.Lone(t)
		whole.Arguments = json.RawMessage(`{"b":1.0,"a":2}`)
		open := f.Admit(t, whole, false, false)
		step.ParentID = open.InvocationID
		ticket := f.Admit(t, step, false, false)
		_, err := f.Store.Settle(t.Context(), Completed(step, ticket.Fence))
		require.NoError(t, err)
		records, err := f.Store.Records(t.Context(), f.Tenant, []string{whole.EffectID, step.EffectID, "never"})
		require.NoError(t, err)
		require.Len(t, records, 2)
		require.Equal(
			t,
			ledger.Record{InvocationID: open.InvocationID, Arguments: whole.Arguments},
			records[whole.EffectID],
		)
		require.Equal(t, tool.StatusCompleted, records[step.EffectID].Outcome.Status)
		require.NotNil(t, records[step.EffectID].Outcome.Result)
		parts, err := f.Store.ListInvocations(t.Context(), f.Tenant, store.InvocationQuery{Parent: open.InvocationID})
		require.NoError(t, err)
		require.Len(t, parts, 1)
		require.Equal(t, ticket.InvocationID, parts[0].InvocationID)
		require.Equal(t, open.InvocationID, parts[0].ParentID)
	})

	t.Run("AZombieSendsNothing", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		ticket := f.Admit(t, e, false, false)
		cancelled := ledger.Settlement{
			Entry: e, Status: tool.StatusCancelled, Kind: tool.Cancelled, Msg: "cancelled", UnknownIfSent: true,
		}
		outcome, err := f.Store.Settle(t.Context(), cancelled)
		require.NoError(t, err)
		require.Equal(t, tool.StatusCancelled, outcome.Status)
		RequireKind(t, tool.Conflict, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
		late, err := f.Store.Settle(t.Context(), Completed(e, ticket.Fence))
		require.NoError(t, err)
		require.Equal(t, tool.StatusCancelled, late.Status, "the first outcome stands")
		require.False(t, late.Won)
	})

	t.Run("UnsentMayBeSentAgain", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		ticket := f.Admit(t, e, false, false)
		RequireKind(t, tool.Conflict, f.Store.MarkUnsent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
		require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
		RequireKind(t, tool.Conflict, f.Store.MarkUnsent(t.Context(), f.Tenant, e.EffectID, ticket.Fence+1))
		require.NoError(t, f.Store.MarkUnsent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
		RequireKind(t, tool.NotFound, f.Store.MarkUnsent(t.Context(), f.Tenant, "never", 1))
		again := f.Admit(t, e, false, false)
		require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, again.Fence))
	})

	t.Run("WhatNeverLeftIsNotUnknown", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		for _, attempts := range []int{1, 2} { // Settled by the attempt itself, and by one that admits and does no more.
			e := f.Lone(t)
			ticket := f.Admit(t, e, false, false)
			require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
			require.NoError(t, f.Store.MarkUnsent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
			if attempts == 2 {
				f.Admit(t, e, false, false)
			}
			outcome, err := f.Store.Settle(t.Context(), failed(e, true))
			require.NoError(t, err)
			require.Equal(t, tool.StatusFailed, outcome.Status)
			require.Equal(t, tool.Timeout, outcome.Kind)
		}
	})

	t.Run("AnEarlierSendingIsRemembered", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		first := f.Admit(t, e, true, false)
		require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, first.Fence))
		second := f.Admit(t, e, true, false)
		require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, second.Fence))
		require.NoError(t, f.Store.MarkUnsent(t.Context(), f.Tenant, e.EffectID, second.Fence),
			"takes back its own mark only")
		outcome, err := f.Store.Settle(t.Context(), failed(e, true))
		require.NoError(t, err)
		require.Equal(t, tool.StatusUnknown, outcome.Status)
	})
}

func testSettle(t *testing.T, d *Database) {
	t.Helper()
	t.Run("TellsOfDrift", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		ticket := f.Admit(t, e, false, false)
		settlement := ledger.Settlement{
			Entry: e, Fence: ticket.Fence, Status: tool.StatusFailed, Kind: tool.Denied, Msg: "read_only",
			Drift: &ledger.Drift{Declared: tool.EgressReadOnly, Attempted: "POST"},
		}
		for range 2 { // Settled twice, it is reported once.
			outcome, err := f.Store.Settle(t.Context(), settlement)
			require.NoError(t, err)
			require.Equal(t, tool.Denied, outcome.Kind)
		}
		require.Equal(
			t,
			[]tool.EventType{agent.EventRunStarted, agent.EventTurn, tool.EventStarted, tool.EventWarning, tool.EventFailed},
			f.EventTypes(t, f.Run.ID),
		)
		events, err := f.Store.ListEvents(t.Context(), f.Tenant, f.Run.ID, 0, 10)
		require.NoError(t, err)
		warning := events[len(events)-2]
		require.Equal(t, e.InvocationID, warning.InvocationID)
		require.JSONEq(
			t,
			`{"tool":"`+e.Slug+`","version":"`+e.Version+
				`","call_id":"call_1","reason":"egress_drift","declared":"read_only","attempted":"POST"}`,
			string(warning.Data),
		)
	})

	t.Run("TellsOfAMismatch", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		ticket := f.Admit(t, e, false, false)
		settlement := Completed(e, ticket.Fence)
		settlement.Result.Mismatch = "outside at /total"
		settlement.Drift = &ledger.Drift{Declared: tool.EgressReadOnly, Attempted: "POST"}
		for range 2 {
			outcome, err := f.Store.Settle(t.Context(), settlement)
			require.NoError(t, err)
			require.Equal(t, "outside at /total", outcome.Result.Mismatch)
		}
		events, err := f.Store.ListEvents(t.Context(), f.Tenant, f.Run.ID, 0, 10)
		require.NoError(t, err)
		last := events[len(events)-3:]
		require.Equal(t, []tool.EventType{
			tool.EventWarning, tool.EventWarning, tool.EventCompleted,
		}, []tool.EventType{last[0].Type, last[1].Type, last[2].Type})
		require.Equal(t, []int64{last[2].Seq - 2, last[2].Seq - 1}, []int64{last[0].Seq, last[1].Seq},
			"numbered without gaps")
		require.Contains(t, string(last[0].Data), "egress_drift")
		require.JSONEq(
			t,
			`{"tool":"`+e.Slug+`","version":"`+e.Version+
				`","call_id":"call_1","reason":"output_mismatch","message":"outside at /total"}`,
			string(last[1].Data),
		)
	})

	t.Run("ClosesEverything", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		ticket := f.Admit(t, e, false, false)
		settlement := Completed(e, ticket.Fence)
		outcome, err := f.Store.Settle(t.Context(), settlement)
		require.NoError(t, err)
		want := ledger.Outcome{
			InvocationID: e.InvocationID, Status: tool.StatusCompleted, Result: settlement.Result, Won: true,
		}
		require.Equal(t, want, outcome)
		again, err := f.Store.Settle(t.Context(), failed(e, true))
		require.NoError(t, err)
		want.Won = false
		require.Equal(t, want, again)

		record, err := f.Store.FindInvocation(t.Context(), f.Tenant, e.InvocationID)
		require.NoError(t, err)
		require.Equal(t, tool.StatusCompleted, record.Status)
		require.Equal(t, settlement.Result, record.Output)
		require.NotNil(t, record.CompletedAt)
		require.Equal(t, []tool.EventType{agent.EventRunStarted, agent.EventTurn, tool.EventStarted, tool.EventCompleted},
			f.EventTypes(t, f.Run.ID))
		transcript, err := f.Store.Transcript(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		answer := transcript[len(transcript)-1]
		require.Equal(t, agent.RoleTool, answer.Role)
		require.Equal(t, f.Turn.Message.ID, answer.ParentID)
		require.Equal(t, "call_1", answer.CallID)
		require.Equal(t, outcome.Content(), answer.Content)
		require.False(t, answer.IsError)
	})

	// The invocation has all of a large result, and the transcript its preview, whichever way the
	// call was settled; a later admission of the effect answers with the preview too.
	t.Run("ALargeResultAnswersByItsPreview", func(t *testing.T) {
		t.Parallel()
		for _, atOnce := range []bool{false, true} {
			f := NewFixture(t, d)
			e := f.Entry(t)
			ticket := f.Admit(t, e, true, false)
			settlement := Completed(e, ticket.Fence)
			settlement.Result = &tool.Result{
				Content: []tool.Content{tool.Text(strings.Repeat("x", tool.MaxInlineResult+1))},
			}
			if atOnce {
				done, err := f.Store.Record(t.Context(), loop.Record{
					Tenant: f.Tenant, RunID: f.Run.ID, Ended: []ledger.Settlement{settlement},
				})
				require.NoError(t, err)
				require.Equal(t, 1, done.Ended)
			} else {
				outcome, err := f.Store.Settle(t.Context(), settlement)
				require.NoError(t, err)
				require.Equal(t, settlement.Result, outcome.Result)
			}
			record, err := f.Store.FindInvocation(t.Context(), f.Tenant, e.InvocationID)
			require.NoError(t, err)
			require.Equal(t, settlement.Result, record.Output)
			want, cut := tool.Preview(settlement.Result.Content, e.InvocationID, 0)
			require.True(t, cut)
			answer := func() []tool.Content {
				transcript, err := f.Store.Transcript(t.Context(), f.Tenant, f.Run.ID)
				require.NoError(t, err)
				return transcript[len(transcript)-1].Content
			}
			require.Equal(t, want, answer())
			ticket, err = f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: e, Repeatable: true})
			require.NoError(t, err)
			require.NotNil(t, ticket.Done)
			require.Equal(t, settlement.Result, ticket.Done.Result)
			require.Equal(t, want, answer())
		}
	})

	// A tool's own limit decides what of its result the transcript has, and is kept with the result.
	t.Run("AToolsOwnLimitOfWhatIsShown", func(t *testing.T) {
		t.Parallel()
		for _, size := range []int{tool.MinInlineResult, tool.MinInlineResult + 1} {
			f := NewFixture(t, d)
			e := f.Entry(t)
			e.InlineBytes = tool.MinInlineResult
			settlement := Completed(e, f.Admit(t, e, true, false).Fence)
			settlement.Result = &tool.Result{Content: []tool.Content{tool.Text(strings.Repeat("x", size))}}
			_, err := f.Store.Settle(t.Context(), settlement)
			require.NoError(t, err)
			want, cut := tool.Preview(settlement.Result.Content, e.InvocationID, tool.MinInlineResult)
			require.Equal(t, size > tool.MinInlineResult, cut)
			transcript, err := f.Store.Transcript(t.Context(), f.Tenant, f.Run.ID)
			require.NoError(t, err)
			require.Equal(t, want, transcript[len(transcript)-1].Content)
			record, err := f.Store.FindInvocation(t.Context(), f.Tenant, e.InvocationID)
			require.NoError(t, err)
			require.Equal(t, settlement.Result, record.Output)
			require.Equal(t, map[bool]int{true: tool.MinInlineResult}[cut], record.InlineBytes)
		}
	})

	t.Run("EventsHoldNoValues", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Lone(t)
		e.Arguments = json.RawMessage(`{"q":"planted-secret"}`)
		ticket := f.Admit(t, e, true, true)
		settlement := Completed(e, ticket.Fence)
		settlement.Result = tool.ErrorResult("planted-secret")
		_, err := f.Store.Settle(t.Context(), settlement)
		require.NoError(t, err)
		events, err := f.Store.ListEvents(t.Context(), f.Tenant, f.Run.ID, 0, 0)
		require.NoError(t, err)
		for _, event := range events {
			require.NotContains(t, string(event.Data), "planted-secret")
		}
		require.Contains(t, string(events[len(events)-1].Data), `"is_error" : true`)
	})

	t.Run("AnOvertakenAttemptIsAConflict", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		first := f.Admit(t, e, true, true)
		second := f.Admit(t, e, true, true)
		_, err := f.Store.Settle(t.Context(), Completed(e, first.Fence))
		RequireKind(t, tool.Conflict, err)
		outcome, err := f.Store.Settle(t.Context(), Completed(e, second.Fence))
		require.NoError(t, err)
		require.True(t, outcome.Won)
		_, err = f.Store.Settle(t.Context(), Completed(f.Lone(t), 1))
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("UnknownIfSent", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		for _, sent := range []bool{false, true} {
			e := f.Lone(t)
			ticket := f.Admit(t, e, false, false)
			if sent {
				require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence))
			}
			outcome, err := f.Store.Settle(t.Context(), failed(e, true))
			require.NoError(t, err)
			if sent {
				require.Equal(
					t,
					ledger.Outcome{
						InvocationID: e.InvocationID, Status: tool.StatusUnknown, Kind: tool.Unknown, Msg: ledger.UnknownMessage,
						Sent: true, Won: true,
					},
					outcome,
				)
			} else {
				require.Equal(
					t,
					ledger.Outcome{
						InvocationID: e.InvocationID, Status: tool.StatusFailed, Kind: tool.Timeout, Msg: "too late", Won: true,
					},
					outcome,
				)
			}
		}
	})

	t.Run("SaysWhetherItWasSent", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		for name, c := range map[string]struct{ sent, unsent, acted, want bool }{
			"Admitted": {}, "Sent": {sent: true, want: true}, "Unsent": {sent: true, unsent: true},
			"Acted": {acted: true, want: true},
		} {
			e := f.Lone(t)
			ticket := f.Admit(t, e, false, false)
			if c.sent {
				require.NoError(t, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, ticket.Fence), name)
			}
			end := failed(e, false)
			end.Fence, end.Unsent, end.Acted = ticket.Fence, c.unsent, c.acted
			outcome, err := f.Store.Settle(t.Context(), end)
			require.NoError(t, err, name)
			require.Equal(t, c.want, outcome.Sent, name)
			again, err := f.Store.Settle(t.Context(), failed(e, true))
			require.NoError(t, err, name)
			require.Equal(t, c.want, again.Sent, name)
			require.Equal(t, c.want, f.Admit(t, e, false, false).Done.Sent, name)
		}
	})

	t.Run("WithoutAdmission", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		outcome, err := f.Store.Settle(t.Context(), failed(e, true))
		require.NoError(t, err)
		require.True(t, outcome.Won)
		require.Equal(t, outcome.Err().Error(), f.Admit(t, e, false, false).Done.Err().Error(),
			"the effect is done, and never admitted again")
		record, err := f.Store.FindInvocation(t.Context(), f.Tenant, e.InvocationID)
		require.NoError(t, err)
		require.Equal(t, f.Turn.Calls[0].Arguments, record.Input)
		require.Nil(t, record.StartedAt)
		require.Equal(t, []tool.EventType{agent.EventRunStarted, agent.EventTurn, tool.EventFailed},
			f.EventTypes(t, f.Run.ID))
	})

	t.Run("WithoutEffect", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		e.EffectID = ""
		first, err := f.Store.Settle(t.Context(), failed(e, false))
		require.NoError(t, err)
		second, err := f.Store.Settle(t.Context(), Completed(e, 0))
		require.NoError(t, err)
		require.True(t, first.Won)
		require.False(t, second.Won)
		require.Equal(t, tool.StatusFailed, second.Status)
		require.Equal(t, []tool.EventType{agent.EventRunStarted, agent.EventTurn, tool.EventFailed},
			f.EventTypes(t, f.Run.ID))
	})

	t.Run("LeavesAnotherCallsEffectAlone", func(t *testing.T) { testOtherCall(t, d) })

	t.Run("RefusesNonsense", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		for _, s := range []ledger.Settlement{
			{Entry: f.Lone(t), Status: tool.StatusRunning, Kind: tool.Timeout},
			{Entry: f.Lone(t), Status: tool.StatusFailed},
			{Entry: ledger.Entry{CallIdentity: tool.CallIdentity{Principal: f.Principal}}, Status: tool.StatusFailed, Kind: tool.Timeout},
		} {
			_, err := f.Store.Settle(t.Context(), s)
			RequireKind(t, tool.Invalid, err)
		}
	})
}

// testOtherCall settles a call with the effect id of another call.
func testOtherCall(t *testing.T, d *Database) {
	t.Helper()
	t.Parallel()
	f := NewFixture(t, d)
	e := f.Lone(t)
	ticket := f.Admit(t, e, true, true)
	other := e
	other.InvocationID, other.Arguments = NewID(t), json.RawMessage(`{"q":"b"}`)
	conflict := ledger.Settlement{
		Entry: other, Status: tool.StatusFailed, Kind: tool.Conflict, Msg: "key in use", UnknownIfSent: true,
	}
	for range 2 {
		outcome, err := f.Store.Settle(t.Context(), conflict)
		require.NoError(t, err)
		require.Equal(t, other.InvocationID, outcome.InvocationID)
		require.Equal(t, tool.StatusFailed, outcome.Status)
	}
	mine, err := f.Store.Settle(t.Context(), Completed(e, ticket.Fence))
	require.NoError(t, err)
	require.True(t, mine.Won)
	record, err := f.Store.FindInvocation(t.Context(), f.Tenant, other.InvocationID)
	require.NoError(t, err)
	require.Empty(t, record.EffectID)
}

func testAnswers(t *testing.T, d *Database) {
	t.Helper()
	t.Run("AreWordedAsOutcomesAre", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		for _, s := range []ledger.Settlement{
			{Status: tool.StatusCompleted, Result: &tool.Result{}},
			{Status: tool.StatusCompleted, Result: tool.ErrorResult("no such order \u0000 <b>")},
			{
				Status: tool.StatusCompleted,
				Result: &tool.Result{Content: []tool.Content{{Type: tool.ContentImage, Data: []byte{0, 1}, MIMEType: "image/png"}}},
			},
			{Status: tool.StatusRejected, Kind: tool.Denied, Msg: `"quoted" \ and ünïcode`},
		} {
			turn := f.NewTurn(t, f.Run, 2)
			s.Entry = f.EntryOf(f.Run, turn, "effect-"+uuid.NewString())
			_, err := f.Store.Settle(t.Context(), s)
			require.NoError(t, err)
			outcome := f.Admit(t, s.Entry, false, false).Done
			transcript, err := f.Store.Transcript(t.Context(), f.Tenant, f.Run.ID)
			require.NoError(t, err)
			answer := transcript[len(transcript)-1]
			require.Equal(t, turn.Message.ID, answer.ParentID)
			require.ElementsMatch(t, outcome.Content(), answer.Content)
			require.Equal(t, outcome.IsError(), answer.IsError)
		}
	})

	t.Run("FollowAFork", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		ticket := f.Admit(t, e, false, false)
		_, err := f.Store.Settle(t.Context(), Completed(e, ticket.Fence))
		require.NoError(t, err)
		for name, ask := range map[string]func(e ledger.Entry){
			"admission": func(e ledger.Entry) { require.NotNil(t, f.Admit(t, e, false, false).Done) },
			"settlement": func(e ledger.Entry) {
				_, err := f.Store.Settle(t.Context(), failed(e, true))
				require.NoError(t, err)
			},
		} {
			fork := f.NewTurn(t, f.Run, 1)
			asked := f.EntryOf(f.Run, fork, e.EffectID)
			ask(asked)
			ask(asked)
			open, err := f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, fork.Message.ID, "x")
			require.NoError(t, err)
			answer := open.Transcript[len(open.Transcript)-1]
			require.Equal(t, fork.Message.ID, answer.ParentID, name)
			require.Equal(t, Completed(e, 0).Result.Content, answer.Content, name)
		}
	})
}

// failed returns the settlement of a call that timed out.
func failed(e ledger.Entry, unknownIfSent bool) ledger.Settlement {
	return ledger.Settlement{
		Entry: e, Status: tool.StatusFailed, Kind: tool.Timeout, Msg: "too late", UnknownIfSent: unknownIfSent,
	}
}
