package store

import (
	"context"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

var _ budget.Budgets = (*Store)(nil)

// Budgets returns the budgets that the platform sets for tenants. They name no agent, no tool
// and no profile, of which the platform knows nothing.
func (p *Platform) Budgets() budget.Budgets { return platformBudgets{p.store} }

// platformBudgets acts as the owner of the tables, outside any tenant.
type platformBudgets struct{ store *Store }

func (p platformBudgets) SetBudget(ctx context.Context, b budget.Budget) (budget.Budget, error) {
	if b.AgentID != "" || b.ToolID != "" || b.ProfileID != "" {
		return budget.Budget{}, &tool.Error{
			Kind: tool.Invalid, Op: "store.SetBudget",
			Msg: "a budget of the platform is for all of a tenant: it names no agent, no tool and no profile",
		}
	}
	b.ByPlatform = true
	return p.store.setBudget(ctx, "", b)
}

func (p platformBudgets) ListBudgets(
	ctx context.Context, tenant tool.TenantID, after budget.Key, limit int,
) ([]budget.Budget, error) {
	return p.store.listBudgets(ctx, "", tenant, after, limit)
}

func (p platformBudgets) DeleteBudget(
	ctx context.Context, tenant tool.TenantID, key budget.Key,
) (budget.Budget, error) {
	key.ByPlatform = true
	return p.store.deleteBudget(ctx, "", tenant, key)
}

// SetBudget implements [budget.Budgets]. An empty id is generated; that of a budget that it
// replaces stays. It is one of the tenant, whatever ByPlatform says.
func (s *Store) SetBudget(ctx context.Context, b budget.Budget) (budget.Budget, error) {
	b.ByPlatform = false
	return s.setBudget(ctx, b.Tenant, b)
}

// setBudget sets a budget in a transaction of the given tenant, or of none.
func (s *Store) setBudget(ctx context.Context, as tool.TenantID, b budget.Budget) (budget.Budget, error) {
	const op = "store.SetBudget"
	if err := b.Check(); err != nil {
		return budget.Budget{}, err
	}
	id, err := idOrNew(b.ID)
	if err != nil {
		return budget.Budget{}, err
	}
	if err := checkIDs(op, id, string(b.Tenant), b.AgentID, b.ToolID, b.ProfileID); err != nil {
		return budget.Budget{}, err
	}
	var rows []db.ListBudgetsRow
	err = s.do(ctx, op, as, func(q *db.Queries) error {
		if _, err := q.SetBudget(ctx, db.SetBudgetParams{
			TenantID: string(b.Tenant), ID: id, Name: b.Name, ByPlatform: b.ByPlatform, AgentID: optional(b.AgentID),
			ToolID: optional(b.ToolID), ProfileID: optional(b.ProfileID), Period: string(b.Period),
			LimitMicros: int64(b.Limit), ChangedBy: text(b.ChangedBy),
		}); err != nil {
			return err
		}
		rows, err = q.ListBudgets(ctx, db.ListBudgetsParams{
			TenantID: string(b.Tenant), Name: &b.Name, Limit: 2,
		})
		return err
	})
	if err != nil {
		return budget.Budget{}, explain(err, tool.NotFound, "the tenant has no such agent, tool or profile")
	}
	for _, row := range rows {
		if row.Budget.ByPlatform == b.ByPlatform {
			return budgetOf(row), nil
		}
	}
	return budget.Budget{}, notFound(op, "budget not found")
}

// ListBudgets implements [budget.Budgets].
func (s *Store) ListBudgets(
	ctx context.Context, tenant tool.TenantID, after budget.Key, limit int,
) ([]budget.Budget, error) {
	return s.listBudgets(ctx, tenant, tenant, after, limit)
}

func (s *Store) listBudgets(
	ctx context.Context, as, tenant tool.TenantID, after budget.Key, limit int,
) ([]budget.Budget, error) {
	rows, err := ask(ctx, s.do, "store.ListBudgets", as, (*db.Queries).ListBudgets, db.ListBudgetsParams{
		TenantID: string(tenant), After: text(after.Name), AfterPlatform: after.ByPlatform, Limit: pageSize(limit),
	})
	return convert(rows, budgetOf), err
}

// BudgetsOfCall returns the budgets that a call of a version counts in, by an agent and in a run, where
// there are those: what is used of each in its present period, and what the call reserves.
func (s *Store) BudgetsOfCall(
	ctx context.Context, tenant tool.TenantID, call budget.Call,
) ([]budget.Use, error) {
	const op = "store.BudgetsOfCall"
	if err := checkIDs(op, call.ToolID, call.AgentID, call.RunID); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.do, op, tenant, (*db.Queries).BudgetsOfCall, db.BudgetsOfCallParams{
		TenantID: string(tenant), ToolID: call.ToolID, Version: text(call.Version), AgentID: optional(call.AgentID),
		RunID: optional(call.RunID),
	})
	return convert(rows, func(r db.BudgetsOfCallRow) budget.Use {
		use := budget.Use{Priced: r.PriceMicros >= 0, Budget: budgetOf(db.ListBudgetsRow{
			Budget: r.Budget, Agent: r.Agent, Tool: r.Tool, Profile: r.Profile, SpentMicros: r.SpentMicros,
			ReservedMicros: r.ReservedMicros, At: r.At,
		})}
		if use.Priced {
			use.Price = usage.Micros(r.PriceMicros)
		}
		return use
	}), err
}

// DeleteBudget implements [budget.Budgets], for budgets of the tenant.
func (s *Store) DeleteBudget(ctx context.Context, tenant tool.TenantID, key budget.Key) (budget.Budget, error) {
	return s.deleteBudget(ctx, tenant, tenant, key)
}

func (s *Store) deleteBudget(
	ctx context.Context, as, tenant tool.TenantID, key budget.Key,
) (budget.Budget, error) {
	row, err := ask(ctx, s.do, "store.DeleteBudget", as, (*db.Queries).DeleteBudget, db.DeleteBudgetParams{
		TenantID: string(tenant), ByPlatform: key.ByPlatform, Name: text(key.Name),
	})
	if err != nil {
		return budget.Budget{}, explain(err, tool.NotFound, "budget not found")
	}
	return budgetOf(db.ListBudgetsRow{Budget: row}), nil
}

// ReserveTurn implements [agent.Runs].
func (s *Store) ReserveTurn(ctx context.Context, tenant tool.TenantID, runID string, t agent.TurnEstimate) error {
	const op = "store.ReserveTurn"
	if err := checkIDs(op, runID); err != nil {
		return err
	}
	raw, err := ask(ctx, s.do, op, tenant, (*db.Queries).ReserveTurn, db.ReserveTurnParams{
		TenantID: string(tenant), RunID: runID, TurnKey: text(t.Key), Models: t.Models,
		InputTokens: int64(t.InputTokens), OutputTokens: int64(t.OutputTokens),
	})
	if err != nil {
		return explain(err, tool.NotFound, "run not found")
	}
	return budgetRefusal(op, "turn of the model", raw)
}

// CountRefused implements [agent.Runs].
func (s *Store) CountRefused(ctx context.Context, tenant tool.TenantID, runID string, t agent.RefusedTurn) error {
	const op = "store.CountRefused"
	if err := checkIDs(op, runID); err != nil {
		return err
	}
	return s.do(ctx, op, tenant, func(q *db.Queries) error {
		return q.CountRefused(ctx, db.CountRefusedParams{
			TenantID: string(tenant), RunID: runID, TurnKey: text(t.Key), Model: text(t.Model),
			InputTokens: int64(t.Usage.InputTokens), OutputTokens: int64(t.Usage.OutputTokens),
			CachedTokens:    int64(min(t.Usage.CachedInputTokens, t.Usage.InputTokens)),
			ReasoningTokens: int64(min(t.Usage.ReasoningTokens, t.Usage.OutputTokens)),
		})
	})
}

// budgetRefusal returns the budget that refuses a call or a turn as an error; nil without one.
func budgetRefusal(op, what string, raw []byte) error {
	if raw == nil {
		return nil
	}
	var r budget.Refusal
	if err := decode(raw, &r); err != nil {
		return err
	}
	return r.Error(op, what)
}

func budgetOf(row db.ListBudgetsRow) budget.Budget {
	b := row.Budget
	out := budget.Budget{
		ID: b.ID, Tenant: tool.TenantID(b.TenantID), Name: b.Name, ByPlatform: b.ByPlatform,
		AgentID: value(b.AgentID), Agent: row.Agent, ToolID: value(b.ToolID), Tool: row.Tool,
		ProfileID: value(b.ProfileID), Profile: row.Profile,
		Period: budget.Period(b.Period), Limit: usage.Micros(b.LimitMicros), ChangedBy: b.ChangedBy, ChangedAt: b.ChangedAt,
		Spent: usage.Micros(row.SpentMicros), Reserved: usage.Micros(row.ReservedMicros),
	}
	if !row.At.IsZero() {
		out.ResetsAt = out.Period.Next(row.At)
	}
	return out
}
