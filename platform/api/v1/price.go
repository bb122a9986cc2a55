package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

// NewPrice is the price of a tool or of a model. Amounts are millionths of one currency.
type NewPrice struct {
	Tool              string     `json:"tool,omitempty" maxLength:"64" doc:"Slug or id; give this or a model" example:"readInvoice"`
	Version           string     `json:"version,omitempty" maxLength:"64" doc:"Of the tool; absent for every version" example:"1.2.0"`
	Model             string     `json:"model,omitempty" maxLength:"200" doc:"As agents name it" example:"openai/gpt-5-mini"`
	ValidFrom         *time.Time `json:"valid_from,omitempty" doc:"Now when absent"`
	ValidUntil        *time.Time `json:"valid_until,omitempty" doc:"No end when absent"`
	PerCallMicros     int64      `json:"per_call_micros,omitempty" minimum:"0" maximum:"1000000000000" doc:"Of a tool: per call that completed, or may have" example:"2000"`
	UnitPointer       string     `json:"unit_pointer,omitempty" maxLength:"200" doc:"Of a tool: JSON Pointer to the number of units in the structured value of its results" example:"/pages"`
	PerUnitMicros     int64      `json:"per_unit_micros,omitempty" minimum:"0" maximum:"1000000000000" example:"500"`
	ExpectedUnits     int64      `json:"expected_units,omitempty" minimum:"0" maximum:"1000000000000" doc:"How many units a call reserves in budgets before it reports them; 1 when absent" example:"3"`
	InputMicros       *int64     `json:"input_micros,omitempty" minimum:"0" maximum:"1000000000000" doc:"Of a model: per million tokens" example:"250000"`
	CachedInputMicros *int64     `json:"cached_input_micros,omitempty" minimum:"0" maximum:"1000000000000" doc:"Per million input tokens that are read from a cache; as input when absent" example:"25000"`
	OutputMicros      *int64     `json:"output_micros,omitempty" minimum:"0" maximum:"1000000000000" doc:"Per million tokens" example:"2000000"`
	ReasoningMicros   *int64     `json:"reasoning_micros,omitempty" minimum:"0" maximum:"1000000000000" doc:"Per million output tokens that are not part of the answer; as output when absent"`
}

// Price is a price, of the tenant or of the platform for every tenant.
type Price struct {
	ID                string     `json:"id"`
	By                string     `json:"by" enum:"tenant,platform" doc:"A tenant's price counts before the platform's"`
	Tool              string     `json:"tool,omitempty" doc:"Slug; a deleted price has only its id" example:"readInvoice"`
	ToolID            string     `json:"tool_id,omitempty"`
	Version           string     `json:"version,omitempty" doc:"Absent for every version" example:"1.2.0"`
	Model             string     `json:"model,omitempty" example:"openai/gpt-5-mini"`
	ValidFrom         time.Time  `json:"valid_from"`
	ValidUntil        *time.Time `json:"valid_until,omitempty"`
	PerCallMicros     *int64     `json:"per_call_micros,omitempty" doc:"Of a tool" example:"2000"`
	UnitPointer       string     `json:"unit_pointer,omitempty" example:"/pages"`
	PerUnitMicros     *int64     `json:"per_unit_micros,omitempty" example:"500"`
	ExpectedUnits     int64      `json:"expected_units,omitempty" doc:"How many units a call reserves in budgets before it reports them" example:"3"`
	InputMicros       *int64     `json:"input_micros,omitempty" doc:"Of a model: per million tokens" example:"250000"`
	CachedInputMicros *int64     `json:"cached_input_micros,omitempty" example:"25000"`
	OutputMicros      *int64     `json:"output_micros,omitempty" example:"2000000"`
	ReasoningMicros   *int64     `json:"reasoning_micros,omitempty"`
	ChangedBy         string     `json:"changed_by" doc:"Subject" example:"key:01975c2e-7d1a-7c3e-9f00-0000000000d1"`
	ChangedAt         time.Time  `json:"changed_at"`
}

// Price returns the price that is asked for, of a tool that is found by now.
func (n NewPrice) Price(t tool.Tool) usage.Price {
	p := usage.Price{
		ToolID: t.ID, Tool: t.Slug, Version: n.Version, Model: n.Model, Until: n.ValidUntil,
		Call: usage.Micros(n.PerCallMicros),
	}
	if n.ValidFrom != nil {
		p.From = *n.ValidFrom
	}
	if n.UnitPointer != "" || n.PerUnitMicros != 0 || n.ExpectedUnits != 0 {
		p.Unit = &usage.Unit{
			Pointer: n.UnitPointer, Micros: usage.Micros(n.PerUnitMicros), Expected: n.ExpectedUnits,
		}
	}
	if n.InputMicros != nil && n.OutputMicros != nil {
		p.Tokens = &usage.Rates{
			Input: usage.Micros(*n.InputMicros), Output: usage.Micros(*n.OutputMicros),
			Cached: (*usage.Micros)(n.CachedInputMicros), Reasoning: (*usage.Micros)(n.ReasoningMicros),
		}
	}
	return p
}

// FromPrice returns a price as the API shows it.
func FromPrice(p usage.Price) Price {
	out := Price{
		ID: p.ID, By: "tenant", Tool: p.Tool, ToolID: p.ToolID, Version: p.Version, Model: p.Model, ValidFrom: p.From,
		ValidUntil: p.Until, ChangedBy: p.ChangedBy, ChangedAt: p.ChangedAt,
	}
	if p.Tenant == "" {
		out.By = "platform"
	}
	if p.ToolID != "" {
		out.PerCallMicros = new(int64(p.Call))
	}
	if p.Unit != nil {
		out.UnitPointer, out.PerUnitMicros, out.ExpectedUnits = p.Unit.Pointer, new(int64(p.Unit.Micros)), p.Unit.Expected
	}
	if r := p.Tokens; r != nil {
		out.InputMicros, out.OutputMicros = new(int64(r.Input)), new(int64(r.Output))
		out.CachedInputMicros, out.ReasoningMicros = (*int64)(r.Cached), (*int64)(r.Reasoning)
	}
	return out
}
