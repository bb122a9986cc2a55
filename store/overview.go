package store

import (
	"context"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

// MostCounted is where counts of an overview stop.
const MostCounted = 10_000

// Overview is what a tenant sees of itself at a glance. Counts stop at [MostCounted].
type Overview struct {
	Waiting  Waiting
	Runs     []RunCount // Of today, in UTC, by status.
	Hours    []HourCount
	Failing  []FailingTool // Of the last hour, those that fail most first.
	Failures int64         // Of the last hour.
	Spent    Spend
	HasTools bool
	HasRuns  bool
}

// Waiting is what waits for a person.
type Waiting struct {
	Approvals, Calls, Inputs int64
	Quarantined              int64 // Tools whose server has changed them.
	PausedRuns               int64
	SwitchedOff              int64 // Tools, by an override.
	FailingWebhooks          int64 // And those that are disabled for it.
	PausedSchedules          int64
}

// RunCount is how many runs have a status.
type RunCount struct {
	Status agent.RunStatus
	Runs   int64
}

// HourCount is how many calls began in an hour.
type HourCount struct {
	Hour          time.Time
	Calls, Failed int64
}

// FailingTool is a tool whose calls failed.
type FailingTool struct {
	Tool     string
	Failures int64
	Kind     tool.Kind // Of the last.
	LastID   string    // Of the last call.
}

// Spend is what was used on a day.
type Spend struct {
	Calls, Turns, UnpricedTurns int64
	Cost                        usage.Micros
}

// failingTools is how many tools an overview lists.
const failingTools = 5

// Overview returns what a tenant sees of itself now.
func (s *Store) Overview(ctx context.Context, tenant tool.TenantID, now time.Time) (Overview, error) {
	const op = "store.Overview"
	now = now.UTC()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	hour := now.Truncate(time.Hour)
	var out Overview
	err := s.doFiltered(ctx, op, tenant, func(q *db.Queries) error {
		waiting, err := q.CountWaiting(ctx, db.CountWaitingParams{TenantID: string(tenant), Most: MostCounted})
		if err != nil {
			return err
		}
		out.Waiting = Waiting{
			Approvals: waiting.Approvals, Calls: waiting.Calls, Inputs: waiting.Inputs, Quarantined: waiting.Quarantined,
			PausedRuns: waiting.PausedRuns, SwitchedOff: waiting.SwitchedOff, FailingWebhooks: waiting.FailingWebhooks,
			PausedSchedules: waiting.PausedSchedules,
		}
		out.HasTools, out.HasRuns = waiting.Tools > 0, waiting.Runs > 0
		runs, err := q.CountRuns(ctx, db.CountRunsParams{
			TenantID: string(tenant), Since: today, Most: MostCounted, Statuses: []string{
				string(agent.RunPending), string(agent.RunRunning), string(agent.RunHosted), string(agent.RunCompleted),
				string(agent.RunFailed), string(agent.RunCancelled),
			},
		})
		if err != nil {
			return err
		}
		out.Runs = convert(runs, func(r db.CountRunsRow) RunCount { return RunCount{agent.RunStatus(r.Status), r.Runs} })
		hours, err := q.CountCallsByHour(ctx, db.CountCallsByHourParams{
			TenantID: string(tenant), FromHour: hour.Add(-23 * time.Hour), ToHour: hour, Most: MostCounted,
		})
		if err != nil {
			return err
		}
		out.Hours = convert(hours, func(r db.CountCallsByHourRow) HourCount {
			return HourCount{r.Hour.UTC(), r.Calls, r.Failed}
		})
		failing, err := q.ListFailingTools(ctx, db.ListFailingToolsParams{
			TenantID: string(tenant), Since: now.Add(-time.Hour), Most: MostCounted, Limit: failingTools,
		})
		if err != nil {
			return err
		}
		out.Failing = convert(failing, func(r db.ListFailingToolsRow) FailingTool {
			out.Failures = r.Total
			return FailingTool{Tool: r.Tool, Failures: r.Failures, Kind: tool.Kind(r.Kind), LastID: r.LastID}
		})
		spent, err := q.SumSpend(ctx, db.SumSpendParams{TenantID: string(tenant), Day: today.Format(day)})
		out.Spent = Spend{
			Calls: spent.Calls, Turns: spent.Turns, UnpricedTurns: spent.UnpricedTurns, Cost: usage.Micros(spent.CostMicros),
		}
		return err
	})
	return out, err
}

// Kinds of what is found by its names.
const (
	NamedTool       = "tool"
	NamedAgent      = "agent"
	NamedPipeline   = "pipeline"
	NamedSpace      = "space"
	NamedCredential = "credential"
	NamedKey        = "key"
	NamedToolset    = "toolset"
	NamedSchedule   = "schedule"
	NamedServer     = "mcp_server"
	NamedProfile    = "profile"
	NamedRole       = "role" // Of the tenant.
	NamedBudget     = "budget"
	NamedWebhook    = "webhook" // Its name is its address.
	NamedSession    = "tool_session"
	NamedView       = "view"
)

// NameQuery searches names.
type NameQuery struct {
	Text   string
	Kinds  []string
	Member string // Subject of whose spaces are searched; empty for all.
	// Permissions are those of who asks: no tool is found that requires another one. Manages finds the tenant's tools
	// that require any, and those with the visibility internal.
	Permissions []string
	Manages     bool
	Limit       int
}

// Named is something that has a name.
type Named struct {
	Kind, ID, Name string
	Title          string // For people; may be empty.
	State          string // Such as draft; empty where it has none.
}

// SearchNames returns what has every word of a text in its names, the best matches first.
func (s *Store) SearchNames(ctx context.Context, tenant tool.TenantID, q NameQuery) ([]Named, error) {
	words := strings.Fields(text(q.Text))
	if len(words) == 0 || len(q.Kinds) == 0 {
		return nil, nil
	}
	limit := pageSize(q.Limit)
	rows, err := ask(ctx, s.doFiltered, "store.SearchNames", tenant, (*db.Queries).SearchNames, db.SearchNamesParams{
		TenantID: string(tenant), Words: words, Text: strings.Join(words, " "), Kinds: q.Kinds, Member: text(q.Member),
		Permissions: list(q.Permissions), Manages: q.Manages, Most: limit, Limit: limit,
	})
	return convert(rows, func(r db.SearchNamesRow) Named {
		return Named{Kind: r.Kind, ID: r.ID, Name: r.Name, Title: r.Title, State: r.State}
	}), err
}
