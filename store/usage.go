package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

// day is the form of days.
const day = "2006-01-02"

// Usage reports what a tenant used, in the order of groups: days, agents, tools, models. It fails
// with tool.Invalid where that are more than [usage.MaxRows] rows.
func (s *Store) Usage(ctx context.Context, tenant tool.TenantID, q usage.Query) ([]usage.Row, error) {
	const op = "store.Usage"
	by := func(g usage.Group) bool { return slices.Contains(q.By, g) }
	rows, err := ask(ctx, s.doFiltered, op, tenant, (*db.Queries).ReportUsage, db.ReportUsageParams{
		TenantID: string(tenant), ByDay: by(usage.ByDay), ByAgent: by(usage.ByAgent), ByTool: by(usage.ByTool),
		ByModel: by(usage.ByModel), FromDay: q.From.Format(day), ToDay: q.To.Format(day), Limit: usage.MaxRows + 1,
	})
	if err == nil && len(rows) > usage.MaxRows {
		err = &tool.Error{
			Kind: tool.Invalid, Op: op,
			Msg: fmt.Sprintf("the report has more than %d rows: ask for fewer days, or for fewer groups", usage.MaxRows),
		}
	}
	if err != nil {
		return nil, err
	}
	return convert(rows, func(r db.ReportUsageRow) usage.Row {
		row := usage.Row{
			Day: r.Day, AgentID: r.AgentID, Agent: r.Agent, Tool: r.Tool, Model: r.Model,
			Counts: usage.Counts{
				Calls: r.Calls, FailedCalls: r.FailedCalls, CallMS: r.CallMs, Turns: r.Turns, InputTokens: r.InputTokens,
				CachedInputTokens: r.CachedInputTokens, OutputTokens: r.OutputTokens, ReasoningTokens: r.ReasoningTokens,
				Cost: usage.Micros(r.CostMicros), UnpricedTurns: r.UnpricedTurns,
			},
		}
		if row.AgentID == globalScope {
			row.AgentID = ""
		}
		return row
	}), nil
}

// RunUsage returns what a run used, with the runs below it. It fails with tool.NotFound.
func (s *Store) RunUsage(ctx context.Context, tenant tool.TenantID, runID string) (usage.Run, error) {
	const op = "store.RunUsage"
	if !tool.ValidID(runID) {
		return usage.Run{}, notFound(op, "run not found")
	}
	var sum db.SumRunCostsRow
	var turns []db.ListTurnCostsRow
	err := s.do(ctx, op, tenant, func(q *db.Queries) (err error) {
		sum, err = q.SumRunCosts(ctx, db.SumRunCostsParams{TenantID: string(tenant), RunID: runID})
		if err != nil {
			return err
		}
		turns, err = q.ListTurnCosts(ctx, db.ListTurnCostsParams{TenantID: string(tenant), RunID: runID})
		return err
	})
	if err != nil {
		return usage.Run{}, err
	}
	if sum.Runs == 0 {
		return usage.Run{}, notFound(op, "run not found")
	}
	return usage.Run{
		Below: sum.Runs - 1,
		Whole: usage.Counts{
			Calls: sum.Calls, FailedCalls: sum.FailedCalls, CallMS: sum.CallMs, Turns: sum.Turns, InputTokens: sum.InputTokens,
			CachedInputTokens: sum.CachedInputTokens, OutputTokens: sum.OutputTokens, ReasoningTokens: sum.ReasoningTokens,
			Cost: usage.Micros(sum.CostMicros), UnpricedTurns: sum.UnpricedTurns,
		},
		Turns: convert(turns, func(r db.ListTurnCostsRow) usage.Turn {
			t := usage.Turn{Turn: int(r.Turn), Model: r.Model, At: r.CreatedAt, Counts: usage.Counts{
				Turns: 1, InputTokens: r.InputTokens, CachedInputTokens: r.CachedInputTokens, OutputTokens: r.OutputTokens,
				ReasoningTokens: r.ReasoningTokens,
			}}
			if r.CostMicros != nil {
				t.Cost = usage.Micros(*r.CostMicros)
			} else {
				t.UnpricedTurns = 1
			}
			return t
		}),
	}, nil
}
