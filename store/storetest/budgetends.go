package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

// modelPrice sets the prices of a model of its own for the fixture's tenant and for the platform, in
// millionths a token; the platform sets none where it is negative.
func (f *Fixture) modelPrice(tb testing.TB, tenant, platform usage.Micros) string {
	tb.Helper()
	model := "acme/" + uuid.NewString()
	f.price(tb, usage.Price{Model: model, Tokens: &usage.Rates{Input: tenant * 1_000_000, Output: tenant * 1_000_000}})
	if platform >= 0 {
		_, err := f.Platform.Prices().SetPrice(tb.Context(), usage.Price{
			Model: model, ChangedBy: "operator",
			Tokens: &usage.Rates{Input: platform * 1_000_000, Output: platform * 1_000_000},
		})
		require.NoError(tb, err)
	}
	return model
}

func (f *Fixture) reserve(tb testing.TB, run agent.Run, key, model string, tokens int) error {
	tb.Helper()
	return f.Store.ReserveTurn(tb.Context(), f.Tenant, run.ID, agent.TurnEstimate{
		Key: key, Models: []string{model}, InputTokens: tokens,
	})
}

// testBudgetEnds tests what budgets count where a call or a turn ends in an unusual way, and by
// whose prices.
func testBudgetEnds(t *testing.T, d *Database) {
	t.Helper()

	t.Run("ThePlatformMeasuresByItsOwnPrices", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct{ tenant, platform, counts usage.Micros }{
			"FreeByTheTenant": {0, 3, 3},
			"DearByTheTenant": {9, 3, 3},
			"OnlyTheTenants":  {4, -1, 4},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f := NewFixture(t, d)
				model := f.modelPrice(t, c.tenant, c.platform)
				limit := f.budget(t, budget.Budget{Name: "cap", Limit: c.counts * 150, ByPlatform: true})
				own := f.budget(t, budget.Budget{Name: "own", Limit: 1_000_000})
				turn := f.TurnOf(t, f.Turn.Message.ID, 2)
				turn.Model, turn.Message.Usage = model, &agent.Usage{InputTokens: 90, OutputTokens: 10}
				require.NoError(t, f.reserve(t, f.Run, turn.Key, model, 120))
				require.Equal(t, []usage.Micros{0, c.counts * 120}, f.spent(t, limit))
				_, err := f.Store.SaveTurn(t.Context(), turn)
				require.NoError(t, err)
				require.Equal(t, []usage.Micros{c.counts * 100, 0}, f.spent(t, limit))
				require.Equal(t, []usage.Micros{c.tenant * 100, 0}, f.spent(t, own))
				RequireKind(t, tool.Denied, f.reserve(t, f.NewRun(t), "k", model, 51))
			})
		}
	})

	t.Run("ARemovedBudgetFailsNoCall", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 1})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 25 {
					if _, err := f.try(t, f.Run, completing); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for range 25 {
			b := f.budget(t, budget.Budget{Name: "short-lived", Limit: 1_000_000})
			_, err := f.Store.DeleteBudget(t.Context(), f.Tenant, budget.Key{Name: b.Name})
			require.NoError(t, err)
		}
		all.Wait()
	})

	t.Run("TasksCountInTheBudgetsOfWhoBeganThem", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 5})
		each := f.budget(t, budget.Budget{Period: budget.Run, Limit: 8})
		task := f.nested(t, f.Run)
		_, err := f.Conn(t).Exec(t.Context(), "update runs set detached = true where id = $1", task.ID)
		require.NoError(t, err)
		_, err = f.try(t, task, completing)
		require.NoError(t, err)
		require.Equal(t, []usage.Micros{5, 0}, f.spent(t, each))
		_, err = f.try(t, f.Run, completing)
		RequireKind(t, tool.Denied, err)
	})

	t.Run("ATurnWithoutTokensSpendsWhatItReserved", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		model := f.modelPrice(t, 2, -1)
		b := f.budget(t, budget.Budget{Limit: 1000})
		turn := f.TurnOf(t, f.Turn.Message.ID, 2)
		turn.Model, turn.Message.Usage = model, nil
		require.NoError(t, f.reserve(t, f.Run, turn.Key, model, 60))
		_, err := f.Store.SaveTurn(t.Context(), turn)
		require.NoError(t, err)
		require.Equal(t, []usage.Micros{120, 0}, f.spent(t, b))
		rows := f.used(t, usage.ByModel)
		require.Len(t, rows, 2)
		for _, row := range rows {
			if row.Model == model {
				require.Equal(t, int64(1), row.UnpricedTurns)
			}
		}
	})

	t.Run("ATurnTakesThePlaceOfOneLeftOpen", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		model := f.modelPrice(t, 1, -1)
		f.budget(t, budget.Budget{Limit: 100, Period: budget.Run})
		require.NoError(t, f.reserve(t, f.Run, "execution-1/turn", model, 60))
		require.NoError(t, f.reserve(t, f.Run, "execution-2/turn", model, 60), "of an execution after a reset")
		end := agent.RunEnd{
			Tenant: f.Tenant, RunID: f.Run.ID, Status: agent.RunFailed, Kind: tool.Unavailable, Execution: "1",
		}
		require.NoError(t, f.Store.FinishRun(t.Context(), end))
		require.NoError(t, f.reserve(t, f.Run, "execution-3/turn", model, 60))
		end.Execution, end.Status = "2", agent.RunCancelled
		require.NoError(t, f.Store.FinishRun(t.Context(), end))
		var holds int
		require.NoError(t, f.Conn(t).QueryRow(t.Context(),
			"select count(*) from budget_holds where tenant_id = $1", f.Tenant).Scan(&holds))
		require.Zero(t, holds, "a run that ends again leaves nothing reserved")
	})

	t.Run("ACallThatAsksAgainReservesNothing", func(t *testing.T) {
		t.Parallel()
		f := guarded(t, d)
		f.price(t, usage.Price{ToolID: f.Tool.ID, Call: 5})
		b := f.budget(t, budget.Budget{Limit: 5})
		e := f.Entry(t)
		f.Admit(t, e, true, true)
		f.decide(t, f.Ask(t, f.Request(t, e)), "user:bob", true)
		f.Admit(t, e, true, true)
		require.Equal(t, []usage.Micros{0, 5}, f.spent(t, b))
		again := f.Request(t, e)
		again.Target.Host = "elsewhere.example.com"
		again.Binding = bind(t, again.Target, f.Turn.Calls[0].Arguments)
		f.Ask(t, again)
		require.Equal(t, []usage.Micros{0, 0}, f.spent(t, b))
	})

	t.Run("RefusedTurnsAreCounted", func(t *testing.T) {
		t.Parallel()
		f := NewFixture(t, d)
		model := f.modelPrice(t, 2, -1)
		b := f.budget(t, budget.Budget{Limit: 1000})
		require.NoError(t, f.reserve(t, f.Run, "k", model, 100))
		require.NoError(t, f.Store.CountRefused(t.Context(), f.Tenant, f.Run.ID, agent.RefusedTurn{
			Key: "k", Model: model, Usage: agent.Usage{InputTokens: 90, OutputTokens: 60},
		}))
		require.Equal(t, []usage.Micros{300, 0}, f.spent(t, b))
		rows, err := f.Store.Usage(t.Context(), f.Tenant, usage.Query{
			By: []usage.Group{usage.ByModel}, To: time.Now().AddDate(0, 0, 1),
		})
		require.NoError(t, err)
		require.Contains(t, rows, usage.Row{
			Model: model, Counts: usage.Counts{Turns: 1, InputTokens: 90, OutputTokens: 60, Cost: 300},
		})
	})
}
