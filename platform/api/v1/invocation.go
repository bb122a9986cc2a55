package v1

import (
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Invocation is the record of serving one call.
type Invocation struct {
	ID             string                `json:"id"`
	Tenant         tool.TenantID         `json:"tenant_id"`
	RunID          string                `json:"run_id,omitempty"`
	ParentID       string                `json:"parent_id,omitempty" doc:"The invocation whose step it is"`
	Turn           int                   `json:"turn"`
	Position       int                   `json:"position"`
	CallID         string                `json:"call_id"`
	EffectID       string                `json:"effect_id,omitempty"`
	ToolID         string                `json:"tool_id,omitempty" doc:"Absent when the call named no known tool"`
	Tool           string                `json:"tool" doc:"The slug, or the unknown name that the model used"`
	Version        string                `json:"version,omitempty"`
	Digest         string                `json:"digest,omitempty"`
	Implementation tool.Implementation   `json:"implementation_type,omitempty"`
	Subject        string                `json:"subject"`
	AgentID        string                `json:"agent_id,omitempty"`
	Mode           tool.Mode             `json:"mode"`
	Status         tool.InvocationStatus `json:"status"`
	ApprovalStatus tool.ApprovalStatus   `json:"approval_status" doc:"Of the request to approve the call, whose id is that of the invocation"`
	EgressClass    tool.Egress           `json:"egress_class,omitempty"`
	Attempt        int                   `json:"attempt"`
	Input          json.RawMessage       `json:"input,omitempty"`
	Receipt        json.RawMessage       `json:"receipt,omitempty" doc:"Changes by coercion; absent if there were none"`
	Output         *tool.Result          `json:"output,omitempty"`
	OutputBytes    int64                 `json:"output_bytes,omitempty" doc:"Of an answer that was left out: its size" example:"1048576"`
	IsError        bool                  `json:"is_error"`
	ErrorKind      tool.Kind             `json:"error_kind,omitempty"`
	Error          string                `json:"error,omitempty"`
	CreatedAt      time.Time             `json:"created_at"`
	StartedAt      *time.Time            `json:"started_at,omitempty"`
	CompletedAt    *time.Time            `json:"completed_at,omitempty"`
	CostMicros     *int64                `json:"cost_micros,omitempty" doc:"By the price of its tool when it ended, in millionths; absent where the tool had none" example:"2000"`
	Check          *tool.Check           `json:"check,omitempty" doc:"Where to look for the effect of a call whose outcome is unknown; only when a single invocation is requested"`
}

// FromInvocation returns an invocation as the API shows it.
func FromInvocation(i tool.Invocation) Invocation {
	return Invocation{
		ID: i.InvocationID, Tenant: i.Principal.Tenant, RunID: i.RunID, ParentID: i.ParentID, Turn: i.Turn,
		Position: i.Position, CallID: i.CallID, EffectID: i.EffectID, ToolID: i.ToolID, Tool: i.Slug, Version: i.Version,
		Digest: i.Digest, Implementation: i.Implementation, Subject: i.Principal.Subject, AgentID: i.AgentID, Mode: i.Mode,
		Status: i.Status, ApprovalStatus: i.ApprovalStatus, EgressClass: i.EgressClass, Attempt: i.Attempt, Input: i.Input,
		Receipt: i.Receipt, Output: i.Output, IsError: i.IsError, ErrorKind: i.ErrorKind, Error: i.Error,
		CreatedAt: i.CreatedAt, StartedAt: i.StartedAt, CompletedAt: i.CompletedAt, CostMicros: i.CostMicros,
		Check: i.Check,
	}
}
