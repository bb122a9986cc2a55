package agent

import (
	"time"

	"github.com/toolcrib/toolcrib/graph/flow"
	"github.com/toolcrib/toolcrib/tool"
)

// The payloads of events, the member data of [tool.Event], by type. What SQL and Go
// write is held to these types by tests, and the API describes them.

// CallStarted is the payload of [tool.EventStarted].
type CallStarted struct {
	Tool    string `json:"tool"`
	Version string `json:"version"`
	CallID  string `json:"call_id"`
	Attempt int    `json:"attempt"` // Counted from 1.
}

// CallEnded is the payload of the events that report the end of a call, see
// [tool.EndEvent].
type CallEnded struct {
	Tool    string                `json:"tool"` // The slug, or the name that the model made up.
	Version string                `json:"version"`
	CallID  string                `json:"call_id"`
	Status  tool.InvocationStatus `json:"status"`
	Kind    tool.Kind             `json:"kind,omitempty"`     // Why there is no answer; absent where there is one.
	IsError bool                  `json:"is_error,omitempty"` // The answer is an error to the model.
	MS      int64                 `json:"ms,omitempty"`       // How long the call took, in milliseconds.
}

// ApprovalAsked is the payload of [tool.EventNeedsApproval].
type ApprovalAsked struct {
	Tool       string    `json:"tool"`
	Version    string    `json:"version"`
	CallID     string    `json:"call_id"`
	ApprovalID string    `json:"approval_id"`
	Round      int       `json:"round"`             // Counted from 1: what the approval is bound to may change.
	Message    string    `json:"message"`           // What the approver is asked.
	Reasons    []string  `json:"reasons,omitempty"` // Why the policy asks.
	Binding    string    `json:"binding"`           // Digest of what is asked for.
	Needed     int       `json:"needed"`            // How many approvals are needed.
	ExpiresAt  time.Time `json:"expires_at"`
}

// ApprovalEscalated is the payload of [tool.EventEscalated].
type ApprovalEscalated struct {
	Tool       string    `json:"tool"`
	Version    string    `json:"version"`
	CallID     string    `json:"call_id"`
	ApprovalID string    `json:"approval_id"`
	Round      int       `json:"round"`
	To         string    `json:"to"` // The permission of those who may decide too from now on.
	ExpiresAt  time.Time `json:"expires_at"`
}

// CallApproved is the payload of [tool.EventApproved].
type CallApproved struct {
	Tool       string   `json:"tool"`
	Version    string   `json:"version"`
	CallID     string   `json:"call_id"`
	ApprovalID string   `json:"approval_id"`
	Round      int      `json:"round"`
	By         []string `json:"by"`               // The subjects that approved.
	Edited     bool     `json:"edited,omitempty"` // With other arguments than the caller's.
}

// CallOffered is the payload of [tool.EventPending].
type CallOffered struct {
	Tool      string      `json:"tool"`
	Version   string      `json:"version"`
	CallID    string      `json:"call_id"`
	PendingID string      `json:"pending_tool_call_id"`
	Kind      string      `json:"kind,omitempty"` // "input_request" where a person is asked for input.
	Intent    tool.Intent `json:"intent,omitempty"`
	Shown     bool        `json:"shown"` // Whether it is meant for people.
	// RequiresResponse says that a result is expected. The caller waits for it until
	// AnswerBy, unless the call is Async.
	RequiresResponse bool       `json:"requires_response"`
	Async            bool       `json:"is_async,omitempty"`
	AnswerBy         *time.Time `json:"answer_by,omitempty"`
}

// ResultReceived is the payload of [tool.EventResultReceived].
type ResultReceived struct {
	Tool      string `json:"tool"`
	Version   string `json:"version"`
	CallID    string `json:"call_id"`
	PendingID string `json:"pending_tool_call_id"`
	By        string `json:"by,omitempty"` // The subject that submitted it.
	IsError   bool   `json:"is_error"`
	// Late says that the call does not wait for the result any more, or never did: it goes
	// to the inbox of the run.
	Late bool `json:"late,omitempty"`
}

// Warning is the payload of [tool.EventWarning].
type Warning struct {
	Tool      string      `json:"tool"`
	Version   string      `json:"version,omitempty"`
	CallID    string      `json:"call_id,omitempty"`
	Reason    string      `json:"reason"`              // Such as deprecated, egress_drift, omitted or unusable_schema.
	Kind      tool.Kind   `json:"kind,omitempty"`      // Of the failure behind it.
	Message   string      `json:"message,omitempty"`   // For people.
	Declared  tool.Egress `json:"declared,omitempty"`  // Of egress_drift: the tool's egress class.
	Attempted string      `json:"attempted,omitempty"` // Of egress_drift: such as a method.
}

// RunStarted is the payload of [EventRunStarted].
type RunStarted struct {
	Kind         RunKind `json:"kind"`
	WorkflowID   string  `json:"workflow_id"`
	Agent        string  `json:"agent,omitempty"`
	AgentVersion string  `json:"agent_version,omitempty"`
}

// RunEnded is the payload of the events that report the end of a run.
type RunEnded struct {
	Status  RunStatus `json:"status"`
	Kind    tool.Kind `json:"kind,omitempty"` // Why it failed; absent where it completed.
	Turns   int       `json:"turns,omitempty"`
	EndedBy string    `json:"ended_by,omitempty"` // [EndedByReconciler]; absent where the run ended itself.
	Reason  string    `json:"reason,omitempty"`   // Why it was ended from outside.
	Message string    `json:"message,omitempty"`
}

// TurnAnswered is the payload of [EventTurn].
type TurnAnswered struct {
	Turn         int `json:"turn"`
	Calls        int `json:"calls"`
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// WaitedMS is how long the request waited for the rate limits of the model's provider, in
	// milliseconds.
	WaitedMS int64 `json:"waited_ms,omitempty"`
	// Model is the fallback model that answered; absent for the agent's own.
	Model string `json:"model,omitempty"`
}

// NodeEnded is the payload of [EventNodeEnded].
type NodeEnded struct {
	CallID    string    `json:"call_id"` // Of the graph's call.
	Path      string    `json:"path"`
	Node      string    `json:"node"`
	Kind      flow.Kind `json:"kind"`
	Status    string    `json:"status"`
	ErrorKind tool.Kind `json:"error_kind,omitempty"`
	Error     string    `json:"error,omitempty"`
}

// EventPayloads returns the payload of each type of event, as a zero value.
func EventPayloads() map[tool.EventType]any {
	return map[tool.EventType]any{
		tool.EventStarted: CallStarted{}, tool.EventOutputAppended: Output{}, tool.EventWarning: Warning{},
		tool.EventCompleted: CallEnded{}, tool.EventFailed: CallEnded{}, tool.EventCancelled: CallEnded{},
		tool.EventRejected: CallEnded{}, tool.EventExpired: CallEnded{},
		tool.EventNeedsApproval: ApprovalAsked{}, tool.EventApproved: CallApproved{},
		tool.EventEscalated: ApprovalEscalated{},
		tool.EventPending:   CallOffered{}, tool.EventResultReceived: ResultReceived{},
		EventRunTainted: tool.Taint{},
		EventRunStarted: RunStarted{}, EventRunCompleted: RunEnded{}, EventRunFailed: RunEnded{},
		EventRunCancelled: RunEnded{}, EventTurn: TurnAnswered{}, EventNodeEnded: NodeEnded{}, EventOutputAppended: Output{},
		EventModelRetrying: ModelRetry{}, EventInbox: InboxTaken{},
		EventRunPaused: PauseChanged{}, EventRunResumed: PauseChanged{},
	}
}
