package tool

import (
	"encoding/json"
	"time"
)

// InvocationStatus is the stage of an invocation in its life cycle.
type InvocationStatus string

// Statuses of an invocation. The last six are final.
const (
	StatusPending   InvocationStatus = "pending"  // Waits for an approval.
	StatusApproved  InvocationStatus = "approved" // Approved, not yet started.
	StatusRunning   InvocationStatus = "running"
	StatusWaiting   InvocationStatus = "waiting" // Waits for a result from outside.
	StatusCompleted InvocationStatus = "completed"
	StatusFailed    InvocationStatus = "failed"
	StatusRejected  InvocationStatus = "rejected"
	StatusCancelled InvocationStatus = "cancelled"
	StatusExpired   InvocationStatus = "expired"
	StatusUnknown   InvocationStatus = "unknown"
)

// InvocationStatuses lists every status.
func InvocationStatuses() []InvocationStatus {
	return []InvocationStatus{
		StatusPending, StatusApproved, StatusRunning, StatusWaiting, StatusCompleted,
		StatusFailed, StatusRejected, StatusCancelled, StatusExpired, StatusUnknown,
	}
}

// Final reports whether an invocation with this status never changes again.
func (s InvocationStatus) Final() bool {
	switch s {
	case StatusCompleted, StatusFailed, StatusRejected, StatusCancelled, StatusExpired, StatusUnknown:
		return true
	case StatusPending, StatusApproved, StatusRunning, StatusWaiting:
		return false
	default:
		return false
	}
}

// EndStatus returns the final status of an invocation that failed with kind.
func EndStatus(kind Kind) InvocationStatus {
	switch kind {
	case Unknown:
		return StatusUnknown
	case Cancelled:
		return StatusCancelled
	case Invalid, NotFound, Denied, Conflict, RateLimited, Unavailable, Timeout, InternalError:
		return StatusFailed
	default:
		return StatusFailed
	}
}

// ApprovalStatus is a person's decision on a call.
type ApprovalStatus string

// Approval statuses.
const (
	ApprovalNotRequired ApprovalStatus = "not_required"
	ApprovalPending     ApprovalStatus = "pending"
	ApprovalApproved    ApprovalStatus = "approved"
	ApprovalRejected    ApprovalStatus = "rejected"
	ApprovalExpired     ApprovalStatus = "expired"
)

// Invocation is the platform's record of serving one call.
type Invocation struct {
	ID             string           `json:"id"`
	Tenant         TenantID         `json:"tenant_id"`
	RunID          string           `json:"run_id,omitempty"`
	ParentID       string           `json:"parent_id,omitempty"` // The invocation that it is a step of.
	Turn           int              `json:"turn"`
	Position       int              `json:"position"`
	CallID         string           `json:"call_id"`
	EffectID       string           `json:"effect_id,omitempty"`
	ToolID         string           `json:"tool_id,omitempty"` // Empty when the call named no known tool.
	Tool           string           `json:"tool"`              // Slug, or the name the model made up.
	Version        string           `json:"version,omitempty"`
	Digest         string           `json:"digest,omitempty"`
	Implementation Implementation   `json:"implementation_type,omitempty"`
	Subject        string           `json:"subject"`
	AgentID        string           `json:"agent_id,omitempty"`
	Mode           Mode             `json:"mode"`
	Status         InvocationStatus `json:"status"`
	ApprovalStatus ApprovalStatus   `json:"approval_status"`
	EgressClass    Egress           `json:"egress_class,omitempty"`
	Attempt        int              `json:"attempt"`
	Input          json.RawMessage  `json:"input,omitempty"`
	Receipt        json.RawMessage  `json:"receipt,omitempty"` // What coercion changed; empty when nothing.
	Output         *Result          `json:"output,omitempty"`
	IsError        bool             `json:"is_error"`
	ErrorKind      Kind             `json:"error_kind,omitempty"`
	Error          string           `json:"error,omitempty"`
	CreatedAt      time.Time        `json:"created_at"`
	StartedAt      *time.Time       `json:"started_at,omitempty"`
	CompletedAt    *time.Time       `json:"completed_at,omitempty"`
	// Check says where to look for the effect of a call whose outcome is
	// unknown. It is set only when a single invocation is requested.
	Check *Check `json:"check,omitempty"`
}

// Phase is the progress of a call's effect in the ledger.
type Phase string

// Phases of an effect, in order. Each transition is a compare-and-set on
// (phase, fence); a writer that loses it sends nothing.
const (
	PhaseAccepted Phase = "accepted" // Decided, waiting for an approval.
	PhaseAdmitted Phase = "admitted" // May be sent.
	PhaseSent     Phase = "sent"     // Something may have left the platform.
	PhaseDone     Phase = "done"     // Settled; the result is stored.
)
