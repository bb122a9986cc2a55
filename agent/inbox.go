package agent

import (
	"errors"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// InboxKind is the kind of an item of a run's inbox.
type InboxKind string

// Kinds of items. They are stored: never rename one.
const (
	InboxResult  InboxKind = "tool_result" // The result of a call that did not wait for it any more.
	InboxMessage InboxKind = "message"     // What a person said while the run went on.
)

// InboxItem is what came to a run from outside, until a turn takes it up.
type InboxItem struct {
	ID        string // Generated when empty.
	Tenant    tool.TenantID
	RunID     string
	Kind      InboxKind
	Content   []tool.Content // As the model is shown it.
	CallID    string         // The invocation of an InboxResult, which has one item.
	By        string         // Subject.
	CreatedAt time.Time
}

// ErrInbox is the error of the end of a run whose inbox has items that no turn has taken up.
var ErrInbox = errors.New("the inbox of the run is not empty")

// EventInbox says that a turn took up what was in the inbox.
const EventInbox tool.EventType = "agent.inbox"

// InboxTaken is the payload of [EventInbox].
type InboxTaken struct {
	Turn  int `json:"turn"` // Counted from 1.
	Items int `json:"items"`
}
