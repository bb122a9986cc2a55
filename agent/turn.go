package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Turn is one answer of the model. It is stored before it is processed, so that a retry does not call
// the model again.
type Turn struct {
	Tenant  tool.TenantID
	RunID   string
	Key     string  // Names the attempt-independent turn: equal for retries, another after a reset.
	Message Message // The assistant message; its ParentID is the head it answered.
	Calls   []PreparedCall
	Waited  time.Duration // For the rate limits of the model's provider.
	Model   string        // That answered, as "provider/name".
	// Fallback reports that it is not the agent's own model but one of its fallbacks.
	Fallback bool
}

// PreparedCall is a call after resolution, coercion and policy. A turn stores
// its calls with the ids that the model and the turn gave them; the run's part
// of the identity is added where the call is made.
type PreparedCall struct {
	tool.CallIdentity

	Name      string          `json:"name,omitempty"` // As the model wrote it; in histories, only where that is not the slug.
	Slug      string          `json:"slug,omitempty"` // Of the pin it means; empty when it means none.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Raw arguments are as the caller wrote them; admission prepares them.
	Raw bool `json:"raw,omitempty"`
	// Stored means that the arguments are too large for histories and are stored
	// with the message.
	Stored bool `json:"stored,omitempty"`
	// ArgumentsDigest is of the prepared arguments; the effect's id is made with it.
	ArgumentsDigest string          `json:"arguments_digest,omitempty"`
	Receipt         json.RawMessage `json:"receipt,omitempty"`
	Refused         *Refusal        `json:"refused,omitempty"` // Set when the call must not run.
	Settled         bool            `json:"settled,omitempty"` // Recorded already, by the turn.
	Asks            *Asking         `json:"asks,omitempty"`    // Set while the call needs an approval.
}

// Asking is why a call needs the approval of a person.
type Asking struct {
	Reasons []string `json:"reasons,omitempty"` // Safe to show to the caller and the model.
	// Arguments is the digest of the prepared arguments, to which the approval is bound.
	Arguments string `json:"arguments,omitempty"`
	// Message is what the tool's own message asks the approver; empty for the usual one.
	Message string `json:"message,omitempty"`
	// Own says that only the tool's own wish for a confirmation asks.
	Own bool `json:"own,omitempty"`
	// Aimed are the arguments that say where the call goes, where some do.
	Aimed json.RawMessage `json:"aimed,omitempty"`
	// Tainted says that the taint of the run asks: standing grants do not answer that.
	Tainted bool `json:"tainted,omitempty"`
}

// Refusal is the reason why a call must not run.
type Refusal struct {
	Kind tool.Kind `json:"kind"`
	Msg  string    `json:"msg"`
	// Status is how the call ends; empty for that of Kind.
	Status tool.InvocationStatus `json:"status,omitempty"`
}

// End returns how the call ends.
func (r *Refusal) End() tool.InvocationStatus {
	if r.Status != "" {
		return r.Status
	}
	return tool.EndStatus(r.Kind)
}

// OpenTurn is the input of a model turn.
type OpenTurn struct {
	Run Run // With its Plan.
	// Of the plan's tools, by id, as they are now. A tool that is not the tenant's to see is absent.
	Policies map[string]tool.Policy
	// From the root to the head, and what was taken from the inbox after it, each assistant message followed by its tool
	// messages in call order. Shared: never change it.
	Transcript []Message
	Stored     *Turn // Set when the turn was answered and stored before.
	Followed   bool  // Whether the run's output has followers.
	Inbox      int   // How many items of the inbox no turn has taken up.
	// Taint is that of the run, with the tenant's rule; nil where it is not tainted.
	Taint    *tool.Taint
	Budgeted bool // Whether the tenant has budgets: the turn is to be reserved for, with [Runs.ReserveTurn].
}

// TurnEstimate is what a turn is expected to use.
type TurnEstimate struct {
	Key                       string   // Of the turn; its attempts reserve once.
	Models                    []string // Those that may answer, as agents name them.
	InputTokens, OutputTokens int
}

// RefusedTurn is what models used for a turn whose answers were refused: it is not stored.
type RefusedTurn struct {
	Key   string // Of the turn.
	Model string // That answered, as agents name it.
	Usage Usage  // Of all answers together.
}

// RunEnd is the end of a run. An empty Output means the text of the head message, if that is an
// assistant's.
type RunEnd struct {
	Tenant        tool.TenantID
	RunID         string
	Status        RunStatus
	Output        string
	Kind          tool.Kind
	Msg           string
	HeadMessageID string
	Turns         int
	Calls         int // Of the run and those below it.
	// Temporal's run id of the execution that ended; a later execution of a reset workflow may end the run again.
	Execution string
	// UnlessInbox leaves the run as it is while its inbox has items, with [ErrInbox].
	UnlessInbox bool
}

// Runs stores runs and their transcripts. Package store implements it. Every method fails with
// tool.NotFound for a run of another tenant.
type Runs interface {
	// CreateRun records a pending run with its first user message, which
	// becomes its head.
	CreateRun(ctx context.Context, run Run, first Message) (Run, error)
	// BeginRun marks a run as running under plan, or records a host's workflow
	// on first sight (every kind but AgentRun: by WorkflowID and
	// FirstRunID; run.ID is the id to use if it is new). It is idempotent: the
	// stored run, with the plan stored first, comes back.
	BeginRun(ctx context.Context, run Run) (Run, error)
	// Ancestors returns a run and its ancestors, the run first, up to one above [MaxDepth].
	Ancestors(ctx context.Context, tenant tool.TenantID, runID string) ([]Ancestor, error)
	// FindRun returns a run with its plan.
	FindRun(ctx context.Context, tenant tool.TenantID, id string) (Run, error)
	// FindHead returns the message that a run starts from: the requested one, if the run has
	// it, or else the first message of the run. It does not depend on later messages.
	FindHead(ctx context.Context, tenant tool.TenantID, runID, asked string) (string, error)
	// OpenTurn returns the input of the turn after head. It fails with tool.NotFound if the run
	// does not have head, or head is empty.
	OpenTurn(ctx context.Context, tenant tool.TenantID, runID, head, key string) (OpenTurn, error)
	// ReserveTurn reserves what a turn is expected to cost in the budgets that it counts in, until
	// the turn is stored or its run ends. It fails with tool.Denied where one of them has too little
	// left.
	ReserveTurn(ctx context.Context, tenant tool.TenantID, runID string, of TurnEstimate) error
	// CountRefused counts what a turn used that is not stored, in reports and in the budgets that it
	// reserved for. The tokens of an attempt are counted each time it is called.
	CountRefused(ctx context.Context, tenant tool.TenantID, runID string, turn RefusedTurn) error
	// TakeInbox makes a message of what is in a run's inbox, after head, in the given turn. It
	// returns what was taken after head, now or by an attempt before; nothing is no error. The taint is
	// the run's with all of that, as [OpenTurn] has it.
	TakeInbox(
		ctx context.Context, tenant tool.TenantID, runID, head string, turn int,
	) (after []Message, taint *tool.Taint, err error)
	// SaveTurn stores a turn once per key and settles its refused calls
	// (invocation, event and tool message). The stored turn comes back. The run's
	// head follows a turn that answers it, and one that was scheduled later than
	// it was; a turn of a branch that a reset left does not move the head back.
	SaveTurn(ctx context.Context, turn Turn) (Turn, error)
	// RecordModelRetry adds an event [EventModelRetrying] to a running run, once for each
	// attempt of a turn; it does nothing for other runs.
	RecordModelRetry(ctx context.Context, tenant tool.TenantID, runID string, retry ModelRetry) error
	// RecordWarning adds an event [tool.EventWarning] to a running run, once for each tool and
	// reason; it does nothing for other runs.
	RecordWarning(ctx context.Context, tenant tool.TenantID, runID string, warning Warning) error
	// FinishRun ends a run once; a second end changes nothing, unless another
	// execution made the first one: the later end then replaces it. It fails with [ErrInbox]
	// for an end that is not to leave items in the inbox.
	FinishRun(ctx context.Context, end RunEnd) error
	// EndPendingRun ends a run that has not started, and reports whether it did: other runs
	// are unchanged.
	EndPendingRun(ctx context.Context, end RunEnd) (bool, error)
}
