package wait

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// DecidePermission is the permission to approve and reject calls, unless the tool asks
// for another.
const DecidePermission = "approvals.decide"

// ConfirmPermission is the permission to confirm one's own direct calls of tools that only ask
// for a confirmation: see [Target].Own. Give it to people's keys, not to those of programs.
const ConfirmPermission = "approvals.confirm"

// DefaultExpiry is how long a request waits, unless the tool says otherwise.
const DefaultExpiry = tool.DefaultConfirmationExpires

// Status is the state of a request. It changes once, from Pending.
type Status string

// Statuses. They are stored: never rename one.
const (
	Pending   Status = "pending"
	Approved  Status = "approved"
	Rejected  Status = "rejected"
	Expired   Status = "expired"   // Not decided in time.
	Cancelled Status = "cancelled" // The run ended first.
)

// Statuses returns all of them, in the order of a request's life.
func Statuses() []Status { return []Status{Pending, Approved, Rejected, Expired, Cancelled} }

// Final reports whether the request is over.
func (s Status) Final() bool { return s != Pending && s != "" }

// Approval is a request to approve one call. Its ID is the call's invocation id: a call
// has at most one request, which is asked anew (Round) where what it is bound to changed
// after it was approved.
type Approval struct {
	ID        string        `json:"id"`
	Tenant    tool.TenantID `json:"tenant_id"`
	RunID     string        `json:"run_id"`
	RootRunID string        `json:"root_run_id"` // The outermost run; RunID where the run is not nested.
	Turn      int           `json:"turn"`
	CallID    string        `json:"call_id"`

	Tool    string `json:"tool"` // Slug.
	Version string `json:"version"`
	Agent   string `json:"agent,omitempty"` // Slug.
	// Requester is the subject that the run acts for. It never decides, unless Own lets it.
	Requester string          `json:"requester"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // As the caller gave them.
	Edited    json.RawMessage `json:"edited,omitempty"`    // As they were approved, where those are others.
	Target
	// Binding is a digest of what is asked for: that of Target with the arguments.
	Binding string   `json:"binding"`
	Message string   `json:"message"`           // What the approver is asked, in plain text.
	Reasons []string `json:"reasons,omitempty"` // Why the policy asks.

	Round      int    `json:"round"`      // Counted from 1.
	Needed     int    `json:"needed"`     // How many approvals are needed; one rejection rejects.
	Permission string `json:"permission"` // What one must be permitted to decide.
	// EscalatesAt is when those with EscalateTo may decide too, and Escalated whether they may
	// now. Nil for never.
	EscalatesAt *time.Time `json:"escalates_at,omitempty"`
	EscalateTo  string     `json:"escalate_to,omitempty"`
	Escalated   bool       `json:"escalated,omitempty"`
	Status      Status     `json:"status"`
	Reason      string     `json:"reason,omitempty"` // Of the decision that ended it.
	Decisions   []Decision `json:"decisions,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	ExpiresAt   time.Time  `json:"expires_at"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`

	WorkflowID string `json:"workflow_id"` // The workflow that waits.
}

// Permits reports whether the permissions of a principal let it decide the request now. It may be
// refused all the same: see [Approvals].
func (a *Approval) Permits(p tool.Principal) bool {
	return p.May(a.Permission) || a.Escalated && p.May(a.EscalateTo)
}

// Confirms reports whether a principal made the call itself and may confirm it.
func (a *Approval) Confirms(p tool.Principal) bool {
	return a.Own && p.Subject != "" && p.Subject == a.Requester && p.May(ConfirmPermission)
}

// Permissions are those of which one must have one to decide the request, now or later.
func (a *Approval) Permissions() []string {
	if a.EscalateTo == "" || a.EscalateTo == a.Permission {
		return []string{a.Permission}
	}
	return []string{a.Permission, a.EscalateTo}
}

// Decision is what one person said of a request.
type Decision struct {
	Subject string          `json:"subject"`
	Approve bool            `json:"approve"`
	Reason  string          `json:"reason,omitempty"`
	Edited  json.RawMessage `json:"edited,omitempty"`   // Arguments to call with instead; prepared, and checked by the schema.
	GrantID string          `json:"grant_id,omitempty"` // The standing grant that decided for the subject; empty for a person.
	At      time.Time       `json:"at"`
}

// Request asks for the approval of a call.
type Request struct {
	Entry      ledger.Entry
	Agent      string
	WorkflowID string
	Target     Target
	Binding    string
	Message    string
	Reasons    []string
	Needed     int
	Permission string
	Expires    time.Duration // From now.
	// EscalateAfter is when those with EscalateTo may decide too, from now. Zero for never.
	EscalateAfter time.Duration
	EscalateTo    string
}

// Verdict decides a request.
type Verdict struct {
	Principal tool.Principal // Who decides.
	ID        string
	Approve   bool
	Reason    string
	// Edited replaces the arguments, and Binding is the digest for them. Only the first
	// approval of a request may edit; later ones approve what is edited.
	Edited       json.RawMessage
	EditedDigest string // [tool.Digest] of Edited.
	Binding      string
	// Seen is the binding of what the person saw; empty to skip the check. A request
	// that was asked anew since, or whose arguments were edited, has another.
	Seen string
}

// Query selects requests, newest first unless Oldest.
type Query struct {
	Tenant tool.TenantID
	Status Status // Empty for all.
	RunID  string // Of the run or of its outermost run; empty for all.
	Batch  *Batch // Instead of RunID: the requests of one batch.
	Tool   string // Slug; empty for all.
	Oldest bool   // The oldest first.
	Before string // ID to continue after, in the order of the list; empty for the first page.
	Limit  int    // 1 to 500.
}

// Undelivered is a request that ended and whose workflow was not told yet.
type Undelivered struct {
	Tenant     tool.TenantID
	ID         string
	WorkflowID string
	Round      int // That ended. Delivered marks no other; zero stands for any.
}

// Approvals records requests and decisions. Implementations are safe for concurrent use;
// each method is one transaction. What a method says of events and invocations is part
// of that transaction.
type Approvals interface {
	// Ask records a request and returns it, or the one that there is. It sets the
	// invocation to pending and writes the event tool.needs_approval. A request that
	// was approved for another binding is asked anew, in the next round; one that ended
	// otherwise stays. It fails with Conflict where the call is settled.
	Ask(ctx context.Context, r Request) (Approval, error)

	// Decide records a decision. The approval that ends the request makes the invocation
	// approved and writes the event tool.approved; the event of a rejection is that of the
	// call's settlement. The same decision of the same subject, made twice, is made once.
	//
	// It fails with NotFound for a request that the tenant does not have; with Denied
	// for who started the run or lacks the permission; with Conflict, and the request,
	// where it is over, where its binding is not the one seen, and where the subject has
	// decided otherwise.
	Decide(ctx context.Context, v Verdict) (Approval, error)

	// CheckDecision returns the request of a decision, which it does not record. It fails as
	// Decide does, save for what is wrong with edited arguments: those of the verdict are not
	// read.
	CheckDecision(ctx context.Context, v Verdict) (Approval, error)

	// MayDecide returns, for each of the requests as they were read, why a decision of the principal
	// would be refused now; nil where it would count. It is what Decide asks too, save for what the
	// principal saw and for edited arguments. Of a request that is gone the reason is NotFound.
	MayDecide(ctx context.Context, p tool.Principal, asked []Approval) ([]error, error)

	// End ends a pending request as expired (if its time is over) or cancelled, and
	// returns it as it is then. One that is over is returned unchanged.
	End(ctx context.Context, tenant tool.TenantID, id string, as Status) (Approval, error)

	// FindApproval fails with NotFound.
	FindApproval(ctx context.Context, tenant tool.TenantID, id string) (Approval, error)
	ListApprovals(ctx context.Context, q Query) ([]Approval, error)

	// CountApprovers counts the active API keys of a tenant that have one of the permissions,
	// without the given subject.
	CountApprovers(ctx context.Context, tenant tool.TenantID, permissions []string, except string) (int, error)

	// EscalateDue writes the event tool.approval_escalated for pending requests of any tenant,
	// at most limit of them, whose time to escalate has come. It returns their number. It is
	// not what lets others decide: that is the time alone.
	EscalateDue(ctx context.Context, limit int) (int, error)

	// ExpireOverdue ends requests of any tenant, at most limit of them, whose time was over
	// the given duration ago: the workflow that waited does not. It returns their number.
	ExpireOverdue(ctx context.Context, limit int, over time.Duration) (int, error)

	// ClaimUndelivered claims ended requests of any tenant whose workflow was not told,
	// for the time of the lease; Delivered marks one as told.
	ClaimUndelivered(ctx context.Context, limit int, lease time.Duration) ([]Undelivered, error)
	Delivered(ctx context.Context, u Undelivered) error
}
