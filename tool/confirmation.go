package tool

import "time"

// Confirmation is when a call of a tool needs an approval, and how it is asked for. It may
// ask for more than the tool's policy does, never for less. The zero Confirmation asks for
// one approval of every call.
type Confirmation struct {
	// When is an expression in CEL over input and principal: the call needs an approval if it
	// is true, or cannot be evaluated. Empty for every call. See package confirm.
	When string `json:"when,omitempty"`
	// Message is what the approver is asked. Expressions in {{ }} are replaced by their values.
	Message string `json:"message,omitempty"`
	// Approvals is how many are needed, 1 to 10; 1 when zero.
	Approvals int `json:"approvals,omitempty"`
	// ExpiresSeconds is how long the request waits; 24 hours when zero.
	ExpiresSeconds int `json:"expires_s,omitempty"`
	// Permission is what one must be permitted to decide; approvals.decide when empty.
	Permission string `json:"permission,omitempty"`
	// EscalateAfterSeconds is how long a request waits before those with EscalateTo may decide
	// it too; never when zero. It is shorter than the time that the request waits at all.
	EscalateAfterSeconds int `json:"escalate_after_s,omitempty"`
	// EscalateTo is the permission of those who may decide a request that was escalated.
	EscalateTo string `json:"escalate_to,omitempty"`
}

// Bounds of a [Confirmation].
const (
	MaxApprovals               = 10
	MinConfirmationExpires     = time.Minute
	MaxConfirmationExpires     = 30 * 24 * time.Hour
	DefaultConfirmationExpires = 24 * time.Hour
	MinEscalation              = time.Minute
)
