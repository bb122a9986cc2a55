package wait

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/tool"
)

// SubmitPermission is the permission to see calls that are answered from outside, and to
// submit their results.
const SubmitPermission = "results.submit"

// KeepResults is how long a late or asynchronous result is accepted.
const KeepResults = 7 * 24 * time.Hour

// CallStatus is the state of a call that is answered from outside.
type CallStatus string

// States of calls (checklist S1-31…S1-33). They are stored: never rename one.
const (
	CallWaiting   CallStatus = "waiting"   // The caller waits for the result.
	CallPending   CallStatus = "pending"   // The call has returned: a result goes to the run's inbox.
	CallResolved  CallStatus = "resolved"  // It has its result.
	CallExpired   CallStatus = "expired"   // No result is taken any more.
	CallCancelled CallStatus = "cancelled" // The call or its run ended otherwise.
)

// CallStatuses returns all of them, in the order of a call's life.
func CallStatuses() []CallStatus {
	return []CallStatus{CallWaiting, CallPending, CallResolved, CallExpired, CallCancelled}
}

// Open reports whether a result is taken.
func (s CallStatus) Open() bool { return s == CallWaiting || s == CallPending }

// Call is a call that is answered from outside. Its ID is that of the invocation.
type Call struct {
	ID        string
	RootRunID string // The outermost run; that of the call where it is not nested.
	tool.CallIdentity
	tool.VersionIdentity

	Arguments        json.RawMessage // Those that were approved, where people edited them.
	Intent           tool.Intent
	Shown            bool // Whether it is meant for people.
	RequiresResponse bool
	Async            bool // The caller did not wait for the result.

	Status      CallStatus
	Result      *tool.Result // Set once it is resolved.
	Late        bool         // The result came after the call had ended without it.
	SubmittedBy string       // Subject; empty for a result that the definition gives.
	CreatedAt   time.Time
	AnswerBy    *time.Time // Until when the caller waits; nil where it does not.
	ExpiresAt   time.Time  // When no result is taken any more.
	ResolvedAt  *time.Time

	WorkflowID string // The workflow that waits.
	Key        []byte // Signs tokens that may submit the result; secret.
}

// Offer is a call that is to be answered from outside.
type Offer struct {
	Entry      ledger.Entry // Of the admitted call.
	Fence      int64        // Of the attempt that offers it.
	WorkflowID string
	Intent     tool.Intent
	Shown      bool
	Async      bool
	// Result is given where no response is required: the call does not wait then.
	Result *tool.Result
	// Timeout is how long the caller waits. It is not used for a call that is Async or has
	// a Result.
	Timeout time.Duration
}

// Submission is the result of a call.
type Submission struct {
	Tenant  tool.TenantID
	ID      string // Of the call.
	Subject string // Who submits.
	ByLink  bool   // A visitor of a link does: the result taints the run that gets it.
	Result  *tool.Result
	// Files are the ids of the files, sent to the call, that the result names: they are kept.
	// If one of them is gone, submitting fails with tool.Conflict.
	Files []string
}

// CallQuery selects calls, newest first unless Oldest.
type CallQuery struct {
	Tenant tool.TenantID
	Status CallStatus          // Empty for all, [CallsOpen] for those that take a result.
	RunID  string              // Of the run or of its outermost run; empty for all.
	CallID string              // As the caller named the call; empty for all.
	Tools  []string            // Slugs; empty for all.
	Of     tool.Implementation // Empty for all.
	Oldest bool                // The oldest first.
	Before string              // ID to continue after, in the order of the list; empty for the first page.
	Limit  int                 // 1 to 500.
}

// CallsOpen selects the calls that take a result.
const CallsOpen = "open"

// Calls records calls that are answered from outside. Implementations are safe for
// concurrent use; each method is one transaction. What a method says of events and
// invocations is part of that transaction.
type Calls interface {
	// OfferCall records a call, and returns it, or the one that there is. It sets the
	// invocation of one that waits to waiting, and writes the event tool.pending. It fails
	// with Conflict where the call is settled, or the attempt was overtaken.
	OfferCall(ctx context.Context, o Offer) (Call, error)

	// SubmitResult records the result of a call, and reports whether it is the first: a call
	// keeps its first result, which is returned. It writes the event tool.result_received,
	// unless the run is over. A call that waits is settled with the result; otherwise the
	// result is late, or of a call that did not wait.
	//
	// It fails with NotFound for a call that the tenant does not have, and with Conflict,
	// and the call, for one that takes no result any more.
	SubmitResult(ctx context.Context, s Submission) (Call, bool, error)

	// FindCall fails with NotFound.
	FindCall(ctx context.Context, tenant tool.TenantID, id string) (Call, error)
	ListCalls(ctx context.Context, q CallQuery) ([]Call, error)
	// RevokeTokens makes all tokens and links of a call worthless. It fails with NotFound.
	RevokeTokens(ctx context.Context, tenant tool.TenantID, id string) error

	// ClaimResolved claims calls of any tenant whose workflow was not told of the result, for
	// the time of the lease; CallDelivered marks one as told.
	ClaimResolved(ctx context.Context, limit int, lease time.Duration) ([]Undelivered, error)
	CallDelivered(ctx context.Context, tenant tool.TenantID, id string) error
}
