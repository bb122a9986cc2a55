package space

import (
	"context"
	"errors"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Query asks for a page of spaces, newest first.
type Query struct {
	Tenant   tool.TenantID
	Member   *Member  // Only spaces with this member. Nil for every space.
	Slugs    []string // Only these. Empty for every space.
	Archived bool     // Archived ones too.
	Before   string   // Id. Empty for the first page.
	Limit    int
}

// Store keeps spaces. Implementations are safe for concurrent use. What the tenant does not have is
// tool.NotFound.
type Store interface {
	// CreateSpace makes a space with its members, whom s.CreatedBy adds. It fails with tool.Conflict for a
	// slug that the tenant has, and for one space or member too many, and as AddSpaceMember does; nothing
	// is made then.
	CreateSpace(ctx context.Context, s Space, members ...Member) (Space, error)
	// FindSpace finds a space by slug or id.
	FindSpace(ctx context.Context, tenant tool.TenantID, slugOrID string) (Space, error)
	ListSpaces(ctx context.Context, q Query) ([]Space, error)
	// ChangeSpace fails with [ErrChanged] for another revision than s has.
	ChangeSpace(ctx context.Context, s Space) (Space, error)
	// DeleteSpace deletes a space with its messages. It fails with [ErrChanged] for another
	// revision, unless it is zero.
	DeleteSpace(ctx context.Context, tenant tool.TenantID, id string, revision int64) (Space, error)

	// AddSpaceMember adds a member, once. It fails with tool.NotFound for an agent that the tenant
	// does not have, and with tool.Conflict for one member too many.
	AddSpaceMember(ctx context.Context, tenant tool.TenantID, spaceID string, m Member, by string) (Membership, error)
	// RemoveSpaceMember removes a member, and returns what it was. The runs of an agent leave the space.
	RemoveSpaceMember(ctx context.Context, tenant tool.TenantID, spaceID string, m Member) (Membership, error)
	ListSpaceMembers(ctx context.Context, tenant tool.TenantID, spaceID string) ([]Membership, error)
	IsSpaceMember(ctx context.Context, tenant tool.TenantID, spaceID string, m Member) (bool, error)

	// PostMessage posts a text once, and wakes the other agents of the space in the same
	// transaction. It fails with tool.Denied for an author that is no member, and with
	// tool.Conflict for an archived space.
	PostMessage(ctx context.Context, p Post) (Posted, error)
	FindSpaceMessage(ctx context.Context, tenant tool.TenantID, spaceID, id string) (Message, error)
	ListSpaceMessages(ctx context.Context, q MessageQuery) ([]Message, error)
	// ListSpaceChanges returns messages that are new, or have changed, after a number, in the
	// order of their last changes.
	ListSpaceChanges(ctx context.Context, tenant tool.TenantID, spaceID string, after int64, limit int) ([]Message, error)
}

// Place is the space that a run is in.
type Place struct {
	Space
	Agent string // Slug of the agent that the run is of.
	Hops  int    // Of the message that woke the run last; zero for a run that none did.
}

// Visits keeps which space a run is in, and what its agent keeps. Implementations are safe for
// concurrent use.
type Visits interface {
	// EnterSpace moves a run of an agent into a space. It fails with tool.NotFound for a space that
	// is archived, or that the agent is no member of.
	EnterSpace(ctx context.Context, tenant tool.TenantID, runID, agentID, slugOrID string) (Space, error)
	// LeaveSpace returns the space that the run was in; nil for none.
	LeaveSpace(ctx context.Context, tenant tool.TenantID, runID string) (*Space, error)
	// RunSpace returns the space that a run is in; nil for none, and for one that is archived or
	// that its agent is no member of any more.
	RunSpace(ctx context.Context, tenant tool.TenantID, runID string) (*Place, error)

	// SetNotes creates and changes notes of an agent, and returns how many there are of each kind.
	// It fails with tool.Conflict for more than [MaxNotes], and changes nothing then.
	SetNotes(ctx context.Context, tenant tool.TenantID, agentID string, notes []Note) error
	// DeleteNotes deletes notes of an agent, and returns the keys of those that there were.
	DeleteNotes(ctx context.Context, tenant tool.TenantID, agentID string, kind NoteKind, keys []string) ([]string, error)
	// ListNotes lists the notes of an agent, of one kind or of all.
	ListNotes(ctx context.Context, tenant tool.TenantID, agentID string, kind NoteKind) ([]Note, error)
}

// ErrWakeOver is in the chain of errors when a wake has ended meanwhile: another process began its
// run, or the agent is no member any more.
var ErrWakeOver = errors.New("the agent was woken already, or has left the space")

// WakeKey names an agent that is to be woken, and for whom.
type WakeKey struct {
	Tenant  tool.TenantID `json:"t"`
	SpaceID string        `json:"s"`
	AgentID string        `json:"a"`
	Subject string        `json:"u"`
}

// Wake is an agent that is to be woken, where none of its runs took the messages.
type Wake struct {
	WakeKey
	Space     Space // Its ID, Slug and Name.
	Agent     string
	Principal tool.Principal
	RunID     string // Of the run to begin.
	UptoSeq   int64  // The last message that it is woken by.
	Attempts  int
	Messages  []Message // What it is woken by, oldest first; the last of it.
}

// Wakes are the agents that messages wake. Each is woken by one run at a time for each space and
// subject. Implementations are safe for concurrent use.
type Wakes interface {
	// ClaimWakes claims wakes that are due, of any tenant, for the length of the lease.
	ClaimWakes(ctx context.Context, limit int, lease time.Duration) ([]WakeKey, error)
	// DeliverWake puts what an agent is woken by into the inbox of its run that goes on, and ends
	// the wake, in one transaction. It returns the wake where there is no such run, and one is to
	// begin, with which the wake ends; nil where nothing is left to do. Render makes the text for the agent.
	DeliverWake(ctx context.Context, key WakeKey, render func(Wake) string) (*Wake, error)
	// EndWake ends a wake up to a message, if it has not ended yet: with the run that began. Where
	// messages came after it, the agent is woken again.
	// A reason is why it was not woken; it is shown with the message.
	EndWake(ctx context.Context, w Wake, reason string) error
}
