package space

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of messages.
const (
	MaxText  = 16 << 10 // Bytes of a text.
	MaxValue = 64 << 10 // Bytes of what a call was given, and answered; a larger value is replaced by its size.
	MaxPage  = 200      // Messages of a page.
)

// MessageKind is what a message is.
type MessageKind string

// Kinds of messages. They are stored: never rename one.
const (
	Text MessageKind = "text" // What a member says. It wakes the agents of the space.
	// Tool is a visible call. It cannot be replied to, and wakes nobody (checklist S1-41).
	Tool MessageKind = "tool"
)

// MessageStatus is the state of a message.
type MessageStatus string

// States of messages. They are stored: never rename one. A text is complete.
const (
	Running        MessageStatus = "running"         // The call goes on.
	RequiresAction MessageStatus = "requires_action" // It waits for somebody: an answer, or an approval.
	Complete       MessageStatus = "complete"
	Failed         MessageStatus = "failed"
)

// HopLimit is why a message woke nobody: agents have woken each other often enough.
const HopLimit = "hop_limit: agents of this space have woken each other as often as max_hops allows; " +
	"a message of a person wakes them again"

// Message is an entry of a space.
type Message struct {
	// ID of the message of a call is that of its invocation, so that an answer is submitted, and an
	// approval decided, under the same id.
	ID         string
	Tenant     tool.TenantID
	SpaceID    string
	Seq        int64 // Its place in the space, counted from 1; there are gaps.
	ChangedSeq int64 // The number of its last change, in the same count.
	Kind       MessageKind
	From       Member
	Subject    string // That the author acts for.
	RunID      string // Of an agent. The message outlives it.
	Hops       int    // Messages of agents in a row, up to this one; zero for a person's.
	Text       string
	NotWoken   string // Why it woke nobody, where it could have.

	Call   *Call // Of a Tool message.
	Status MessageStatus

	CreatedAt time.Time
	UpdatedAt time.Time
}

// Call is what the message of a visible call holds: user interfaces choose by the name of the tool
// how to draw it.
type Call struct {
	Tool    string
	Version string
	CallID  string // As the model named it.
	Input   json.RawMessage
	Output  json.RawMessage // A tool.Result; empty until there is one.
	Kind    tool.Kind       // Why there is none.
	Error   string
	// ExpiresAt is until when an answer is taken, where one is waited for.
	ExpiresAt *time.Time
}

// Settle returns the message as it is at a time: an answer that was not given in time is none.
func (m Message) Settle(now time.Time) Message {
	if m.Call == nil || m.Status != RequiresAction || m.Call.ExpiresAt == nil || now.Before(*m.Call.ExpiresAt) {
		return m
	}
	call := *m.Call
	call.Kind, call.Error = tool.Timeout, "nobody answered in time"
	m.Call, m.Status = &call, Failed
	return m
}

// Post is a text to be posted.
type Post struct {
	ID        string // Posted once. Generated when empty.
	SpaceID   string
	From      Member
	Principal tool.Principal // The agents that are woken act for it.
	RunID     string         // Of an agent.
	Hops      int            // As in [Message].
	Text      string
}

// Check fails with tool.Invalid for a text that cannot be posted.
func (p *Post) Check() error {
	switch {
	case p.Text == "":
		return invalid("/text", "the text is empty")
	case len(p.Text) > MaxText:
		return invalid("/text", "the text has %d bytes, and %d are allowed: say it in several messages", len(p.Text), MaxText)
	case !utf8.ValidString(p.Text):
		return invalid("/text", "the text is not UTF-8")
	}
	return p.From.Check()
}

// Posted is what came of a post.
type Posted struct {
	Message Message
	Woken   int // How many agents it wakes.
	// Repeated says that it was posted before, under the same id.
	Repeated bool
}

// MessageQuery asks for messages of a space, newest first.
type MessageQuery struct {
	Tenant  tool.TenantID
	SpaceID string
	Before  int64 // Only messages before this place. Zero for the last ones.
	Kind    MessageKind
	Offset  int
	Limit   int
}
