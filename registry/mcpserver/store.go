package mcpserver

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// Store keeps servers and their tools. Package store implements it. Rows of other
// tenants are tool.NotFound.
type Store interface {
	// CreateServer stores a new server; Conflict when its slug is taken.
	CreateServer(ctx context.Context, s Server) (Server, error)
	// SaveServer stores a changed server and c in one transaction. It fails with
	// Conflict, caused by [definition.ErrChanged], if its revision is no longer
	// s.Revision.
	SaveServer(ctx context.Context, s Server, c Changes) (Server, error)
	// TrustServer says whether results of a server taint runs, under the rules of SaveServer, which never makes a
	// server trusted, and takes it back where the address, the transport or the command changes.
	TrustServer(ctx context.Context, s Server, trusted bool) (Server, error)
	// DetachServer removes a server, under the rules of SaveServer. Imported tools
	// stay. It fails with Conflict while published or deprecated tools run on the
	// server.
	DetachServer(ctx context.Context, s Server) error
	FindServer(ctx context.Context, tenant tool.TenantID, slugOrID string) (Server, error)
	// ListServers returns a page in the order of slugs.
	ListServers(ctx context.Context, tenant tool.TenantID, afterSlug string, limit int) ([]Server, error)
	FindRemoteTool(ctx context.Context, tenant tool.TenantID, serverID, name string) (Tool, error)
	// ListRemoteTools returns a page in the order of names.
	ListRemoteTools(ctx context.Context, tenant tool.TenantID, serverID string, q ToolQuery) ([]Tool, error)
	// FindToolOrigin returns the tool of a server that a tenant's tool was imported
	// from.
	FindToolOrigin(ctx context.Context, tenant tool.TenantID, toolID string) (Tool, error)
	// PinTool pins the server's latest definition of a tool, if it has the given
	// digest.
	PinTool(ctx context.Context, tenant tool.TenantID, toolID, digest, by string) error
	// ListServerTools returns the tenant's tools that run on a server.
	ListServerTools(ctx context.Context, tenant tool.TenantID, serverSlug string) ([]tool.Tool, error)

	// FindTool returns a tool by its id.
	FindTool(ctx context.Context, tenant tool.TenantID, ref tool.Ref) (tool.Tool, error)
	// ListVersions returns a tool's versions, newest first.
	ListVersions(ctx context.Context, tenant tool.TenantID, toolID string) ([]tool.Version, error)
	// UpdateTool stores a changed head if its revision is still t.Revision.
	UpdateTool(ctx context.Context, t tool.Tool) (tool.Tool, error)
}

// ToolQuery filters and pages the tools of a server.
type ToolQuery struct {
	State     State // Any when empty.
	AfterName string
	Limit     int
}

// Changes are stored together with a server.
type Changes struct {
	Create []tool.Tool       // Drafts of new tools.
	Put    []Tool            // Replace the stored tools of the same names.
	Seen   []string          // Names of tools that were offered again, unchanged.
	Stop   map[string]string // Reasons of quarantine, by tool id; an empty one ends it.
}
