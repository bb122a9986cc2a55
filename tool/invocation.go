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
	CallIdentity
	VersionIdentity // The slug is the name that the model made up where the call names no known tool.

	Status         InvocationStatus
	ApprovalStatus ApprovalStatus
	EgressClass    Egress
	Attempt        int
	Input          json.RawMessage
	Receipt        json.RawMessage // What coercion changed; empty when nothing.
	Output         *Result
	// InlineBytes is the tool's own limit of what a model is shown of a result, where that
	// is not all of this one; otherwise zero.
	InlineBytes int
	IsError     bool
	ErrorKind   Kind
	Error       string
	CreatedAt   time.Time
	StartedAt   *time.Time
	CompletedAt *time.Time
	// CostMicros is what the call cost by the price of its tool when it ended, in millionths of the
	// currency of prices; nil where the tool had none.
	CostMicros *int64
	// Check says where to look for the effect of a call whose outcome is
	// unknown. It is set only when a single invocation is requested.
	Check *Check
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
