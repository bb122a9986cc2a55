package registry

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// LifecycleStore is what a [Store] may know beside: who uses a tool, gates of publishing and canaries. Package store
// implements it. With a store that does not, nothing is known to use a tool, and there are no gates and canaries.
type LifecycleStore interface {
	// ListUsers returns what of a tenant may use a tool, of one kind, in the order of [User.Place]. It may return
	// more than what does: the caller looks at the definitions.
	ListUsers(ctx context.Context, tenant tool.TenantID, q UserQuery) ([]User, error)
	// RunsPinning returns some runs that have not ended and whose plans pin a tool.
	RunsPinning(ctx context.Context, tenant tool.TenantID, toolID string, limit int) ([]string, error)
	// NamesOf returns the further names of a tool that still work.
	NamesOf(ctx context.Context, t tool.Tool) ([]string, error)

	// FindGate returns the gate of a tool, or that of its tenant; NotFound where there is none. Without an id it
	// is the tenant's.
	FindGate(ctx context.Context, tenant tool.TenantID, toolID string) (Gate, error)
	// LastReplay returns the last replay of a content of a tool; NotFound where there is none.
	LastReplay(ctx context.Context, tenant tool.TenantID, toolID, digest string) (Replay, error)

	// StartCanary stores a version as [Store.AddVersion] does, and the canary that withholds it, in one
	// transaction. It fails with Conflict where the tool has a canary, the version is published already, or no other
	// is.
	StartCanary(ctx context.Context, t tool.Tool, v tool.Version, c Canary) (Canary, error)
	// EndCanary ends the canary of a tool that runs, or has passed; NotFound where there is none.
	EndCanary(ctx context.Context, t tool.Tool, state CanaryState, by, reason string) (Canary, error)
}

// UserKind is the kind of a user of a tool.
type UserKind string

// Kinds of users, in the order of lists.
const (
	UserAgent      UserKind = "agent"
	UserTool       UserKind = "tool" // A composition or a graph.
	UserToolset    UserKind = "toolset"
	UserSchedule   UserKind = "schedule"   // Of an agent that uses the tool.
	UserAssignment UserKind = "assignment" // Which gives an agent the tool, or a profile for it.
	UserProfile    UserKind = "profile"    // Which applies to every call of the tool.
)

// UserKinds lists every kind, in the order of lists.
func UserKinds() []UserKind {
	return []UserKind{UserAgent, UserTool, UserToolset, UserSchedule, UserAssignment, UserProfile}
}

// UserQuery asks for a page of the users of one kind.
type UserQuery struct {
	Kind   UserKind
	ToolID string
	Names  []string // One of which the user's definition contains.
	After  string   // The place of the last user of the previous page.
	Limit  int
}

// User is what may use a tool.
type User struct {
	Kind      UserKind
	ID        string
	Name      string // Slug or name.
	Version   string // Of its definition; empty for a draft, and for what has no versions.
	Published bool   // Whether its definition is in use; false for a draft.
	Status    string
	// Through is the node, the agent or the profile by which it uses the tool; empty where it does so itself.
	Through string
	// Constraint is the version that it asks for; empty for the newest.
	Constraint string
	// Refuses says that runs of the agent are refused without the tool.
	Refuses bool
	Place   string // In the list of its kind.

	// Tools are the references of an agent, Definition is the content of a composition or a graph: which of them
	// mean the tool, the caller finds out.
	Tools      []tool.Ref
	Definition *tool.Definition
}

// Gate is what has to pass before a version is published.
type Gate struct {
	Tenant tool.TenantID
	ToolID string // Empty for every tool of the tenant that has no gate of its own.
	// Replay is how many of the last recorded calls are compared, and MaxDifferent how many of them may differ.
	Replay       int
	MaxDifferent int
	ChangedBy    string
}

// MaxReplay is how many recorded calls a replay compares at most.
const MaxReplay = 50

// Replay is the comparison of a content of a tool with its recorded calls.
type Replay struct {
	ID        string
	Tenant    tool.TenantID
	ToolID    string
	Version   string // Number of the content.
	Digest    string
	Asked     int // How many calls were asked for.
	Ended     bool
	Same      int
	Different int
	Skipped   int
	Calls     json.RawMessage // Of package replay.
	StartedBy string
}
