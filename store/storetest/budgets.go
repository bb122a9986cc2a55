package storetest

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
	"github.com/toolcrib/toolcrib/webhook"
)

// budgetCases are the foreign-tenant cases of budgets.
var budgetCases = map[string]func(t *testing.T, f foreign){
	"SetBudget": func(t *testing.T, f foreign) {
		t.Helper()
		for _, b := range []budget.Budget{{AgentID: f.Agent.ID}, {ToolID: f.Tool.ID}} {
			b.Tenant, b.Name, b.Period = f.stranger, "theirs", budget.Day
			_, err := f.Store.SetBudget(t.Context(), b)
			RequireKind(t, tool.NotFound, err)
		}
	},
	"ListBudgets": func(t *testing.T, f foreign) {
		t.Helper()
		f.budget(t, budget.Budget{Limit: 1})
		listed, err := f.Store.ListBudgets(t.Context(), f.stranger, budget.Key{}, 100)
		require.NoError(t, err)
		require.Empty(t, listed)
	},
	"BudgetsOfCall": func(t *testing.T, f foreign) {
		t.Helper()
		f.budget(t, budget.Budget{Limit: 1})
		uses, err := f.Store.BudgetsOfCall(t.Context(), f.stranger, budget.Call{ToolID: f.Tool.ID, RunID: f.Run.ID})
		require.NoError(t, err)
		require.Empty(t, uses)
	},
	"DeleteBudget": func(t *testing.T, f foreign) {
		t.Helper()
		b := f.budget(t, budget.Budget{Limit: 1})
		_, err := f.Store.DeleteBudget(t.Context(), f.stranger, budget.Key{Name: b.Name})
		RequireKind(t, tool.NotFound, err)
		_, err = f.Store.DeleteBudget(t.Context(), f.Tenant, budget.Key{Name: b.Name})
		require.NoError(t, err)
	},
	"ReserveTurn": func(t *testing.T, f foreign) {
		t.Helper()
		err := f.Store.ReserveTurn(t.Context(), f.stranger, f.Run.ID, agent.TurnEstimate{Key: "k", Models: []string{"a/b"}})
		RequireKind(t, tool.NotFound, err)
	},
	"CountRefused": func(t *testing.T, f foreign) {
		t.Helper()
		err := f.Store.CountRefused(t.Context(), f.stranger, f.Run.ID, agent.RefusedTurn{
			Key: "k", Model: "a/b", Usage: agent.Usage{InputTokens: 1},
		})
		require.NoError(t, err)
		rows, err := f.Store.Usage(t.Context(), f.stranger, usage.Query{To: time.Now().AddDate(0, 0, 1)})
		require.NoError(t, err)
		require.Empty(t, rows)
	},
}

// budget sets a budget of the fixture's tenant: of a day, where no period is given.
func (f *Fixture) budget(tb testing.TB, b budget.Budget) budget.Budget {
	tb.Helper()
	b.Tenant, b.ChangedBy = f.Tenant, "user:ada"
	if b.Name == "" {
		b.Name = "b" + uuid.NewString()
	}
	if b.Period == "" {
		b.Period = budget.Day
	}
	var budgets budget.Budgets = f.Store
	if b.ByPlatform {
		budgets = f.Platform.Budgets()
	}
	set, err := budgets.SetBudget(tb.Context(), b)
	require.NoError(tb, err)
	return set
}

// spent returns what is spent and reserved of a budget.
func (f *Fixture) spent(tb testing.TB, b budget.Budget) []usage.Micros {
	tb.Helper()
	listed, err := f.Store.ListBudgets(tb.Context(), f.Tenant, budget.Key{}, 100)
	require.NoError(tb, err)
	for _, found := range listed {
		if found.ID == b.ID {
			return []usage.Micros{found.Spent, found.Reserved}
		}
	}
	require.Fail(tb, "the budget is not listed")
	return nil
}

// try admits a call of the fixture's tool in a run, and settles it where end is given. It returns
// the error of the admission.
func (f *Fixture) try(tb testing.TB, run agent.Run, end func(*ledger.Settlement)) (ledger.Entry, error) {
	tb.Helper()
	e := f.Lone(tb)
	e.RunID, e.AgentID = run.ID, run.AgentID
	ticket, err := f.Store.Admit(tb.Context(), ledger.AdmitRequest{Entry: e, Repeatable: true, Send: true})
	if err != nil || end == nil {
		return e, err
	}
	s := Completed(e, ticket.Fence)
	end(&s)
	_, err = f.Store.Settle(tb.Context(), s)
	require.NoError(tb, err)
	return e, nil
}

func completing(*ledger.Settlement) {}

// testBudgets tests that what is spent never passes a budget whose prices are known before.
func testBudgets(t *testing.T, d *Database) {
	t.Helper()

	t.Run("AThresholdIsReportedOnce", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 10})
		f.budget(t, budget.Budget{Name: "of-the-day", Limit: 100})
		f.budget(t, budget.Budget{Name: "large", Limit: 10_000})
		hook := f.Webhook(t, func(w *webhook.Webhook) { w.Types = []tool.EventType{webhook.EventBudget} })
		other := f.Webhook(t, func(w *webhook.Webhook) { w.Types = []tool.EventType{webhook.EventQuarantined} })
		for range 7 {
			_, err := f.try(t, f.Run, completing)
			require.NoError(t, err)
		}
		require.Empty(t, f.deliveries(t, hook), "70 of 100")
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				_, err := f.try(t, f.Run, completing)
				require.NoError(t, err)
			})
		}
		all.Wait()
		sent := f.deliveries(t, hook)
		require.Len(t, sent, 1)
		var said webhook.Threshold
		require.NoError(t, json.Unmarshal(sent[0].Data, &said))
		require.Equal(t, webhook.Threshold{
			Budget: "of-the-day", Period: budget.Day, Span: said.Span, LimitMicros: 100, SpentMicros: 80, Percent: 80,
		}, said)
		require.Empty(t, f.deliveries(t, other))
		_, err := f.try(t, f.Run, completing)
		RequireKind(t, tool.Denied, err)

		uses, err := f.Store.BudgetsOfCall(t.Context(), f.Tenant, budget.Call{
			ToolID: f.Tool.ID, Version: f.Version.Number, AgentID: f.Agent.ID, RunID: f.Run.ID,
		})
		require.NoError(t, err)
		require.Len(t, uses, 2)
		for _, use := range uses {
			require.True(t, use.Priced)
			require.Equal(t, usage.Micros(10), use.Price)
			require.Equal(t, use.Name == "of-the-day", use.Refuses(), "as the admission did")
			require.False(t, use.ResetsAt.IsZero())
		}
	})

	t.Run("CallersAtOnceSpendExactlyWhatIsThere", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 3})
		b := f.budget(t, budget.Budget{Name: "of-the-day", Limit: 3*50 + 2})
		const callers = 100
		var admitted, refused atomic.Int64
		var all sync.WaitGroup
		for caller := range callers {
			all.Go(func() {
				e := f.Lone(t)
				req := ledger.AdmitRequest{Entry: e, Repeatable: true, Send: true}
				var ticket *ledger.Ticket
				if caller%2 == 0 { // As a turn's calls are begun in place.
					done, err := f.Store.Record(t.Context(), loop.Record{
						Tenant: f.Tenant, RunID: f.Run.ID, Begin: []ledger.AdmitRequest{req},
					})
					if err == nil {
						ticket = done.Tickets[0]
					}
				}
				if ticket == nil {
					single, err := f.Store.Admit(t.Context(), req)
					if tool.KindOf(err) == tool.Denied {
						refused.Add(1)
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					ticket = &single
				}
				admitted.Add(1)
				if _, err := f.Store.Settle(t.Context(), Completed(e, ticket.Fence)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.Equal(t, []int64{50, 50}, []int64{admitted.Load(), refused.Load()})
		require.Equal(t, []usage.Micros{150, 0}, f.spent(t, b))
		_, err := f.try(t, f.Run, completing)
		RequireKind(t, tool.Denied, err)
		require.Contains(t, tool.AsError(err).Msg, `the budget "of-the-day" of the tenant has too little left for this call this day`)
		require.Contains(t, tool.AsError(err).Msg, "it resets at "+budget.Day.Next(time.Now()).Format(time.RFC3339))
	})

	t.Run("WhatEndsWithoutACostGivesItBack", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 4})
		b := f.budget(t, budget.Budget{Limit: 7, Period: budget.Month})
		open, err := f.try(t, f.Run, nil)
		require.NoError(t, err)
		require.Equal(t, []usage.Micros{0, 4}, f.spent(t, b))
		_, err = f.try(t, f.Run, nil)
		RequireKind(t, tool.Denied, err)
		again := f.Admit(t, open, true, true) // Another attempt of the same call.
		require.Equal(t, []usage.Micros{0, 4}, f.spent(t, b))
		s := Completed(open, again.Fence)
		failing(&s)
		for range 2 {
			_, err = f.Store.Settle(t.Context(), s)
			require.NoError(t, err)
		}
		require.Equal(t, []usage.Micros{0, 0}, f.spent(t, b))
		_, err = f.try(t, f.Run, completing)
		require.NoError(t, err)
		require.Equal(t, []usage.Micros{4, 0}, f.spent(t, b))
	})

	t.Run("EveryLevelIsChecked", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			of   func(f *Fixture) budget.Budget
			says string
		}{
			"Tenant": {func(*Fixture) budget.Budget { return budget.Budget{} }, "of the tenant"},
			"Month":  {func(*Fixture) budget.Budget { return budget.Budget{Period: budget.Month} }, "this month; it resets"},
			"Agent":  {func(f *Fixture) budget.Budget { return budget.Budget{AgentID: f.Agent.ID} }, `of agent "support"`},
			"Tool":   {func(f *Fixture) budget.Budget { return budget.Budget{ToolID: f.Tool.ID} }, `of tool "searchOrders"`},
			"Run":    {func(*Fixture) budget.Budget { return budget.Budget{Period: budget.Run} }, "does not reset"},
			"AgentRun": {func(f *Fixture) budget.Budget {
				return budget.Budget{AgentID: f.Agent.ID, Period: budget.Run}
			}, "does not reset"},
			"Platform": {func(*Fixture) budget.Budget { return budget.Budget{ByPlatform: true} }, "the platform's budget"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f := NewFixture(t, d)
				f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 5})
				f.budget(t, budget.Budget{Limit: 1000}) // Another one has enough.
				b := c.of(f)
				b.Limit = 5
				b = f.budget(t, b)
				_, err := f.try(t, f.Run, completing)
				require.NoError(t, err)
				_, err = f.try(t, f.Run, completing)
				RequireKind(t, tool.Denied, err)
				require.Contains(t, tool.AsError(err).Msg, c.says)
				require.Equal(t, []usage.Micros{5, 0}, f.spent(t, b))

				child := f.nested(t, f.Run)
				_, err = f.try(t, child, completing)
				RequireKind(t, tool.Denied, err) // What a run lets others do counts in its budgets.
				if b.Period == budget.Run {
					_, err = f.try(t, f.NewRun(t), completing)
					require.NoError(t, err, "each run has its own")
				}
			})
		}
	})

	t.Run("OtherAgentsAndToolsAreFree", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 5})
		other, _ := f.Publish(t, "other", tool.Policy{})
		f.budget(t, budget.Budget{AgentID: f.newAgent(t, "billing").ID})
		f.budget(t, budget.Budget{ToolID: other.ID})
		_, err := f.try(t, f.Run, completing)
		require.NoError(t, err)
		f.budget(t, budget.Budget{}) // Of nothing.
		_, err = f.try(t, f.Run, completing)
		RequireKind(t, tool.Denied, err)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 0})
		_, err = f.try(t, f.Run, completing)
		require.NoError(t, err, "what is free is never refused")
	})

	t.Run("ACallThatIsHeldReservesWhenItIsApproved", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 5})
		b := f.budget(t, budget.Budget{Limit: 5})
		e := f.Entry(t)
		f.Admit(t, e, true, true)
		require.Equal(t, []usage.Micros{0, 0}, f.spent(t, b))
		f.decide(t, f.Ask(t, f.Request(t, e)), "user:bob", true)
		f.Admit(t, e, true, true)
		require.Equal(t, []usage.Micros{0, 5}, f.spent(t, b))
	})

	t.Run("UnitsAreReservedAsTheyAreExpected", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 1, Unit: &usage.Unit{Pointer: "/n", Micros: 2, Expected: 10}})
		b := f.budget(t, budget.Budget{Limit: 30})
		open, err := f.try(t, f.Run, nil)
		require.NoError(t, err)
		require.Equal(t, []usage.Micros{0, 21}, f.spent(t, b))
		s := Completed(open, 1)
		answering(`{"n":17}`)(&s)
		_, err = f.Store.Settle(t.Context(), s)
		require.NoError(t, err)
		require.Equal(t, []usage.Micros{35, 0}, f.spent(t, b), "what was used is what counts")
		_, err = f.try(t, f.Run, nil)
		RequireKind(t, tool.Denied, err)
	})

	t.Run("TurnsReserveUntilTheyAreStored", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{Model: "acme/small", Tokens: &usage.Rates{Input: 1_000_000, Output: 4_000_000}})
		b := f.budget(t, budget.Budget{Limit: 1000})
		f.budget(t, budget.Budget{ToolID: f.Tool.ID, Limit: 0})
		turn := f.TurnOf(t, f.Turn.Message.ID, 2)
		turn.Model = "acme/small"
		turn.Message.Usage = &agent.Usage{InputTokens: 50, OutputTokens: 10}
		estimate := agent.TurnEstimate{
			Key: turn.Key, Models: []string{"acme/free", "acme/small"}, InputTokens: 100, OutputTokens: 200,
		}
		for range 2 { // The second attempt has it.
			require.NoError(t, f.Store.ReserveTurn(t.Context(), f.Tenant, f.Run.ID, estimate))
		}
		require.Equal(t, []usage.Micros{0, 900}, f.spent(t, b))
		another := f.NewRun(t)
		err := f.Store.ReserveTurn(t.Context(), f.Tenant, another.ID, estimate)
		RequireKind(t, tool.Denied, err)
		require.Contains(t, tool.AsError(err).Msg, "too little left for this turn of the model")
		_, err = f.Store.SaveTurn(t.Context(), turn)
		require.NoError(t, err)
		require.Equal(t, []usage.Micros{90, 0}, f.spent(t, b))
		estimate.Models = []string{"acme/free"}
		require.NoError(t, f.Store.ReserveTurn(t.Context(), f.Tenant, f.Run.ID, estimate), "a model without a price")

		open, err := f.Store.OpenTurn(t.Context(), f.Tenant, f.Run.ID, turn.Message.ParentID, "next")
		require.NoError(t, err)
		require.True(t, open.Budgeted)

		estimate.Models = []string{"acme/small"}
		require.NoError(t, f.Store.ReserveTurn(t.Context(), f.Tenant, f.Run.ID, estimate))
		require.Equal(t, []usage.Micros{90, 900}, f.spent(t, b))
		require.NoError(t, f.Store.FinishRun(t.Context(), agent.RunEnd{
			Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunFailed, Kind: tool.Unavailable, Execution: "e",
		}))
		require.Equal(t, []usage.Micros{90, 0}, f.spent(t, b), "a turn that was never answered costs nothing")
		require.NoError(t, f.Store.ReserveTurn(t.Context(), f.Tenant, f.Run.ID, estimate))
		require.Equal(t, []usage.Micros{90, 0}, f.spent(t, b), "nor does one of a run that has ended")
	})

	t.Run("AreChangedAndDeleted", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 5})
		first := f.budget(t, budget.Budget{Name: "b", Limit: 5})
		_, err := f.try(t, f.Run, completing)
		require.NoError(t, err)
		_, err = f.try(t, f.Run, completing)
		RequireKind(t, tool.Denied, err)
		more := f.budget(t, budget.Budget{Name: "b", Limit: 10, AgentID: f.Agent.ID})
		require.Equal(t, first.ID, more.ID)
		require.Equal(t, []usage.Micros{5, 0}, []usage.Micros{more.Spent, more.Reserved})
		require.Equal(t, "support", more.Agent)
		_, err = f.try(t, f.Run, completing)
		require.NoError(t, err)
		open, err := f.try(t, f.Run, nil)
		RequireKind(t, tool.Denied, err)

		f.budget(t, budget.Budget{Name: "b", Limit: 9, ByPlatform: true})
		listed, err := f.Store.ListBudgets(t.Context(), f.Tenant, budget.Key{Name: "b"}, 10)
		require.NoError(t, err)
		require.Len(t, listed, 1)
		require.True(t, listed[0].ByPlatform)
		_, err = f.Store.DeleteBudget(t.Context(), f.Tenant, budget.Key{Name: "b", ByPlatform: true})
		RequireKind(t, tool.NotFound, err) // A tenant does not lift what the platform set.
		theirs := listed[0]
		theirs.Limit, theirs.ID = 1000, ""
		mine, err := f.Store.SetBudget(t.Context(), theirs)
		require.NoError(t, err)
		require.False(t, mine.ByPlatform, "it sets its own")
		_, err = f.Platform.Budgets().SetBudget(t.Context(), budget.Budget{
			Tenant: f.Tenant, Name: "b", Period: budget.Day, AgentID: f.Agent.ID,
		})
		RequireKind(t, tool.Invalid, err)

		gone, err := f.Store.DeleteBudget(t.Context(), f.Tenant, budget.Key{Name: "b"})
		require.NoError(t, err)
		require.Equal(t, more.ID, gone.ID)
		f.Admit(t, open, true, true)
		_, err = f.Platform.Budgets().DeleteBudget(t.Context(), f.Tenant, budget.Key{Name: "b", ByPlatform: true})
		require.NoError(t, err)
		_, err = f.Store.DeleteBudget(t.Context(), f.Tenant, budget.Key{Name: "b"})
		RequireKind(t, tool.NotFound, err)
	})

	t.Run("AreChecked", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		for _, b := range []budget.Budget{
			{Name: "", Period: budget.Day},
			{Name: "Upper", Period: budget.Day},
			{Name: "b", Period: "week"},
			{Name: "b", Period: budget.Day, Limit: -1},
			{Name: "b", Period: budget.Day, Limit: budget.MaxLimit + 1},
		} {
			b.Tenant = f.Tenant
			_, err := f.Store.SetBudget(t.Context(), b)
			RequireKind(t, tool.Invalid, err)
		}
	})
}
