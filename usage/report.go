package usage

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Counts are what was used.
type Counts struct {
	Calls       int64 // Of tools, that ended after they had started.
	FailedCalls int64 // Those of them that did not complete.
	CallMS      int64 // How long they took, in milliseconds.

	Turns             int64 // Answers of models.
	InputTokens       int64
	CachedInputTokens int64 // Of the input: read from a provider's cache.
	OutputTokens      int64
	ReasoningTokens   int64 // Of the output: not part of the answer.

	Cost          Micros
	UnpricedTurns int64 // Turns whose cost is not known, as their model had no price.
}

// Add adds what others used.
func (c *Counts) Add(o Counts) {
	c.Calls += o.Calls
	c.FailedCalls += o.FailedCalls
	c.CallMS += o.CallMS
	c.Turns += o.Turns
	c.InputTokens += o.InputTokens
	c.CachedInputTokens += o.CachedInputTokens
	c.OutputTokens += o.OutputTokens
	c.ReasoningTokens += o.ReasoningTokens
	c.Cost += o.Cost
	c.UnpricedTurns += o.UnpricedTurns
}

// Group is what a report is grouped by.
type Group string

// Groups of a report.
const (
	ByDay   Group = "day"
	ByAgent Group = "agent"
	ByTool  Group = "tool"
	ByModel Group = "model"
)

// Groups are all of them, in the order of the columns of a report.
func Groups() []Group { return []Group{ByDay, ByAgent, ByTool, ByModel} }

// ParseGroups reads groups that are separated by commas. Empty text is none: one sum.
func ParseGroups(text string) ([]Group, error) {
	var out []Group
	for name := range strings.SplitSeq(text, ",") {
		group := Group(strings.TrimSpace(name))
		switch {
		case text == "":
		case !slices.Contains(Groups(), group):
			return nil, invalid("group_by", fmt.Sprintf("a report is not grouped by %q: name day, agent, tool or model", group))
		case !slices.Contains(out, group):
			out = append(out, group)
		}
	}
	return out, nil
}

// Query asks for a report about days in UTC.
type Query struct {
	By       []Group
	From, To time.Time // The first and the last day.
}

// MaxRows is the largest number of rows of a report.
const MaxRows = 10_000

// Row is a row of a report. What it is not grouped by is empty. By tools alone, turns of models
// are left out, and by models alone, calls of tools.
type Row struct {
	Day     string // "2026-03-12".
	AgentID string
	Agent   string // Slug; empty for what no agent used.
	Tool    string // Slug, as it was when the call ended; empty for turns of models.
	Model   string // Empty for calls of tools, and for turns that were stored without it.
	Counts
}

// Run is what a run used.
type Run struct {
	Whole Counts // With the runs below it.
	Below int64  // How many those are.
	Turns []Turn // Its own, in order.
}

// Turn is what a turn of a run used.
type Turn struct {
	Turn   int
	Model  string
	At     time.Time
	Counts // Of the turn alone: no calls.
}
