// Package ledger is the contract of the effect ledger, which makes calls safe to retry, and
// records when a retry is not allowed.
//
// An effect moves through phases (accepted, admitted, sent, done). Every
// transition is a compare-and-set on (phase, fence) in the database: a writer
// that loses it must send nothing. That holds for retries, resets, and workers
// that wake up long after their call was settled. Package store implements the
// contract; this package knows neither SQL nor Temporal.
package ledger

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// Ledger records the effects of calls. Implementations are safe for concurrent
// use. Each method is one round trip and one transaction.
type Ledger interface {
	// Admit reads the authority over the call as it is now (tenant, tool
	// status, mode, policy) and, in the same transaction, opens or
	// re-opens its effect, the invocation row and the event tool.started.
	//
	// The tool's policy, its required permission and the profiles that apply to the
	// call included, is returned for the caller to decide: see package policy.
	//
	// A call of a tool that needs an approval is held until it has one: its
	// invocation is pending, nothing has started, and MarkSent fails. See package
	// wait.
	//
	// It fails with a [*tool.Error]: NotFound where the tenant may not know the
	// tool, Denied or Conflict where authority or a budget says no, RateLimited where
	// the rate of a profile does, Unknown where an earlier attempt of a call that may
	// not be repeated was sent. Nothing is written then; the caller settles the call,
	// or tries it again.
	Admit(ctx context.Context, req AdmitRequest) (Ticket, error)

	// MarkSent moves an admitted effect to sent, before the first byte leaves.
	// It fails with Conflict when another attempt was faster or the effect is
	// settled, and then nothing may be sent.
	MarkSent(ctx context.Context, tenant tool.TenantID, effectID string, fence int64) error

	// MarkUnsent reverts a MarkSent of the same attempt, which knows that nothing was
	// sent: the effect is admitted again, so that another attempt may send it. It fails
	// with Conflict when the effect is no longer sent under that fence.
	MarkUnsent(ctx context.Context, tenant tool.TenantID, effectID string, fence int64) error

	// Settle closes a call: effect, invocation, event and tool message, in one
	// transaction. Settling twice returns the first outcome.
	//
	// It fails with Conflict when the settlement's fence is no longer the effect's,
	// because a later attempt is running.
	Settle(ctx context.Context, s Settlement) (Outcome, error)

	// Records returns the records of effects, by their ids; effects that the
	// tenant does not have are missing.
	Records(ctx context.Context, tenant tool.TenantID, effectIDs []string) (map[string]Record, error)
}

// Record is an effect as recorded in the ledger.
type Record struct {
	InvocationID string
	Arguments    json.RawMessage // The arguments of the call; empty where it was never admitted.
	Outcome      *Outcome        // Nil while it is in progress.
}

// Entry describes a call to the ledger.
type Entry struct {
	tool.CallIdentity
	tool.VersionIdentity

	Arguments json.RawMessage
	// ArgumentsStored says that Arguments is empty because they are stored with
	// the assistant message, at Position of its prepared arguments.
	ArgumentsStored bool
	Receipt         json.RawMessage // What coercion changed; empty when nothing.
	// Hidden says that the call is posted to no space, whatever space its run is in.
	// Unset, the ledger looks whether it is.
	Hidden bool
	// InlineBytes is the tool's [tool.Execution.InlineBytes].
	InlineBytes int
	// Taints says that a result taints the run that gets it: see [tool.Taint].
	Taints bool
	// Nested says that the call is the run of an agent, which taints the run of the call where it is tainted. The calls
	// of graphs and compositions are of the run itself.
	Nested bool
}

// AdmitRequest asks for the admission of one attempt.
type AdmitRequest struct {
	Entry
	Repeatable bool // Whether an effect that was sent may be sent again (pure or idempotent).
	Send       bool // Whether to go straight to sent, as pure calls do.
	// Assigned says that the agent has the tool by an assignment, which must still exist.
	Assigned bool
	// Secret says that the call uses a credential.
	Secret bool
}

// Ticket is a granted admission.
type Ticket struct {
	InvocationID string // As the ledger knows the call.
	Fence        int64
	Attempt      int             // Counted from 1 over the effect's life.
	Policy       tool.Policy     // The tool's current policy; the caller evaluates it before it sends.
	Deprecated   bool            // The tool is deprecated; a warning event was written.
	Followed     bool            // Whether the output of the call's run has followers.
	Arguments    json.RawMessage // The arguments of the call, wherever they were stored; those that were approved.
	// Taint is that of the call's run, with the tenant's rule. Nil where the run is not tainted, the rule
	// is off, or the call was decided before the model was shown the result.
	Taint    *tool.Taint
	Approved string   // The binding of the approval of the call; empty where there is none.
	Done     *Outcome // Set when the effect was settled before; then nothing is admitted.
}

// Settlement is the end of a call.
type Settlement struct {
	Entry
	// Fence is the fence of the attempt that settles; zero when the workflow
	// settles for attempts that are known to be over.
	Fence  int64
	Status tool.InvocationStatus // Final.
	Result *tool.Result          // What the tool answered, if it did.
	Kind   tool.Kind             // Why it did not; empty with a Result.
	Msg    string                // For the caller and the model; empty with a Result.
	// Unsent says that the settling attempt sent nothing, although it marked
	// the effect as sent.
	Unsent bool
	// Acted means that parts of the call ran: steps, or the run of an agent.
	Acted bool
	// UnknownIfSent turns a failure into StatusUnknown when the effect was
	// sent, since it cannot be known whether it happened.
	UnknownIfSent bool
	// Reference is the invocation that the effect was admitted for, which a preview of the result
	// refers to. Defaults to InvocationID.
	Reference string
	// Drift is set for a call that was refused because it would have done more
	// than its tool declares; the event tool.warning goes with the settlement.
	Drift *Drift
	// ByLink says that a visitor of a link gave the result: it taints the run as one of an untrusted source does.
	ByLink bool
}

// Drift is what a tool declares and what its call attempted.
type Drift struct {
	Declared  tool.Egress
	Attempted string // Such as a method, "POST".
}

// Outcome is the outcome of a call.
type Outcome struct {
	InvocationID string                `json:"invocation_id"`
	Status       tool.InvocationStatus `json:"status"`
	Result       *tool.Result          `json:"result,omitempty"`
	Kind         tool.Kind             `json:"kind,omitempty"`
	Msg          string                `json:"msg,omitempty"`
	Sent         bool                  `json:"-"` // Whether something of the call may have left, or parts of it were done.
	Won          bool                  `json:"-"` // Whether this settlement is the effective one.
}

// UnknownMessage is the message to caller and model for a call whose effect may have happened.
const UnknownMessage = "outcome unknown: the request may have taken effect; check before calling it again"

// IsError reports whether the outcome is an error to the model.
func (o Outcome) IsError() bool { return o.Result == nil || o.Result.IsError }

// Err returns the outcome as an error, or nil when the tool answered.
func (o Outcome) Err() error {
	if o.Result != nil {
		return nil
	}
	return &tool.Error{Kind: o.Kind, Op: "ledger.Outcome", Msg: o.Msg, Sent: o.Sent}
}

// Content returns the content of the outcome that is shown to the model.
func (o Outcome) Content() []tool.Content {
	if o.Result != nil {
		return o.Result.Content
	}
	return []tool.Content{tool.Text(string(o.Kind) + ": " + o.Msg)}
}
