package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/usage"
)

// Counts are what was used. It is embedded.
type Counts struct {
	Calls             int64 `json:"calls" doc:"Of tools, that ended after they had started" example:"120"`
	FailedCalls       int64 `json:"failed_calls" doc:"Those of them that did not complete" example:"3"`
	CallMS            int64 `json:"call_ms" doc:"How long they took, in milliseconds" example:"48000"`
	Turns             int64 `json:"turns" doc:"Answers of models" example:"40"`
	InputTokens       int64 `json:"input_tokens" example:"82000"`
	CachedInputTokens int64 `json:"cached_input_tokens" doc:"Of the input: read from a provider's cache" example:"61000"`
	OutputTokens      int64 `json:"output_tokens" example:"9000"`
	ReasoningTokens   int64 `json:"reasoning_tokens" doc:"Of the output: not part of the answer" example:"4000"`
	CostMicros        int64 `json:"cost_micros" doc:"By the prices of the moments when calls and turns ended, in millionths" example:"412000"`
	UnpricedTurns     int64 `json:"unpriced_turns" doc:"Turns whose cost is not known, as their model had no price" example:"0"`
}

// Usage is a row of a report. What the report is not grouped by is absent.
type Usage struct {
	Day     string `json:"day,omitempty" doc:"In UTC" example:"2026-03-12"`
	Agent   string `json:"agent,omitempty" doc:"Slug; absent for what no agent used" example:"supportDesk"`
	AgentID string `json:"agent_id,omitempty"`
	Tool    string `json:"tool,omitempty" doc:"Slug, as it was when the call ended; absent for turns of models" example:"getOrder"`
	Model   string `json:"model,omitempty" doc:"Absent for calls of tools" example:"openai/gpt-5-mini"`
	Counts
}

// UsageReport is what a tenant used on days in UTC.
type UsageReport struct {
	From    string   `json:"from" doc:"The first day" example:"2026-03-01"`
	To      string   `json:"to" doc:"The last day" example:"2026-03-31"`
	GroupBy []string `json:"group_by" example:"[\"tool\"]"`
	Items   []Usage  `json:"items"`
	Total   Counts   `json:"total" doc:"Of the items"`
}

// RunUsage is what a run used.
type RunUsage struct {
	Total Counts      `json:"total" doc:"With the runs below it"`
	Below int64       `json:"below" doc:"How many runs are below it" example:"0"`
	Turns []TurnUsage `json:"turns" doc:"Of the run itself, in order; those of branches that a reset left too"`
}

// TurnUsage is what a turn of a run used.
type TurnUsage struct {
	Turn              int       `json:"turn" example:"1"`
	At                time.Time `json:"at"`
	Model             string    `json:"model,omitempty" example:"openai/gpt-5-mini"`
	InputTokens       int64     `json:"input_tokens" example:"2100"`
	CachedInputTokens int64     `json:"cached_input_tokens" example:"1800"`
	OutputTokens      int64     `json:"output_tokens" example:"140"`
	ReasoningTokens   int64     `json:"reasoning_tokens" example:"60"`
	CostMicros        *int64    `json:"cost_micros,omitempty" doc:"In millionths; absent where the model had no price" example:"410"`
}

// FromUsage returns a report as the API shows it.
func FromUsage(q usage.Query, rows []usage.Row) UsageReport {
	out := UsageReport{
		From: q.From.Format(time.DateOnly), To: q.To.Format(time.DateOnly), GroupBy: []string{},
		Items: make([]Usage, len(rows)),
	}
	for _, g := range q.By {
		out.GroupBy = append(out.GroupBy, string(g))
	}
	var total usage.Counts
	for i, r := range rows {
		total.Add(r.Counts)
		out.Items[i] = Usage{
			Day: r.Day, Agent: r.Agent, AgentID: r.AgentID, Tool: r.Tool, Model: r.Model, Counts: fromCounts(r.Counts),
		}
	}
	out.Total = fromCounts(total)
	return out
}

// FromRunUsage returns what a run used as the API shows it.
func FromRunUsage(r usage.Run) RunUsage {
	out := RunUsage{Total: fromCounts(r.Whole), Below: r.Below, Turns: make([]TurnUsage, len(r.Turns))}
	for i, t := range r.Turns {
		out.Turns[i] = TurnUsage{
			Turn: t.Turn, At: t.At, Model: t.Model, InputTokens: t.InputTokens, CachedInputTokens: t.CachedInputTokens,
			OutputTokens: t.OutputTokens, ReasoningTokens: t.ReasoningTokens,
		}
		if t.UnpricedTurns == 0 {
			out.Turns[i].CostMicros = new(int64(t.Cost))
		}
	}
	return out
}

func fromCounts(c usage.Counts) Counts {
	return Counts{
		Calls: c.Calls, FailedCalls: c.FailedCalls, CallMS: c.CallMS, Turns: c.Turns, InputTokens: c.InputTokens,
		CachedInputTokens: c.CachedInputTokens, OutputTokens: c.OutputTokens, ReasoningTokens: c.ReasoningTokens,
		CostMicros: int64(c.Cost), UnpricedTurns: c.UnpricedTurns,
	}
}
