package storetest

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

// usageCases are the foreign-tenant cases of prices and of what was used.
var usageCases = map[string]func(t *testing.T, f foreign){
	"SetPrice": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.SetPrice(t.Context(), usage.Price{Tenant: f.stranger, ToolID: f.Tool.ID, Call: 1})
		RequireKind(t, tool.NotFound, err)
	},
	"ListPrices": func(t *testing.T, f foreign) {
		t.Helper()
		price := f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 1})
		listed, err := f.Store.ListPrices(t.Context(), f.stranger, "", 1000)
		require.NoError(t, err)
		for _, p := range listed {
			require.Empty(t, p.Tenant)
			require.NotEqual(t, price.ID, p.ID)
		}
	},
	"DeletePrice": func(t *testing.T, f foreign) {
		t.Helper()
		price := f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 1})
		_, err := f.Store.DeletePrice(t.Context(), f.stranger, price.ID)
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.DeletePrice(t.Context(), f.Tenant, price.ID)
		require.NoError(t, err)
	},
	"Usage": func(t *testing.T, f foreign) {
		t.Helper()
		require.NotEmpty(t, f.used(t, usage.ByModel))
		rows, err := f.Store.Usage(t.Context(), f.stranger, usage.Query{To: time.Now().AddDate(1, 0, 0)})
		require.NoError(t, err)
		require.Empty(t, rows)
	},
	"RunUsage": func(t *testing.T, f foreign) {
		t.Helper()
		_, err := f.Store.RunUsage(t.Context(), f.stranger, f.Run.ID)
		RequireKind(t, tool.NotFound, err)
	},
}

// price sets a price of the fixture's tenant.
func (f *Fixture) price(tb testing.TB, p usage.Price) usage.Price {
	tb.Helper()
	p.Tenant, p.ChangedBy = f.Tenant, "user:ada"
	stored, err := f.Store.SetPrice(tb.Context(), p)
	require.NoError(tb, err)
	return stored
}

// used returns what the fixture's tenant used, by groups.
func (f *Fixture) used(tb testing.TB, by ...usage.Group) []usage.Row {
	tb.Helper()
	rows, err := f.Store.Usage(tb.Context(), f.Tenant, usage.Query{By: by, To: time.Now().AddDate(0, 0, 1)})
	require.NoError(tb, err)
	return rows
}

// call admits a call of the fixture's tool and settles it.
func (f *Fixture) call(tb testing.TB, change func(*ledger.Settlement)) string {
	tb.Helper()
	e := f.Lone(tb)
	ticket := f.Admit(tb, e, true, true)
	s := Completed(e, ticket.Fence)
	if change != nil {
		change(&s)
	}
	_, err := f.Store.Settle(tb.Context(), s)
	require.NoError(tb, err)
	return e.InvocationID
}

// cost returns the cost that a call was stored with; -1 for none.
func (f *Fixture) cost(tb testing.TB, invocation string) int64 {
	tb.Helper()
	i, err := f.Store.FindInvocation(tb.Context(), f.Tenant, invocation)
	require.NoError(tb, err)
	if i.CostMicros == nil {
		return -1
	}
	return *i.CostMicros
}

func answering(structured string) func(*ledger.Settlement) {
	return func(s *ledger.Settlement) { s.Result = tool.JSONResult(json.RawMessage(structured)) }
}

func failing(s *ledger.Settlement) {
	s.Status, s.Result, s.Kind, s.Msg = tool.StatusFailed, nil, tool.Unavailable, "away"
}

// testUsage tests that calls and turns are counted once, whatever ends them.
func testUsage(t *testing.T, d *Database) {
	t.Helper()

	t.Run("CallsAndTurnsAreCountedOnce", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		first := usage.Counts{Turns: 1, InputTokens: 11, OutputTokens: 7, UnpricedTurns: 1}
		require.Equal(t, []usage.Row{{Counts: first}}, f.used(t))

		turn := f.TurnOf(t, f.Turn.Message.ID, 2)
		turn.Model = "acme/small"
		turn.Message.Usage = &agent.Usage{InputTokens: 100, CachedInputTokens: 40, OutputTokens: 30, ReasoningTokens: 20}
		for range 2 { // The second attempt finds it stored.
			_, err := f.Store.SaveTurn(t.Context(), turn)
			require.NoError(t, err)
		}
		f.call(t, nil)
		f.call(t, failing)
		e := f.Lone(t)
		settled := Completed(e, f.Admit(t, e, true, true).Fence)
		for range 2 {
			_, err := f.Store.Settle(t.Context(), settled)
			require.NoError(t, err)
		}
		open := f.Lone(t)
		f.Admit(t, open, true, true)
		refused := f.Lone(t) // It ends without having begun.
		_, err := f.Store.Settle(t.Context(), ledger.Settlement{
			Entry: refused, Status: tool.StatusFailed, Kind: tool.Denied, Msg: "no",
		})
		require.NoError(t, err)

		rows := f.used(t, usage.ByTool)
		require.Len(t, rows, 1)
		require.Equal(t, f.Tool.Slug, rows[0].Tool)
		require.Equal(t, []int64{3, 1, 0, 0}, []int64{rows[0].Calls, rows[0].FailedCalls, rows[0].Turns, int64(rows[0].Cost)})
		require.Equal(t, []usage.Row{
			{Model: "", Counts: first},
			{Model: "acme/small", Counts: usage.Counts{
				Turns: 1, InputTokens: 100, CachedInputTokens: 40, OutputTokens: 30, ReasoningTokens: 20, UnpricedTurns: 1,
			}},
		}, f.used(t, usage.ByModel))
		agents := f.used(t, usage.ByAgent, usage.ByDay)
		require.Len(t, agents, 1)
		require.Equal(t, []string{f.Agent.ID, f.Agent.Slug}, []string{agents[0].AgentID, agents[0].Agent})
		require.Regexp(t, `^\d{4}-\d\d-\d\d$`, agents[0].Day)
		require.EqualValues(t, 3, agents[0].Calls)
		require.EqualValues(t, 2, agents[0].Turns)

		run, err := f.Store.RunUsage(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		whole := f.used(t)[0].Counts
		whole.CallMS = run.Whole.CallMS // Each call is rounded in the counters.
		require.Equal(t, whole, run.Whole, "the run has what its tenant has")
		require.Len(t, run.Turns, 2)
		require.Equal(t, "acme/small", run.Turns[1].Model)
	})

	t.Run("TheJournalCountsWhatTheStatementsCount", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 300})
		f.price(t, usage.Price{Model: "acme/small", Tokens: &usage.Rates{Input: 1_000_000, Output: 4_000_000}})
		turn := f.TurnOf(t, f.Turn.Message.ID, 2)
		turn.Model = "acme/small"
		turn.Message.Usage = &agent.Usage{InputTokens: 50, CachedInputTokens: 20, OutputTokens: 10, ReasoningTokens: 3}
		e := f.EntryOf(f.Run, turn, "effect-"+uuid.NewString())
		e.ArgumentsStored, e.Arguments = false, json.RawMessage(`{"q":"a"}`)
		began, err := f.Store.Record(t.Context(), loop.Record{
			Tenant: f.Tenant, RunID: f.Run.ID, Turn: &turn,
			Begin: []ledger.AdmitRequest{{Entry: e, Repeatable: true, Send: true}},
		})
		require.NoError(t, err)
		require.NotNil(t, began.Tickets[0])
		_, err = f.Store.Record(t.Context(), loop.Record{
			Tenant: f.Tenant, RunID: f.Run.ID, Ended: []ledger.Settlement{Completed(e, began.Tickets[0].Fence)},
		})
		require.NoError(t, err)
		require.EqualValues(t, 300, f.cost(t, e.InvocationID))
		rows := f.used(t, usage.ByModel)
		require.Len(t, rows, 2)
		require.Equal(t, usage.Counts{
			Turns: 1, InputTokens: 50, CachedInputTokens: 20, OutputTokens: 10, ReasoningTokens: 3, Cost: 50 + 40,
		}, rows[1].Counts)
		require.EqualValues(t, 300, f.used(t, usage.ByTool)[0].Cost)
	})

	t.Run("CallsAtOnceAreAllCounted", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 7})
		const callers, each = 16, 4
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				for range each {
					e := f.Lone(t)
					ticket, err := f.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: e, Repeatable: true, Send: true})
					if err == nil {
						_, err = f.Store.Settle(t.Context(), Completed(e, ticket.Fence))
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		row := f.used(t, usage.ByTool)[0]
		require.EqualValues(t, callers*each, row.Calls)
		require.EqualValues(t, callers*each*7, row.Cost)
		var shards int
		require.NoError(t, f.Conn(t).QueryRow(t.Context(),
			"select count(*) from usage_days where tenant_id = $1 and tool <> ''", f.Tenant).Scan(&shards))
		require.LessOrEqual(t, shards, callers, "as many rows as transactions were open at once, not as calls")
	})

	t.Run("ReportsAreOfTheirDays", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		ago := time.Now().UTC().AddDate(0, 0, -3)
		_, err := f.Conn(t).Exec(t.Context(), "update usage_days set day = $2 where tenant_id = $1", f.Tenant, ago)
		require.NoError(t, err)
		for _, c := range []struct{ from, to, want int }{{-3, -3, 1}, {-9, -4, 0}, {-2, 0, 0}, {-9, 0, 1}} {
			now := time.Now().UTC()
			rows, err := f.Store.Usage(t.Context(), f.Tenant, usage.Query{
				By: []usage.Group{usage.ByDay}, From: now.AddDate(0, 0, c.from), To: now.AddDate(0, 0, c.to),
			})
			require.NoError(t, err)
			require.Len(t, rows, c.want)
		}
	})
}

// testPrices tests which price counts, and what it makes of what was reported.
func testPrices(t *testing.T, d *Database) {
	t.Helper()

	t.Run("Calls", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		require.EqualValues(t, -1, f.cost(t, f.call(t, nil)), "no price, no cost")
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 100, Unit: &usage.Unit{Pointer: "/used/a~1b", Micros: 30}})
		for structured, want := range map[string]int64{
			`{"used":{"a/b":2}}`: 160, `{"used":{"a/b":0.5}}`: 115, `{"used":{"a/b":-2}}`: 100,
			`{"used":{"a/b":"2 pages"}}`: 100, `{"used":{"a/b":1e400}}`: 100, `{"used":{}}`: 100, `[1]`: 100, `null`: 100,
			`{"used":{"a/b":100000000000000000000}}`: 100,
		} {
			require.Equal(t, want, f.cost(t, f.call(t, answering(structured))), structured)
		}
		require.Zero(t, f.cost(t, f.call(t, failing)), "what failed costs nothing")
		require.EqualValues(t, 100, f.cost(t, f.call(t, func(s *ledger.Settlement) {
			s.Status, s.Result, s.Kind, s.Msg = tool.StatusUnknown, nil, tool.Unknown, ledger.UnknownMessage
		})), "what may have happened costs what it would have")
	})

	// What a tool reports never keeps its call from ending.
	t.Run("AreBounded", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{
			ToolID: f.Tool.ID, Call: usage.MaxMicros, Unit: &usage.Unit{Pointer: "/n", Micros: usage.MaxMicros},
		})
		require.Equal(t, int64(usage.MaxMicros)*1000, f.cost(t, f.call(t, answering(`{"n":999999999999}`))))
		_, err := f.Conn(t).Exec(t.Context(), "update usage_days set cost_micros = 9e18 where tenant_id = $1", f.Tenant)
		require.NoError(t, err)
		require.Equal(t, int64(usage.MaxMicros)*1000, f.cost(t, f.call(t, answering(`{"n":999999999999}`))))
		rows, err := f.Store.Usage(t.Context(), f.Tenant, usage.Query{
			By: []usage.Group{usage.ByTool}, From: time.Now().AddDate(0, 0, -1), To: time.Now().AddDate(0, 0, 1),
		})
		require.NoError(t, err)
		require.NotEmpty(t, rows)
	})

	t.Run("WhichOneCounts", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		now := time.Now()
		later, past, over := now.Add(time.Hour), now.Add(-2*time.Hour), now.Add(-time.Hour)
		cost := func() int64 { return f.cost(t, f.call(t, nil)) }
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 1, From: past})
		require.EqualValues(t, 1, cost())
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 2, From: later})
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 3, From: past.Add(time.Minute), Until: &over})
		require.EqualValues(t, 1, cost(), "neither before its time nor after it")
		newer := f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 4, From: over})
		require.EqualValues(t, 4, cost())
		f.price(t, usage.Price{ToolID: f.Tool.ID, Version: "9.9.9", Call: 5})
		require.EqualValues(t, 4, cost())
		f.price(t, usage.Price{ToolID: f.Tool.ID, Version: f.Version.Number, Call: 6, From: past})
		require.EqualValues(t, 6, cost(), "that of the version comes first")
		replaced := f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 7, From: over})
		require.Equal(t, newer.ID, replaced.ID)

		listed, err := f.Store.ListPrices(t.Context(), f.Tenant, "", 100)
		require.NoError(t, err)
		require.Equal(t, f.Tool.Slug, listed[0].Tool)
	})

	t.Run("OfThePlatform", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		model := "acme/" + uuid.NewString()
		shared := f.Platform.Prices()
		set, err := shared.SetPrice(t.Context(), usage.Price{Model: model, Tokens: &usage.Rates{Input: 3_000_000, Output: 0}})
		require.NoError(t, err)
		turn := func() usage.Micros {
			turn := f.TurnOf(t, f.Turn.Message.ID, 2)
			turn.Model = model
			_, err := f.Store.SaveTurn(t.Context(), turn)
			require.NoError(t, err)
			used, err := f.Store.RunUsage(t.Context(), f.Tenant, f.Run.ID)
			require.NoError(t, err)
			return used.Turns[len(used.Turns)-1].Cost
		}
		require.EqualValues(t, 33, turn())
		f.price(t, usage.Price{Model: model, Tokens: &usage.Rates{Input: 1_000_000, Output: 1_000_000}})
		require.EqualValues(t, 18, turn(), "the tenant's comes first")
		_, err = f.Store.DeletePrice(t.Context(), f.Tenant, set.ID)
		RequireKind(t, tool.NotFound, err)
		_, err = shared.SetPrice(t.Context(), usage.Price{ToolID: f.Tool.ID, Call: 1})
		RequireKind(t, tool.NotFound, err)
		_, err = shared.DeletePrice(t.Context(), "", set.ID)
		require.NoError(t, err)
	})

	t.Run("Tokens", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		cached, reasoning := usage.Micros(100_000), usage.Micros(5_000_000)
		f.price(t, usage.Price{Model: "acme/all", Tokens: &usage.Rates{
			Input: 1_000_000, Cached: &cached, Output: 2_000_000, Reasoning: &reasoning,
		}})
		turn := f.TurnOf(t, f.Turn.Message.ID, 2)
		turn.Model = "acme/all"
		turn.Message.Usage = &agent.Usage{InputTokens: 1000, CachedInputTokens: 600, OutputTokens: 100, ReasoningTokens: 30}
		_, err := f.Store.SaveTurn(t.Context(), turn)
		require.NoError(t, err)
		used, err := f.Store.RunUsage(t.Context(), f.Tenant, f.Run.ID)
		require.NoError(t, err)
		require.EqualValues(t, 400+60+140+150, used.Turns[1].Cost)
		require.Zero(t, used.Turns[1].UnpricedTurns)
	})
}
