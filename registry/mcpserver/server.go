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
	// AllowedTools are the names of the tools to import;
	// [definition.AllTools] for all, none when empty.
	AllowedTools []string `json:"allowed_tools"`
	// TrustHints accepts the server's hint that a tool is read-only.
	TrustHints bool `json:"trust_hints,omitempty"`
	// Trusted says that results of the server do not taint runs. Only [Registry.Trust] sets it, and a change of
	// where the server is takes it back.
	Trusted bool   `json:"trusted,omitempty"`
	Status  string `json:"status"`

	// Results of the last refresh.
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

// Allows reports whether AllowedTools has a tool of the server.
func (s *Server) Allows(name string) bool {
	return slices.Contains(s.AllowedTools, definition.AllTools) || slices.Contains(s.AllowedTools, name)
}

// State compares the current definition of a server's tool with the approved one.
type State string

// States.
const (
	StateOffered  State = "offered"  // Not allowed, so not imported.
	StatePinned   State = "pinned"   // The server offers the pinned definition.
	StateChanged  State = "changed"  // The server offers another definition: quarantined.
	StateApproved State = "approved" // The draft has the new definition; publishing it ends the quarantine.
	StateGone     State = "gone"     // No longer offered: quarantined.
	StateRefused  State = "refused"  // It cannot be imported, or is no longer allowed; Reason says why.
)

// Tool is a tool of a server, with its approved and its current definition.
type Tool struct {
	Name       string      // As the server calls it.
	ToolID     string      // Of the imported tool; empty when not imported.
	ToolSlug   string      // Read only.
	ToolStatus tool.Status // Read only.
	Quarantine string      // Of the tenant's tool. Read only.
	State      State
	Reason     string

	Pinned         *ToolDefinition // The definition that may run; nil when not imported.
	ApprovedDigest string          // Of the draft's definition: Pinned's or a later one's.
	ApprovedBy     string
	ApprovedAt     *time.Time
	Seen           *ToolDefinition // The server's latest definition; nil when it was never asked.
	FirstSeenAt    time.Time
	SeenAt         time.Time
	ChangedAt      time.Time // Of the state or the definition.
}

// Imported reports whether the tool was imported as a tool of the tenant.
func (t *Tool) Imported() bool { return t.ToolID != "" }
