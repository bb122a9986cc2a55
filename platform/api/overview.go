package api

import (
	"context"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/budget"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// overviewBudgets is how many budgets an overview lists.
const overviewBudgets = 20

func (s *server) registerOverview() {
	handle(s, route{
		id: "getOverview", method: http.MethodGet, path: "/v1/overview", tag: "usage", permission: RunsRead,
		or:      []string{ToolsRead, ApprovalsRead, ResultsSubmit, UsageRead, BudgetsRead},
		summary: "Show the tenant at a glance",
		detail: "What waits, what fails, what runs, and what is spent. Parts that the key may not see are absent; counts " +
			"stop at `count_limit`.",
	}, s.getOverview)
}

func (s *server) getOverview(ctx context.Context, p tool.Principal, _ *struct{}) (*body[v1.Overview], error) {
	now := time.Now()
	found, err := s.cfg.Store.Overview(ctx, p.Tenant, now)
	if err != nil {
		return nil, err
	}
	w := found.Waiting
	out := v1.Overview{
		At: now.UTC().Truncate(time.Millisecond), CountLimit: store.MostCounted,
		Waiting: counted(p, []counting{
			{"approvals", ApprovalsRead, w.Approvals},
			{"pending_calls", ResultsSubmit, w.Calls},
			{"input_requests", ResultsSubmit, w.Inputs},
			{"quarantined_tools", ToolsRead, w.Quarantined},
		}),
		Troubles: counted(p, []counting{
			{"paused_runs", RunsRead, w.PausedRuns},
			{"switched_off_tools", ToolsRead, w.SwitchedOff},
			{"failing_webhooks", WebhooksRead, w.FailingWebhooks},
			{"paused_schedules", SchedulesRead, w.PausedSchedules},
		}),
	}
	if p.May(ToolsRead) {
		out.HasTools = &found.HasTools
	}
	if p.May(RunsRead) {
		s.overviewOfRuns(ctx, found, &out)
	}
	if p.May(UsageRead) {
		out.Spent = &v1.OverviewSpend{
			Calls: found.Spent.Calls, Turns: found.Spent.Turns, UnpricedTurns: found.Spent.UnpricedTurns,
			CostMicros: int64(found.Spent.Cost),
		}
	}
	if p.May(BudgetsRead) {
		budgets, err := s.cfg.Store.ListBudgets(ctx, p.Tenant, budget.Key{}, overviewBudgets)
		if err != nil {
			return nil, err
		}
		for _, b := range budgets {
			out.Budgets = append(out.Budgets, v1.FromBudget(b))
		}
	}
	return answer(out), nil
}

// counting is a count that takes a permission to see.
type counting struct {
	kind, needs string
	count       int64
}

func counted(p tool.Principal, all []counting) []v1.OverviewCount {
	out := []v1.OverviewCount{}
	for _, c := range all {
		if c.count > 0 && p.May(c.needs) {
			out = append(out, v1.OverviewCount{Kind: c.kind, Count: c.count})
		}
	}
	return out
}

func (s *server) overviewOfRuns(ctx context.Context, found store.Overview, out *v1.Overview) {
	out.HasRuns = &found.HasRuns
	out.Workers = &v1.OverviewWorkers{Polling: !s.pollers.missing(ctx), TaskQueue: s.cfg.TaskQueue}
	for _, r := range found.Runs {
		out.Runs = append(out.Runs, v1.OverviewRuns(r))
	}
	for _, h := range found.Hours {
		out.Hours = append(out.Hours, v1.OverviewHour(h))
	}
	out.Failures = &v1.OverviewFailures{Calls: found.Failures, Tools: []v1.OverviewFailingTool{}}
	for _, f := range found.Failing {
		out.Failures.Tools = append(out.Failures.Tools, v1.OverviewFailingTool{
			Tool: f.Tool, Failures: f.Failures, Kind: f.Kind, LastCall: f.LastID,
		})
	}
}
