package wire

import (
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/wait"
)

// ResolvePendingUpdate tells a workflow that a request it waits for is over. Its input is a
// [Resolution]; it has no output. It is accepted only while the workflow waits for that
// request, and is safe to send again: its Temporal update id is [Resolution.UpdateID].
const ResolvePendingUpdate = "toolcrib.resolve_pending"

// PendingQuery returns what a workflow waits for, as a list of [Pending].
const PendingQuery = "toolcrib.pending"

// ChildWaitsSignal tells a workflow that a run which it waits for begins, or ceases, to wait
// for a person. Its input is a [ChildWaits].
const ChildWaitsSignal = "toolcrib.child_waits"

// ChildWaits is whether a child workflow waits for a person.
type ChildWaits struct {
	WorkflowID string `json:"workflow_id"` // The child's.
	Waits      bool   `json:"waits"`
}

// NotWaiting is the Temporal type of the error with which [ResolvePendingUpdate] is refused by
// a workflow that does not wait for the request, or not any more.
const NotWaiting = "toolcrib.not_waiting"

// Resolution is how a request ended, or that a call has its result. It is a message only:
// the row is what counts, and is read again.
type Resolution struct {
	ID     string      `json:"id"` // Of the request, or of the call's invocation: they are the same.
	Round  int         `json:"round"`
	Status wait.Status `json:"status"`
	Reason string      `json:"reason,omitempty"` // For the caller and the model.
}

// Answered is the status of a [Resolution] for a call that got its result from outside. It
// is none of a request for approval.
const Answered wait.Status = "answered"

// Waiting is a call that waits for its result from outside.
type Waiting struct {
	ID    string    `json:"id"` // Of the invocation.
	Until time.Time `json:"until"`
}

// UpdateID makes the update one, however often it is sent.
func (r Resolution) UpdateID() string {
	return fmt.Sprintf("resolve/%s/%d/%s", r.ID, r.Round, r.Status)
}

// AskInput asks for the approval of a call, whose Asks is set, or how its request stands.
type AskInput struct {
	Invoke InvokeInput `json:"invoke"`
	// Expired ends the request with the given ID, because its time is over.
	Expired bool   `json:"expired,omitempty"`
	ID      string `json:"id,omitempty"`
}

// AskOutput is how a request stands.
type AskOutput struct {
	Resolution

	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Refused is set, and nothing else, where the call must not run, because nobody may
	// approve it.
	Refused *Failure `json:"refused,omitempty"`
}

// Pending is a call that waits.
type Pending struct {
	ID     string `json:"id"` // Of the request, or of the call's invocation.
	CallID string `json:"call_id"`
	Tool   string `json:"tool"` // Slug.
}
