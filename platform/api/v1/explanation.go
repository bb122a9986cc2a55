package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/schema/project"
	"github.com/toolcrib/toolcrib/tool"
)

// Explanation reports how a reference to a tool was resolved: every rule
// applied, in order, up to the one that refused it.
type Explanation struct {
	Ref           string       `json:"ref" example:"searchOrders@^1.2"`
	Mode          tool.Mode    `json:"mode"`
	Steps         []Step       `json:"steps"`
	ToolID        string       `json:"tool_id,omitempty"`
	Slug          string       `json:"slug,omitempty"`
	Version       string       `json:"version,omitempty" doc:"The version that would run"`
	Digest        string       `json:"digest,omitempty"`
	Draft         bool         `json:"draft,omitempty" doc:"Whether that is the unversioned draft"`
	Shadows       bool         `json:"shadows,omitempty" doc:"Whether it hides a global tool of the same slug"`
	ReadsDeclared *Declaration `json:"reads_declared,omitempty" doc:"Who declared that its POST only reads, which egress class read_only then allows; absent if there is no declaration"`
	Taint         *Taint       `json:"taint,omitempty" doc:"Of the run that is asked about; absent where it is not tainted"`
	Budgets       []BudgetUse  `json:"budgets,omitempty" doc:"The budgets that a call counts in"`
	Weakened      []Weakened   `json:"weakened,omitempty" doc:"Dialects of model providers that cannot say all of the version's input schema; arguments are checked against all of it"`
	// InputSchema is absent where no version would run.
	InputSchema json.RawMessage `json:"input_schema,omitempty" doc:"What the arguments of a call are checked against: the version's schema, with the defaults of overrides" example:"{\"type\":\"object\"}"`
	Code        tool.Kind       `json:"code,omitempty" doc:"Why no version would run; empty if one would"`
	Detail      string          `json:"detail,omitempty"`
}

// Step is one rule as it was applied.
type Step struct {
	Rule   string `json:"rule" example:"enabled"`
	Passed bool   `json:"passed"`
	Saw    string `json:"saw" doc:"The input of the rule" example:"status published"`
}

// BudgetUse is a budget that a call counts in.
type BudgetUse struct {
	Budget
	LeftMicros  int64  `json:"left_micros" doc:"Neither spent nor reserved" example:"3748000"`
	PriceMicros *int64 `json:"price_micros,omitempty" doc:"What a call reserves; absent where it has no price, so that the budget does not limit it" example:"2000"`
	Refuses     bool   `json:"refuses" doc:"Whether a call would be refused now"`
}

// FromBudgetUse returns u as the API shows it.
func FromBudgetUse(u budget.Use) BudgetUse {
	out := BudgetUse{Budget: FromBudget(u.Budget), LeftMicros: int64(u.Left()), Refuses: u.Refuses()}
	if u.Priced {
		out.PriceMicros = new(int64(u.Price))
	}
	return out
}

// Weakened says what models of a provider are not shown of a tool.
type Weakened struct {
	Dialect project.Dialect `json:"dialect" enum:"openai,openai_strict,anthropic,gemini" example:"gemini"`
	Lost    []string        `json:"lost,omitempty" doc:"Keywords that the models do not see, with their places" example:"[\"not at /properties/a\"]"`
	Refused string          `json:"refused,omitempty" doc:"Why the schema has no form in the dialect; the models are then not offered the tool, and of openai_strict, its function is not strict" example:"input schema: it accepts no object"`
}

// Declaration records what a principal declared about a configuration.
type Declaration struct {
	By string    `json:"by" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	At time.Time `json:"at"`
}

// FromDeclaration returns d as the API shows it; nil for nil.
func FromDeclaration(d *tool.Declaration) *Declaration {
	if d == nil {
		return nil
	}
	return &Declaration{By: d.By, At: d.At}
}
