package storetest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

// testTaint tests what results of untrusted sources do to the runs that get them, and to the
// admission of later calls.
func testTaint(t *testing.T, d *Database) {
	t.Helper()

	for name, end := range map[string]func(t *testing.T, f *Fixture, s ledger.Settlement){
		"ByTheLedger": func(t *testing.T, f *Fixture, s ledger.Settlement) {
			t.Helper()
			_, err := f.Store.Settle(t.Context(), s)
			require.NoError(t, err)
		},
		"ByTheJournal": func(t *testing.T, f *Fixture, s ledger.Settlement) {
			t.Helper()
			done, err := f.Store.Record(t.Context(), loop.Record{
				Tenant: f.Tenant, RunID: f.Run.ID, Ended: []ledger.Settlement{s},
			})
			require.NoError(t, err)
			require.Equal(t, 1, done.Ended)
		},
	} {
		t.Run("IsOfTheFirstResult"+name, func(t *testing.T) {
			t.Parallel()
			f := NewFixture(t, d)
			end(t, f, Completed(f.underway(t, 1), 1))
			require.Nil(t, f.taint(t, f.Run.ID), "a trusted result")
			first, second := f.underway(t, 2), f.underway(t, 3)
			first.Taints, second.Taints = true, true
			end(t, f, Completed(first, 1))
			got := f.taint(t, f.Run.ID)
			require.NotNil(t, got)
			require.False(t, got.At.IsZero())
			require.Equal(t, tool.Taint{
				RunID: f.Run.ID, InvocationID: first.InvocationID, Tool: f.Tool.Slug, Version: f.Version.Number,
				Turn: 2, At: got.At,
			}, *got)
			end(t, f, Completed(second, 1))
			require.Equal(t, got, f.taint(t, f.Run.ID), "nothing replaces it")
			var said []tool.Taint
			for _, e := range f.events(t, f.Run.ID) {
				if e.Type != agent.EventRunTainted {
					continue
				}
				var of tool.Taint
				require.NoError(t, json.Unmarshal(e.Data, &of))
				require.Equal(t, first.InvocationID, e.InvocationID)
				said = append(said, of)
			}
			require.Len(t, said, 1)
			require.Equal(t, got.InvocationID, said[0].InvocationID)
		})
	}

	t.Run("NotOfACallThatNeverBegan", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		e := f.Entry(t)
		e.Taints = true
		_, err := f.Store.Settle(t.Context(), ledger.Settlement{
			Entry: e, Status: tool.StatusFailed, Kind: tool.Denied, Msg: "denied",
		})
		require.NoError(t, err)
		require.Nil(t, f.taint(t, f.Run.ID))
	})

	t.Run("OfSeveralAtOnceThereIsOne", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		var all sync.WaitGroup
		for range 8 {
			e := f.underway(t, 1)
			e.Taints = true
			all.Go(func() {
				_, err := f.Store.Settle(t.Context(), Completed(e, 1))
				require.NoError(t, err)
			})
		}
		all.Wait()
		seen := 0
		for _, e := range f.events(t, f.Run.ID) {
			if e.Type == agent.EventRunTainted {
				seen++
			}
		}
		require.Equal(t, 1, seen)
	})

	t.Run("HoldsLaterCallsWithCredentials", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.tainted(t, 2)
		for _, c := range []struct {
			turn    int
			secret  bool
			step    bool // Of a composition.
			tainted bool
		}{
			{turn: 3, secret: true, tainted: true},
			{turn: 3},
			{turn: 2, secret: true},
			{turn: 1, secret: true},
			{turn: 2, secret: true, step: true, tainted: true},
			{turn: 0, secret: true, tainted: true},
		} {
			name := fmt.Sprintf("%+v", c)
			e := f.Lone(t)
			e.Turn = c.turn
			if c.step {
				e.ParentID = f.underway(t, 2).InvocationID
			}
			ticket := f.beginSecret(t, e, c.secret)
			require.Equal(t, !c.tainted, ticket != nil, "%s: the journal", name)
			if ticket == nil {
				got := f.admitSecret(t, e, c.secret)
				require.NotNil(t, got.Taint, name)
				require.Equal(t, tool.TaintApprove, got.Taint.Rule)
				require.Equal(t, tool.StatusPending, f.invocation(t, e.InvocationID).Status, name)
				RequireKind(t, tool.Conflict, f.Store.MarkSent(t.Context(), f.Tenant, e.EffectID, got.Fence))
				continue
			}
			e = f.Lone(t)
			e.Turn, e.EffectID = c.turn, uuid.NewString()
			got := f.admitSecret(t, e, c.secret)
			require.Equal(t, tool.StatusRunning, f.invocation(t, e.InvocationID).Status, name)
			if c.turn <= 2 {
				require.Nil(t, got.Taint, name)
			}
		}
	})

	t.Run("TheTenantSays", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.tainted(t, 1)
		for _, rule := range tool.TaintRules() {
			set, err := f.Store.SetTenantTaint(t.Context(), f.Tenant, rule)
			require.NoError(t, err)
			require.Equal(t, rule, set.Taint)
			e := f.Lone(t)
			e.Turn, e.EffectID = 2, uuid.NewString()
			ticket := f.beginSecret(t, e, true)
			require.Equal(t, rule == tool.TaintOff, ticket != nil)
			open, err := f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, f.Turn.Message.ID, "")
			require.NoError(t, err)
			if rule == tool.TaintOff {
				require.Nil(t, open.Taint)
				continue
			}
			require.Equal(t, rule, open.Taint.Rule)
			got := f.admitSecret(t, e, true)
			require.Equal(t, rule, got.Taint.Rule)
		}
		_, err := f.Store.SetTenantTaint(t.Context(), f.Tenant, "perhaps")
		RequireKind(t, tool.Invalid, err)
	})

	t.Run("PassesDownAndUpAndOn", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		clean := f.nested(t, f.Run)
		require.Nil(t, f.taint(t, clean.ID))
		f.exec(t, `update runs set taint = '{"run_id":"x","invocation_id":"y","tool":"web_fetch","version":"1.0.0","turn":4}'
			where tenant_id = $1 and id = $2`, f.Tenant, clean.ID)

		e := f.Entry(t)
		e.InvocationID, e.Nested, e.Turn = clean.Parent.InvocationID, true, 2
		e.EffectID = uuid.NewString()
		f.exec(t, `insert into effects (tenant_id, effect_id, phase, fence, attempt, invocation_id, version_digest, arguments_digest)
			select $1, $2, 'admitted', 1, 1, $3, $4, ''`, f.Tenant, e.EffectID, e.InvocationID, e.Digest)
		_, err := f.Store.Settle(t.Context(), Completed(e, 1))
		require.NoError(t, err)
		above := f.taint(t, f.Run.ID)
		require.NotNil(t, above, "the answer of a tainted run taints the run that asked")
		require.Equal(t, "web_fetch", above.Tool)
		require.Equal(t, 2, above.Turn)

		below := f.taint(t, f.nested(t, f.Run).ID)
		require.NotNil(t, below, "a run that a tainted run starts is tainted")
		require.Equal(t, above.InvocationID, below.InvocationID)
		require.Zero(t, below.Turn, "from its start")
	})
}

// underway returns a call of a turn that was admitted.
func (f *Fixture) underway(tb testing.TB, turn int) ledger.Entry {
	tb.Helper()
	e := f.Lone(tb)
	e.Turn, e.EffectID = turn, uuid.NewString()
	f.Admit(tb, e, true, true)
	return e
}

// tainted taints the fixture's run by a call of a turn.
func (f *Fixture) tainted(tb testing.TB, turn int) {
	tb.Helper()
	e := f.underway(tb, turn)
	e.Taints = true
	_, err := f.Store.Settle(tb.Context(), Completed(e, 1))
	require.NoError(tb, err)
}

func (f *Fixture) events(tb testing.TB, runID string) []tool.Event {
	tb.Helper()
	f.EventTypes(tb, runID) // They are numbered without gaps, and typed.
	events, err := f.Store.ListEvents(tb.Context(), f.Tenant, runID, 0, 0)
	require.NoError(tb, err)
	return events
}

func (f *Fixture) taint(tb testing.TB, runID string) *tool.Taint {
	tb.Helper()
	run, err := f.Store.FindRun(tb.Context(), f.Tenant, runID)
	require.NoError(tb, err)
	return run.Taint
}

// beginSecret admits a call with the journal; nil where it leaves it.
func (f *Fixture) beginSecret(tb testing.TB, e ledger.Entry, secret bool) *ledger.Ticket {
	tb.Helper()
	done, err := f.Store.Record(tb.Context(), loop.Record{
		Tenant: f.Tenant, RunID: f.Run.ID,
		Begin: []ledger.AdmitRequest{{Entry: e, Repeatable: true, Send: true, Secret: secret}},
	})
	require.NoError(tb, err)
	return done.Tickets[0]
}

func (f *Fixture) admitSecret(tb testing.TB, e ledger.Entry, secret bool) ledger.Ticket {
	tb.Helper()
	ticket, err := f.Store.Admit(tb.Context(), ledger.AdmitRequest{Entry: e, Repeatable: true, Send: true, Secret: secret})
	require.NoError(tb, err)
	return ticket
}

func (f *Fixture) exec(tb testing.TB, sql string, args ...any) {
	tb.Helper()
	_, err := f.Conn(tb).Exec(tb.Context(), sql, args...)
	require.NoError(tb, err)
}

// testTaintOfMessages tests what tainted runs write in spaces, and runs that continue tainted ones.
func testTaintOfMessages(t *testing.T, d *Database) {
	t.Helper()

	t.Run("InTheInbox", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		f.Post(t, sp, "harmless")
		require.Nil(t, f.deliver(t))
		require.NotEmpty(t, f.take(t))
		require.Nil(t, f.taint(t, f.Run.ID))

		f.author(t, f.Post(t, sp, "as the page says"))
		require.Nil(t, f.deliver(t))
		for range 2 { // An attempt that comes after sees it too.
			after, taint := f.takeUp(t)
			require.NotEmpty(t, after)
			require.NotNil(t, taint, "the turn that takes it up knows")
			require.Equal(t, tool.TaintApprove, taint.Rule)
		}
		got := f.taint(t, f.Run.ID)
		require.NotNil(t, got)
		require.Equal(t, "web_fetch", got.Tool)
		require.Equal(t, 1, got.Turn, "the calls of the turn are affected")
		f.events(t, f.Run.ID)
	})

	t.Run("OfALateResultOfATaintedRun", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.say(t, "clean")
		_, taint := f.takeUp(t)
		require.Nil(t, taint)
		e := f.underway(t, 1)
		other := f.NewRun(t)
		f.taintRun(t, other.ID)
		f.exec(t, `update tool_invocations set run_id = $3 where tenant_id = $1 and id = $2`, f.Tenant, e.InvocationID, other.ID)
		late := f.Said("late")
		late.Kind, late.CallID = agent.InboxResult, e.InvocationID
		added, err := f.Store.AddToInbox(t.Context(), late)
		require.NoError(t, err)
		require.True(t, added)
		_, taint = f.takeUp(t)
		require.NotNil(t, taint)
		require.Equal(t, other.ID, taint.RunID)
		require.Equal(t, "web_fetch", taint.Tool)
	})

	t.Run("ThatWakeAnAgent", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		sp := f.Space(t, "launch")
		f.Entered(t, sp)
		require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
			Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunCompleted, Execution: "x",
		}))
		f.author(t, f.Post(t, sp, "as the page says"))
		begin := f.deliver(t)
		require.NotNil(t, begin)
		woken, err := f.Store.AcceptWokenRun(t.Context(), f.wokenRun(t, *begin), *begin)
		require.NoError(t, err)
		got := f.taint(t, woken.ID)
		require.NotNil(t, got)
		require.Zero(t, got.Turn)
	})

	t.Run("OfARunThatIsContinued", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.tainted(t, 1)
		for _, turn := range []int{1, 0} { // Whole, and forked before the result.
			a := f.Acceptance(t)
			a.Run.Kind, a.Run.AgentID, a.Run.Agent = agent.RunKindAgent, f.Agent.ID, f.Agent.Slug
			a.Run.Continues = &agent.Continued{RunID: f.Run.ID, Turn: turn}
			run, err := f.Store.AcceptRun(t.Context(), a)
			require.NoError(t, err)
			got := f.taint(t, run.ID)
			require.NotNil(t, got)
			require.Zero(t, got.Turn)
		}
	})
}

// author makes a message one of another run, which is tainted.
func (f *Fixture) author(tb testing.TB, posted space.Posted) {
	tb.Helper()
	other := f.NewRun(tb)
	f.taintRun(tb, other.ID)
	f.exec(tb, `update space_messages set run_id = $3 where tenant_id = $1 and id = $2`, f.Tenant, posted.Message.ID, other.ID)
}

// taintRun taints a run as a call of its own would.
func (f *Fixture) taintRun(tb testing.TB, runID string) {
	tb.Helper()
	f.exec(tb, `update runs set taint = jsonb_build_object('run_id', id, 'invocation_id', id, 'tool', 'web_fetch', 'version', '1.0.1',
		'turn', 1, 'at', now()) where tenant_id = $1 and id = $2`, f.Tenant, runID)
}

// takeUp takes up the inbox of the fixture's run, and returns the run's taint with it.
func (f *Fixture) takeUp(tb testing.TB) ([]agent.Message, *tool.Taint) {
	tb.Helper()
	after, taint, err := f.Store.TakeInbox(tb.Context(), f.Tenant, f.Run.ID, f.Turn.Message.ID, 2)
	require.NoError(tb, err)
	return after, taint
}
