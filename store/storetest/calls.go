package storetest

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Offer is a call that is answered from outside, admitted under the fence.
func (f *Fixture) Offer(e ledger.Entry, fence int64) wait.Offer {
	return wait.Offer{
		Entry: e, Fence: fence, WorkflowID: "w/" + e.RunID, Intent: tool.Render, Shown: true, Timeout: time.Hour,
	}
}

// Offered admits a call and offers it.
func (f *Fixture) Offered(tb testing.TB, change func(*wait.Offer)) wait.Call {
	tb.Helper()
	e := f.Entry(tb)
	e.Implementation = tool.Client
	o := f.Offer(e, f.Admit(tb, e, false, false).Fence)
	if change != nil {
		change(&o)
	}
	c, err := f.Store.OfferCall(tb.Context(), o)
	require.NoError(tb, err)
	return c
}

func (f *Fixture) submission(c wait.Call, result string) wait.Submission {
	return wait.Submission{
		Tenant: f.Tenant, ID: c.ID, Subject: "key:executor", Result: tool.JSONResult(json.RawMessage(result)),
	}
}

func (f *Fixture) submit(tb testing.TB, c wait.Call, result string) (wait.Call, bool) {
	tb.Helper()
	got, first, err := f.Store.SubmitResult(tb.Context(), f.submission(c, result))
	require.NoError(tb, err)
	return got, first
}

func testCalls(t *testing.T, d *Database) {
	t.Helper()
	t.Run("WaitsForItsResult", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		c := f.Offered(t, nil)
		require.Equal(t, e.InvocationID, c.ID)
		require.Equal(t, f.Run.ID, c.RootRunID)
		require.Equal(t, wait.CallWaiting, c.Status)
		require.Equal(t, tool.Render, c.Intent)
		require.True(t, c.Shown)
		require.True(t, c.RequiresResponse)
		require.WithinDuration(t, time.Now().Add(time.Hour), *c.AnswerBy, time.Minute)
		require.Greater(t, c.ExpiresAt, *c.AnswerBy)
		require.Len(t, c.Key, 32)
		require.JSONEq(t, string(f.Turn.Calls[0].Arguments), string(c.Arguments))
		require.Equal(t, tool.StatusWaiting, f.invocation(t, c.ID).Status)

		done, first := f.submit(t, c, `{"n":1}`)
		require.True(t, first)
		require.False(t, done.Late)
		require.Equal(t, wait.CallResolved, done.Status)
		require.Equal(t, "key:executor", done.SubmittedBy)
		require.NotNil(t, done.ResolvedAt)
		require.Equal(t, tool.StatusCompleted, f.invocation(t, c.ID).Status)
		require.JSONEq(t, `{"n":1}`, string(f.invocation(t, c.ID).Output.Structured))
		require.Equal(t, []tool.EventType{
			tool.EventStarted, tool.EventPending, tool.EventResultReceived, tool.EventCompleted,
		}, f.eventsAfterTurn(t))

		again, first := f.submit(t, c, `{"n":2}`)
		require.False(t, first)
		require.JSONEq(t, `{"n":1}`, string(again.Result.Structured))
		require.Len(t, f.eventsAfterTurn(t), 4)
	})
	t.Run("IsOfferedOnce", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		first, err := f.Store.OfferCall(t.Context(), f.Offer(e, f.Admit(t, e, false, false).Fence))
		require.NoError(t, err)
		later := f.Admit(t, e, false, false)
		_, err = f.Store.OfferCall(t.Context(), f.Offer(e, later.Fence-1))
		require.Equal(t, tool.Conflict, tool.KindOf(err), "the attempt was overtaken")
		second, err := f.Store.OfferCall(t.Context(), f.Offer(e, later.Fence))
		require.NoError(t, err)
		require.Equal(t, first, second)
		require.Equal(t, tool.StatusWaiting, f.invocation(t, first.ID).Status)
		require.Equal(t, 1, count(f.eventsAfterTurn(t), tool.EventPending))
		f.submit(t, first, `1`)
		_, err = f.Store.OfferCall(t.Context(), f.Offer(e, later.Fence))
		require.Equal(t, tool.Conflict, tool.KindOf(err), "the call has ended")
	})
	t.Run("LateResultsAreKept", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		c := f.Offered(t, nil)
		e := ledger.Entry{CallIdentity: c.CallIdentity, VersionIdentity: c.VersionIdentity}
		outcome, err := f.Store.Settle(t.Context(), ledger.Settlement{
			Entry: e, Status: tool.StatusExpired, Kind: tool.Timeout, Msg: "Tool timed out after 1000ms",
		})
		require.NoError(t, err)
		require.True(t, outcome.Won)
		found, err := f.Store.FindCall(t.Context(), f.Tenant, c.ID)
		require.NoError(t, err)
		require.Equal(t, wait.CallPending, found.Status, "it may still come (S1-32)")
		late, first := f.submit(t, c, `{"n":1}`)
		require.True(t, first)
		require.True(t, late.Late)
		require.Equal(t, tool.StatusExpired, f.invocation(t, c.ID).Status)
		claimed, err := f.Store.ClaimResolved(t.Context(), 1000, time.Minute)
		require.NoError(t, err)
		require.NotContains(t, ids(claimed), c.ID, "no workflow waits")
	})
	t.Run("LateResultsAreLimitedAsOthersAre", func(t *testing.T) {
		t.Parallel()
		for _, limit := range []int{0, tool.MinInlineResult} {
			f := NewFixture(t, d)
			e := f.Entry(t)
			e.InlineBytes = limit
			o := f.Offer(e, f.Admit(t, e, false, false).Fence)
			o.Async = true
			c, err := f.Store.OfferCall(t.Context(), o)
			require.NoError(t, err)
			long := strings.Repeat("x", 2*tool.MinInlineResult)
			f.submit(t, c, strconv.Quote(long))
			shown := said(f.take(t)[0])[0]
			result, of, err := f.Store.FindLateResult(t.Context(), f.Tenant, f.Run.ID, c.ID)
			require.NoError(t, err)
			require.Equal(t, limit, of)
			require.Contains(t, tool.ReadableText(result.Content), long)
			if limit == 0 {
				require.Contains(t, shown, long)
				continue
			}
			require.NotContains(t, shown, long)
			require.Contains(t, shown, tool.ReadResult)
			require.Contains(t, shown, c.ID)
			_, _, err = f.Store.FindLateResult(t.Context(), f.Tenant, f.NewRun(t).ID, c.ID)
			RequireKind(t, tool.NotFound, err)
		}
	})
	t.Run("LateResultsOfNestedRunsGoUp", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		middle := f.nested(t, f.Run)
		below := f.nested(t, middle)
		offered := func(n int) wait.Call {
			e := f.Entry(t)
			e.RunID, e.InvocationID, e.EffectID = below.ID, NewID(t), e.EffectID+strconv.Itoa(n)
			e.MessageID, e.ArgumentsStored, e.Arguments, e.Implementation = "", false, json.RawMessage(`{}`), tool.Client
			o := f.Offer(e, f.Admit(t, e, false, false).Fence)
			o.Async = true
			c, err := f.Store.OfferCall(t.Context(), o)
			require.NoError(t, err)
			return c
		}
		inbox := func(run string) (n int) {
			err := f.Conn(t).QueryRow(t.Context(), `select count(*) from inbox_items where run_id = $1`, run).Scan(&n)
			require.NoError(t, err)
			return n
		}
		end := func(run agent.Run) {
			err := f.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: f.Tenant, RunID: run.ID, Status: agent.RunCompleted})
			require.NoError(t, err)
		}
		calls := []wait.Call{offered(0), offered(1), offered(2), offered(3)}
		for n, want := range []struct {
			ends *agent.Run
			to   string
		}{{nil, below.ID}, {&below, middle.ID}, {&middle, f.Run.ID}, {&f.Run, f.Run.ID}} {
			if want.ends != nil {
				end(*want.ends)
			}
			before := inbox(want.to)
			f.submit(t, calls[n], `1`)
			require.Equal(t, before+1, inbox(want.to), n)
			_, first := f.submit(t, calls[n], `2`)
			require.False(t, first)
			require.Equal(t, before+1, inbox(want.to), "once")
		}
	})
	t.Run("NobodyWaits", func(t *testing.T) {
		t.Parallel()
		for name, want := range map[string]struct {
			change func(*wait.Offer)
			status wait.CallStatus
		}{
			"async":    {func(o *wait.Offer) { o.Async = true }, wait.CallPending},
			"response": {func(o *wait.Offer) { o.Result = tool.JSONResult(json.RawMessage(`{"ok":true}`)) }, wait.CallResolved},
		} {
			f := NewFixture(t, d)
			c := f.Offered(t, want.change)
			require.Equal(t, want.status, c.Status, name)
			require.Nil(t, c.AnswerBy, name)
			require.Equal(t, tool.StatusRunning, f.invocation(t, c.ID).Status, name)
		}
	})
	t.Run("EndsWithItsRun", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		c := f.Offered(t, nil)
		require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
			Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCancelled, Execution: f.Run.FirstRunID,
		}))
		got, _, err := f.Store.SubmitResult(t.Context(), f.submission(c, `1`))
		require.Equal(t, tool.Conflict, tool.KindOf(err))
		require.Equal(t, wait.CallCancelled, got.Status)
	})
	t.Run("Expires", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		c := f.Offered(t, func(o *wait.Offer) { o.Async = true })
		_, err := f.Conn(t).Exec(t.Context(), "update pending_tool_calls set expires_at = now() where id = $1", c.ID)
		require.NoError(t, err)
		got, _, err := f.Store.SubmitResult(t.Context(), f.submission(c, `1`))
		require.Equal(t, tool.Conflict, tool.KindOf(err))
		require.Equal(t, wait.CallExpired, got.Status)
	})
	t.Run("IsListed", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		c := f.Offered(t, nil)
		for name, q := range map[string]wait.CallQuery{
			"all": {}, "open": {Status: wait.CallsOpen}, "waiting": {Status: wait.CallWaiting}, "run": {RunID: f.Run.ID},
			"call": {CallID: c.CallID}, "tool": {Tools: []string{"other", c.Slug}},
		} {
			q.Tenant, q.Limit = f.Tenant, 10
			found, err := f.Store.ListCalls(t.Context(), q)
			require.NoError(t, err)
			require.Equal(t, []wait.Call{c}, found, name)
		}
		for name, q := range map[string]wait.CallQuery{
			"pending": {Status: wait.CallPending}, "expired": {Status: wait.CallExpired},
			"resolved": {Status: wait.CallResolved},
			"run":      {RunID: c.ID}, "call": {CallID: "other"}, "tool": {Tools: []string{"other"}}, "before": {Before: c.ID},
		} {
			q.Tenant, q.Limit = f.Tenant, 10
			found, err := f.Store.ListCalls(t.Context(), q)
			require.NoError(t, err)
			require.Empty(t, found, name)
		}
	})
	for _, offered := range []struct {
		name         string
		inline, want int
		before       bool // The call was offered before limits were kept with it.
	}{
		{"AnOverrideLimitsWhatIsShown", tool.MinInlineResult, tool.MinInlineResult, false},
		{"ItsToolLimitsWhatIsShown", 2 * tool.MinInlineResult, 2 * tool.MinInlineResult, false},
		{"ItsToolLimitsWhatIsShownOfOlderCalls", 0, 2 * tool.MinInlineResult, true},
	} {
		t.Run(offered.name, func(t *testing.T) {
			t.Parallel()
			f := NewFixture(t, d)
			head, err := f.Store.CreateTool(t.Context(), tool.Tool{
				Tenant: f.Tenant, Slug: "limited", Status: tool.Draft, Active: true, Version: "1.0.0",
				Definition: tool.Definition{
					Name: "limited", Implementation: tool.Client, Execution: tool.Execution{InlineBytes: 2 * tool.MinInlineResult},
				},
			})
			require.NoError(t, err)
			head.Status = tool.Published
			_, version, err := f.Store.AddVersion(t.Context(), head, VersionOf(t, head, "1.0.0"))
			require.NoError(t, err)
			e := f.Entry(t)
			e.ToolID, e.Slug, e.Digest, e.Implementation = head.ID, head.Slug, version.Digest, tool.Client
			e.InlineBytes = offered.inline
			c, err := f.Store.OfferCall(t.Context(), f.Offer(e, f.Admit(t, e, false, false).Fence))
			require.NoError(t, err)
			if offered.before {
				_, err := d.Conn(t).Exec(t.Context(), "update pending_tool_calls set inline_bytes = null where id = $1", c.ID)
				require.NoError(t, err)
			}
			f.submit(t, c, strconv.Quote(strings.Repeat("x", 2*tool.MinInlineResult)))
			record := f.invocation(t, c.ID)
			require.Equal(t, offered.want, record.InlineBytes)
			want, cut := tool.Preview(record.Output.Content, c.ID, offered.want)
			require.True(t, cut)
			transcript, err := f.Store.Transcript(t.Context(), f.Tenant, f.Run.ID)
			require.NoError(t, err)
			require.Equal(t, want, transcript[len(transcript)-1].Content)
		})
	}
	t.Run("IsDelivered", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		c := f.Offered(t, nil)
		f.submit(t, c, `1`)
		require.Eventually(t, func() bool { // Other tests claim too, for a short time.
			claimed, err := f.Store.ClaimResolved(t.Context(), 1000, time.Second)
			require.NoError(t, err)
			return slices.Contains(claimed, wait.Undelivered{Tenant: f.Tenant, ID: c.ID, WorkflowID: c.WorkflowID})
		}, time.Minute, 100*time.Millisecond)
		require.NoError(t, f.Store.CallDelivered(t.Context(), f.Tenant, c.ID))
		time.Sleep(1100 * time.Millisecond)
		claimed, err := f.Store.ClaimResolved(t.Context(), 1000, time.Second)
		require.NoError(t, err)
		require.NotContains(t, ids(claimed), c.ID)
	})
	t.Run("KeepsOneOfManyResults", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		c := f.Offered(t, nil)
		var group sync.WaitGroup
		var firsts atomic.Int64
		for n := range 16 {
			group.Go(func() {
				if _, first, err := f.Store.SubmitResult(t.Context(), f.submission(c, strconv.Itoa(n))); err == nil && first {
					firsts.Add(1)
				}
			})
		}
		group.Go(func() {
			_, err := f.Store.Settle(t.Context(), ledger.Settlement{
				Entry:  ledger.Entry{CallIdentity: c.CallIdentity, VersionIdentity: c.VersionIdentity},
				Status: tool.StatusExpired, Kind: tool.Timeout, Msg: "late",
			})
			if err != nil {
				t.Error(err)
			}
		})
		group.Wait()
		require.EqualValues(t, 1, firsts.Load())
		found, err := f.Store.FindCall(t.Context(), f.Tenant, c.ID)
		require.NoError(t, err)
		require.Equal(t, wait.CallResolved, found.Status)
		want := tool.StatusCompleted
		if found.Late {
			want = tool.StatusExpired
		}
		require.Equal(t, want, f.invocation(t, c.ID).Status)
	})
}

// callCases are the foreign-tenant cases of calls that are answered from outside.
var callCases = map[string]func(t *testing.T, f foreign){
	"OfferCall": func(t *testing.T, f foreign) {
		t.Helper()
		e := f.Entry(t)
		o := f.Offer(e, f.Admit(t, e, false, false).Fence)
		o.Entry.Principal.Tenant = f.stranger
		_, err := f.Store.OfferCall(t.Context(), o)
		require.Equal(t, tool.NotFound, tool.KindOf(err))
	},
	"SubmitResult": func(t *testing.T, f foreign) {
		t.Helper()
		s := f.submission(f.Offered(t, nil), `1`)
		s.Tenant = f.stranger
		_, _, err := f.Store.SubmitResult(t.Context(), s)
		require.Equal(t, tool.NotFound, tool.KindOf(err))
	},
	"FindLateResult": func(t *testing.T, f foreign) {
		t.Helper()
		c := f.Offered(t, func(o *wait.Offer) { o.Async = true })
		f.submit(t, c, `1`)
		_, _, err := f.Store.FindLateResult(t.Context(), f.Tenant, c.RunID, c.ID)
		require.NoError(t, err)
		_, _, err = f.Store.FindLateResult(t.Context(), f.stranger, c.RunID, c.ID)
		require.Equal(t, tool.NotFound, tool.KindOf(err))
	},
	"FindCall": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.FindCall(t.Context(), f.stranger, f.Offered(t, nil).ID)
		require.Equal(t, tool.NotFound, tool.KindOf(err))
	},
	"ListCalls": func(t *testing.T, f foreign) {
		t.Helper()
		f.Offered(t, nil)
		found, err := f.Store.ListCalls(t.Context(), wait.CallQuery{Tenant: f.stranger, Limit: 10})
		require.NoError(t, err)
		require.Empty(t, found)
	},
	"RevokeTokens": func(t *testing.T, f foreign) {
		t.Helper()
		c := f.Offered(t, nil)
		err := f.Store.RevokeTokens(t.Context(), f.stranger, c.ID)
		require.Equal(t, tool.NotFound, tool.KindOf(err))
		found, err := f.Store.FindCall(t.Context(), f.Tenant, c.ID)
		require.NoError(t, err)
		require.Equal(t, c.Key, found.Key)
		require.NoError(t, f.Store.RevokeTokens(t.Context(), f.Tenant, c.ID))
		found, err = f.Store.FindCall(t.Context(), f.Tenant, c.ID)
		require.NoError(t, err)
		require.NotEqual(t, c.Key, found.Key)
	},
	"CallDelivered": func(t *testing.T, f foreign) {
		t.Helper()
		c := f.Offered(t, nil)
		f.submit(t, c, `1`)
		require.NoError(t, f.Store.CallDelivered(t.Context(), f.stranger, c.ID))
		var waits bool
		row := f.Conn(t).QueryRow(t.Context(), "select deliver_at is not null from pending_tool_calls where id = $1", c.ID)
		require.NoError(t, row.Scan(&waits))
		require.True(t, waits)
	},
}

func count(events []tool.EventType, of tool.EventType) (n int) {
	for _, e := range events {
		if e == of {
			n++
		}
	}
	return n
}

func ids(claimed []wait.Undelivered) (out []string) {
	for _, u := range claimed {
		out = append(out, u.ID)
	}
	return out
}
