package registry

import (
	"context"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/remote"
	"github.com/toolcrib/toolcrib/tool"
)

// Types of package remote, shared by everything that calls servers.
type (
	// Header is the value of a header that is sent to a server: a literal, or a
	// credential.
	Header = remote.Header
	// Connection says where an MCP server is and how to talk to it.
	Connection = remote.Server
	// RemoteDefinition is a tool as its server describes it: untrusted text,
	// kept as data and never followed.
	RemoteDefinition = remote.Tool
	// Discovery is what a server says of itself and its tools.
	Discovery = remote.Discovery
)

// Statuses of a server.
const (
	ServerActive   = "active"
	ServerDisabled = "disabled" // Its tools are not called, and it is not asked.
)

// AllTools stands, in a list of allowed tools, for whatever a server offers, now
// and later.
const AllTools = "*"

// MCPServer is a server of the Model Context Protocol that a tenant attached.
type MCPServer struct {
	ID     string        `json:"id"`
	Tenant tool.TenantID `json:"tenant_id"`
	Slug   string        `json:"slug"`
	Name   string        `json:"name"`
	Connection
	// AllowedTools are the tools that are imported, by the server's names for
	// them; [AllTools] for all, none when empty.
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
func (s *MCPServer) Allows(name string) bool {
	return slices.Contains(s.AllowedTools, AllTools) || slices.Contains(s.AllowedTools, name)
}

// RemoteState is how a tool of a server stands to what was let in of it.
type RemoteState string

// States.
const (
	Offered  RemoteState = "offered"  // Not allowed, so not imported.
	Pinned   RemoteState = "pinned"   // The server gives the definition that may run.
	Changed  RemoteState = "changed"  // The server gives another definition: the tool is stopped.
	Approved RemoteState = "approved" // Another one, which the draft has taken over: publishing it lets the tool go on.
	Gone     RemoteState = "gone"     // The server offers it no more: the tool is stopped.
	Refused  RemoteState = "refused"  // It cannot be imported, or is no longer allowed; Reason says why.
)

// RemoteTool is a tool of a server, and what was let in of it.
type RemoteTool struct {
	Name       string      // As the server calls it.
	ToolID     string      // The tenant's tool that was made of it; empty when none was.
	ToolSlug   string      // Read only.
	ToolStatus tool.Status // Read only.
	Quarantine string      // Of the tenant's tool. Read only.
	State      RemoteState
	Reason     string

	Pinned         *RemoteDefinition // What may run; nil while nothing was imported.
	ApprovedDigest string            // What the draft holds: Pinned's, or a later one's.
	ApprovedBy     string
	ApprovedAt     *time.Time
	Seen           *RemoteDefinition // What the server gave last; nil only where it was never asked.
	FirstSeenAt    time.Time
	SeenAt         time.Time
	ChangedAt      time.Time // Of the state or the definition.
}

// Imported reports whether a tool of the tenant was made of it.
func (t *RemoteTool) Imported() bool { return t.ToolID != "" }

// Discoverer talks to servers. Implementations are safe for concurrent use and
// fail with a [*tool.Error].
type Discoverer interface {
	// CheckServer refuses, as tool.Invalid with Path, a connection that could
	// never work.
	CheckServer(c *Connection) error
	// Discover asks a server what it offers, within what the tenant may reach,
	// and bounds what a hostile one answers.
	Discover(ctx context.Context, tenant tool.TenantID, c Connection) (*Discovery, error)
}

// ServerStore keeps servers and what they offer. Package store implements it.
// As in [Store], what belongs to another tenant is tool.NotFound.
type ServerStore interface {
	// CreateServer stores a new server; Conflict when its slug is taken.
	CreateServer(ctx context.Context, s MCPServer) (MCPServer, error)
	// SaveServer stores a changed server with what comes of it, all or nothing,
	// if its revision is still s.Revision, else fails with Conflict, caused by
	// [ErrChanged].
	SaveServer(ctx context.Context, s MCPServer, c RemoteChanges) (MCPServer, error)
	// DetachServer ends a server, under the rules of SaveServer. The tools that
	// were made of its tools stay.
	DetachServer(ctx context.Context, s MCPServer) error
	FindServer(ctx context.Context, tenant tool.TenantID, slugOrID string) (MCPServer, error)
	// ListServers returns a page in the order of slugs.
	ListServers(ctx context.Context, tenant tool.TenantID, afterSlug string, limit int) ([]MCPServer, error)
	FindRemoteTool(ctx context.Context, tenant tool.TenantID, serverID, name string) (RemoteTool, error)
	// ListRemoteTools returns a page in the order of names.
	ListRemoteTools(ctx context.Context, tenant tool.TenantID, serverID string, q RemoteQuery) ([]RemoteTool, error)
	// FindToolOrigin returns the tool of a server that a tenant's tool was made of.
	FindToolOrigin(ctx context.Context, tenant tool.TenantID, toolID string) (RemoteTool, error)
	// PinTool makes the definition that the tool's server gave last the one that
	// may run, if it is still that of the digest.
	PinTool(ctx context.Context, tenant tool.TenantID, toolID, digest, by string) error
	// ListServerTools returns the tenant's tools that run on a server.
	ListServerTools(ctx context.Context, tenant tool.TenantID, serverSlug string) ([]tool.Tool, error)
}

// RemoteQuery filters and pages the tools of a server.
type RemoteQuery struct {
	State     RemoteState // Any when empty.
	AfterName string
	Limit     int
}

// RemoteChanges are what is written with a server.
type RemoteChanges struct {
	Create []tool.Tool       // Drafts of new tools.
	Put    []RemoteTool      // Replace the stored tools of the same names.
	Seen   []string          // Names of tools that were offered again, unchanged.
	Stop   map[string]string // Why a tool is quarantined, by its id; empty to let it go on.
}
