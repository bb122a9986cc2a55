package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/budget"
	"github.com/toolcrib/toolcrib/usage"
)

// NewBudget is a limit of what may be spent. Amounts are millionths of one currency.
type NewBudget struct {
	Name        string        `json:"name" minLength:"1" maxLength:"63" doc:"Small letters, digits, - and _" example:"support-day"`
	Agent       string        `json:"agent,omitempty" maxLength:"64" doc:"Slug or id: of its runs, and of the runs below them. Absent for all" example:"support"`
	Tool        string        `json:"tool,omitempty" maxLength:"64" doc:"Slug or id: of its calls. Absent for all calls, and turns of models" example:"readInvoice"`
	Profile     string        `json:"profile,omitempty" maxLength:"63" doc:"Name: of calls that it applies to. Absent for all calls, and turns of models" example:"careful"`
	Period      budget.Period `json:"period" enum:"day,month,run" doc:"In UTC; a budget of runs is for each run by itself, with the runs below it"`
	LimitMicros int64         `json:"limit_micros" minimum:"0" maximum:"1000000000000000" example:"5000000"`
}

// Budget is a limit of what may be spent, and how much of it is used in the present period.
type Budget struct {
	ID             string        `json:"id"`
	Name           string        `json:"name" example:"support-day"`
	By             string        `json:"by" enum:"tenant,platform" doc:"The tenant does not change what the platform set"`
	Agent          string        `json:"agent,omitempty" doc:"Slug" example:"support"`
	AgentID        string        `json:"agent_id,omitempty"`
	Tool           string        `json:"tool,omitempty" doc:"Slug" example:"readInvoice"`
	ToolID         string        `json:"tool_id,omitempty"`
	Profile        string        `json:"profile,omitempty" doc:"Name" example:"careful"`
	Period         budget.Period `json:"period" enum:"day,month,run"`
	LimitMicros    int64         `json:"limit_micros" example:"5000000"`
	SpentMicros    int64         `json:"spent_micros" doc:"In the present day or month; of a budget of runs, by the run that spent most" example:"1250000"`
	ReservedMicros int64         `json:"reserved_micros" doc:"By calls and turns that have not ended" example:"2000"`
	ResetsAt       *time.Time    `json:"resets_at,omitempty" doc:"When the period ends; absent for a budget of runs"`
	ChangedBy      string        `json:"changed_by" doc:"Subject" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ChangedAt      time.Time     `json:"changed_at"`
}

// Budget returns the budget that is asked for, without its agent and tool.
func (n NewBudget) Budget() budget.Budget {
	return budget.Budget{Name: n.Name, Period: n.Period, Limit: usage.Micros(n.LimitMicros)}
}

// FromBudget returns a budget as the API shows it.
func FromBudget(b budget.Budget) Budget {
	out := Budget{
		ID: b.ID, Name: b.Name, By: "tenant", Agent: b.Agent, AgentID: b.AgentID, Tool: b.Tool, ToolID: b.ToolID,
		Profile: b.Profile,
		Period:  b.Period, LimitMicros: int64(b.Limit), SpentMicros: int64(b.Spent), ReservedMicros: int64(b.Reserved),
		ChangedBy: b.ChangedBy, ChangedAt: b.ChangedAt,
	}
	if b.ByPlatform {
		out.By = "platform"
	}
	if !b.ResetsAt.IsZero() {
		out.ResetsAt = &b.ResetsAt
	}
	return out
}
