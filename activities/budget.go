package activities

import (
	"context"
	"encoding/json"
	"slices"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	bytesPerToken  = 4     // Of text and JSON, about.
	tokensOfMedia  = 1_500 // Of an image or another block that is no text, about.
	expectedOutput = 1_000 // Of a turn, where nothing says more.
	besideThinking = 1_024 // What a model with a budget for reasoning may write beside it.
)

// reserveTurn reserves what a turn is expected to cost, where the tenant has budgets. It fails with
// tool.Denied where one has too little left.
func (a *Activities) reserveTurn(
	ctx context.Context, q question, key string, d *agent.Definition, open *agent.OpenTurn, kit *kit,
) error {
	if !open.Budgeted {
		return nil
	}
	estimate := agent.TurnEstimate{Key: key, Models: []string{d.Model}}
	for _, m := range d.FallbackModels {
		estimate.Models = append(estimate.Models, m.Model)
	}
	estimate.InputTokens, estimate.OutputTokens = expectedInput(open.Transcript), outputLimit(d)
	last := lastUsage(open.Transcript)
	if last == nil { // What is beside the transcript was not counted yet.
		estimate.InputTokens += len(d.Instructions) / bytesPerToken
		for _, t := range kit.specs() {
			estimate.InputTokens += (len(t.Name) + len(t.Description) + len(t.InputSchema)) / bytesPerToken
		}
	}
	if estimate.OutputTokens == 0 {
		estimate.OutputTokens = expectedOutput
		if last != nil {
			estimate.OutputTokens = max(estimate.OutputTokens, last.OutputTokens)
		}
	}
	return a.Runs.ReserveTurn(ctx, q.principal.Tenant, q.runID, estimate)
}

// countRefused counts what a turn used whose answers were refused. That the run fails does not
// depend on it.
func (a *Activities) countRefused(ctx context.Context, q question, turn agent.RefusedTurn) {
	if reported(turn.Usage) == nil {
		return
	}
	if err := a.Runs.CountRefused(ctx, q.principal.Tenant, q.runID, turn); err != nil {
		activity.GetLogger(ctx).Warn("what a refused turn used is not counted", "run_id", q.runID, "error", err)
	}
}

// reported returns what a provider said that an answer used; nil where it said nothing.
func reported(u agent.Usage) *agent.Usage {
	if u == (agent.Usage{}) {
		return nil
	}
	return &u
}

// expectedInput estimates the tokens of a transcript: what the last answer said it read and wrote, and
// what came after it.
func expectedInput(transcript []agent.Message) int {
	tokens := 0
	for _, m := range slices.Backward(transcript) {
		if m.Usage != nil {
			return tokens + m.Usage.InputTokens + m.Usage.OutputTokens
		}
		tokens += expectedTokens(&m)
	}
	return tokens
}

func expectedTokens(m *agent.Message) int {
	tokens := 0
	for _, b := range m.Content {
		switch {
		case b.Type == tool.ContentText:
			tokens += len(b.Text)/bytesPerToken + 1
		case len(b.JSON) > 0:
			tokens += len(b.JSON)/bytesPerToken + 1
		default:
			tokens += tokensOfMedia
		}
	}
	for _, c := range m.Calls {
		tokens += (len(c.Name) + len(c.Arguments)) / bytesPerToken
	}
	return tokens
}

func lastUsage(transcript []agent.Message) *agent.Usage {
	for _, m := range slices.Backward(transcript) {
		if m.Usage != nil {
			return m.Usage
		}
	}
	return nil
}

// outputLimit returns the most tokens that an answer may have, by the options of the models that may
// give it; zero where one of them has no limit.
func outputLimit(d *agent.Definition) int {
	most := 0
	options := []json.RawMessage{d.ModelOptions}
	for _, m := range d.FallbackModels {
		options = append(options, m.ModelOptions)
	}
	for _, raw := range options {
		var o struct {
			MaxTokens      int `json:"max_tokens"`
			ThinkingBudget int `json:"thinking_budget"` // Tokens of reasoning, which raise a lower limit.
		}
		if json.Unmarshal(raw, &o) != nil || o.MaxTokens <= 0 {
			return 0
		}
		most = max(most, o.MaxTokens)
		if o.ThinkingBudget > 0 {
			most = max(most, o.ThinkingBudget+besideThinking)
		}
	}
	return most
}
