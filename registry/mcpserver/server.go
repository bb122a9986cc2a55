package mcpserver

import (
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// ToolDefinition is a tool as its server describes it: untrusted text, kept as
// data and never followed.
type ToolDefinition = remote.Tool

// Server is a server of the Model Context Protocol that a tenant attached.
type Server struct {
	ID     string        `json:"id"`
	Tenant tool.TenantID `json:"tenant_id"`
	Slug   string        `json:"slug"`
	Name   string        `json:"name"`
	definition.Connection
	// AllowedTools are the tools that are imported, by the server's names for
	// them; [definition.AllTools] for all, none when empty.
	AllowedTools []string `json:"allowed_tools"`
	// TrustHints takes the server's word that a tool only reads.
	TrustHints bool   `json:"trust_hints,omitempty"`
	Status     string `json:"status"`

	// What the server said of itself when it was asked last.
	DiscoveredAt    *time.Time `json:"discovered_at,omitempty"`   // Nil before the first time.
	DiscoveryError  string     `json:"discovery_error,omitempty"` // Why it could not be asked.
	ProtocolVersion string     `json:"protocol_version,omitempty"`
	ServerName      string     `json:"server_name,omitempty"`
	ServerVersion   string     `json:"server_version,omitempty"`

	Revision  int64     `json:"revision"`
	CreatedBy string    `json:"created_by,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Allows reports whether a tool of the server may be imported and run.
func (s *Server) Allows(name string) bool {
	return slices.Contains(s.AllowedTools, definition.AllTools) || slices.Contains(s.AllowedTools, name)
}

// State is how a tool of a server stands to what was let in of it.
type State string

// States.
const (
	StateOffered  State = "offered"  // Not allowed, so not imported.
	StatePinned   State = "pinned"   // The server gives the definition that may run.
	StateChanged  State = "changed"  // The server gives another definition: the tool is stopped.
	StateApproved State = "approved" // Another one, which the draft has taken over: publishing it lets the tool go on.
	StateGone     State = "gone"     // The server offers it no more: the tool is stopped.
	StateRefused  State = "refused"  // It cannot be imported, or is no longer allowed; Reason says why.
)

// Tool is a tool of a server, and what was let in of it.
type Tool struct {
	Name       string      // As the server calls it.
	ToolID     string      // The tenant's tool that was made of it; empty when none was.
	ToolSlug   string      // Read only.
	ToolStatus tool.Status // Read only.
	Quarantine string      // Of the tenant's tool. Read only.
	State      State
	Reason     string

	Pinned         *ToolDefinition // What may run; nil while nothing was imported.
	ApprovedDigest string          // What the draft holds: Pinned's, or a later one's.
	ApprovedBy     string
	ApprovedAt     *time.Time
	Seen           *ToolDefinition // What the server gave last; nil only where it was never asked.
	FirstSeenAt    time.Time
	SeenAt         time.Time
	ChangedAt      time.Time // Of the state or the definition.
}

// Imported reports whether a tool of the tenant was made of it.
func (t *Tool) Imported() bool { return t.ToolID != "" }
