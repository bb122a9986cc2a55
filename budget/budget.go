// Package budget is the contract of budgets: limits of what a tenant, its agents, its tools, its
// profiles and each of its runs may spend.
//
// Before a call or a turn of a model begins, it reserves its price in every budget that it counts
// in, in one transaction; where one of them has too little left, nothing is reserved and it is
// refused. When it ends it spends what it cost, and what was reserved is free again. The same
// rows decide and are reported. What has no price (package usage) reserves nothing and is never
// refused. Package store implements the contract; checklist S2-4, S2-5, S2-48.
package budget

import (
	"context"
	"regexp"
	"time"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

// Period is the time for which a budget is. Days and months are those of UTC.
type Period string

// Periods.
const (
	Day   Period = "day"
	Month Period = "month"
	Run   Period = "run" // Of each run by itself, with the runs below it.
)

// Periods returns all of them.
func Periods() []Period { return []Period{Day, Month, Run} }

// MaxLimit is the largest limit of a budget: a thousand million.
const MaxLimit = 1000 * usage.MaxMicros

// Budget is a limit of what may be spent in each period, and how much of it is used in the
// present one.
type Budget struct {
	ID     string
	Tenant tool.TenantID
	Name   string // Unique among those of the tenant, and among those of the platform for it.
	// ByPlatform says that the platform set it for the tenant, which sees it and cannot change it.
	ByPlatform bool

	// AgentID limits the budget to runs of an agent, and to the runs below those. Empty for every
	// run, and for calls without one.
	AgentID, Agent string // Agent is the slug; stores fill it.
	// ToolID limits it to calls of a tool. Empty for all calls, and for turns of models.
	ToolID, Tool string // Tool is the slug; stores fill it.
	// ProfileID limits it to calls that a profile applies to. Empty for all calls, and for turns.
	ProfileID, Profile string // Profile is the name; stores fill it.

	Period Period
	Limit  usage.Micros

	ChangedBy string
	ChangedAt time.Time

	// Of the present day or month; of a [Run] budget, those of the run that spent most.
	Spent, Reserved usage.Micros
	ResetsAt        time.Time // When the period ends; zero for a [Run] budget.
}

// Call is a call that counts in budgets.
type Call struct {
	ToolID, Version string
	AgentID, RunID  string // Empty where no agent makes it, or no run.
}

// Use is a budget that a call counts in.
type Use struct {
	Budget
	Priced bool         // Whether the call has a price. It does not count in the budget otherwise.
	Price  usage.Micros // What it reserves.
}

// Left returns how much of the budget is neither spent nor reserved; it may be less than zero.
func (b *Budget) Left() usage.Micros { return b.Limit - b.Spent - b.Reserved }

// Refuses reports whether the call would be refused now.
func (u *Use) Refuses() bool { return u.Priced && max(u.Price, 1) > u.Left() }

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// Check fails with tool.Invalid, and the path of the field, for a budget that means nothing.
func (b *Budget) Check() error {
	switch {
	case !validName.MatchString(b.Name):
		return invalid("name", "a name has 1 to 63 characters: small letters, digits, - and _, the first of them no - or _")
	case b.Period != Day && b.Period != Month && b.Period != Run:
		return invalid("period", `the period is "day", "month" or "run"`)
	case b.Limit < 0 || b.Limit > MaxLimit:
		return invalid("limit_micros", "the limit is out of range: 0 to "+MaxLimit.String())
	}
	return nil
}

func invalid(path, msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "budget.Check", Path: path, Msg: msg}
}

// Next returns when the period that contains at ends; the zero time for [Run].
func (p Period) Next(at time.Time) time.Time {
	y, m, d := at.UTC().Date()
	switch p {
	case Day:
		return time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	case Month:
		return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
	case Run:
	}
	return time.Time{}
}

// Refusal is the budget that has too little left for a call or a turn.
type Refusal struct {
	Name       string     `json:"name"`
	ByPlatform bool       `json:"by_platform"`
	Period     Period     `json:"period"`
	Agent      string     `json:"agent"` // Slugs; empty where the budget names none.
	Tool       string     `json:"tool"`
	Profile    string     `json:"profile"`   // Its name; empty where the budget names none.
	ResetsAt   *time.Time `json:"resets_at"` // Nil for [Run].
}

// Error returns the refusal of what, such as "call", as a [tool.Error] of kind Denied. Its message is
// for callers and models: it names the level of the budget and when it resets.
func (r *Refusal) Error(op, what string) error {
	of := "the tenant"
	switch {
	case r.Agent != "" && r.Tool != "":
		of = "tool \"" + r.Tool + "\" in runs of agent \"" + r.Agent + "\""
	case r.Agent != "":
		of = "agent \"" + r.Agent + "\""
	case r.Tool != "":
		of = "tool \"" + r.Tool + "\""
	case r.Period == Run:
		of = "the run"
	}
	if r.Profile != "" {
		of = "profile \"" + r.Profile + "\" for " + of
	}
	by := "budget"
	if r.ByPlatform {
		by = "platform's budget"
	}
	when := "; it is the run's, and does not reset"
	if r.ResetsAt != nil {
		when = " this " + string(r.Period) + "; it resets at " + r.ResetsAt.UTC().Format(time.RFC3339)
	}
	return &tool.Error{
		Kind: tool.Denied, Op: op,
		Msg: "the " + by + " \"" + r.Name + "\" of " + of + " has too little left for this " + what + when,
	}
}

// Budgets is the record of budgets. Package store implements it.
type Budgets interface {
	// SetBudget stores a checked budget, in the place of the one with its name. What was spent of
	// that one in the present period stays. It fails with tool.NotFound for an agent, a tool or a
	// profile that the tenant does not have. A new budget counts what begins after it.
	SetBudget(ctx context.Context, b Budget) (Budget, error)
	// ListBudgets returns the tenant's budgets and the platform's for it, by name; after is the last
	// one of the page before.
	ListBudgets(ctx context.Context, tenant tool.TenantID, after Key, limit int) ([]Budget, error)
	// DeleteBudget deletes a budget and returns it. It fails with tool.NotFound where there is none.
	DeleteBudget(ctx context.Context, tenant tool.TenantID, key Key) (Budget, error)
}

// Key identifies a budget of a tenant.
type Key struct {
	Name       string
	ByPlatform bool
}
