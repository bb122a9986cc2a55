package registry

import (
	"context"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/tool"
)

// Store keeps tools, agents and their versions. Package store implements it.
//
// Every method acts within one tenant: rows of other tenants are tool.NotFound.
// Global tools are readable through the tenants they are for, which do not see the
// other tenants, and writable only through a store opened for the platform, with the
// empty tenant.
type Store interface {
	mcpserver.Store
	artifact.Store

	// CreateTool stores a new tool; Conflict when its slug is taken in the tenant,
	// and Conflict caused by [*RenamedError] when it is a former name of a tool of
	// the same scope whose last day is not over.
	CreateTool(ctx context.Context, t tool.Tool) (tool.Tool, error)
	// UpdateTool stores a changed head if its revision is still t.Revision,
	// else fails with Conflict, caused by [definition.ErrChanged]. The returned tool has
	// the next revision. A tenant's tool that is published or deprecated, and runs on a
	// server which is not attached, is a Conflict.
	UpdateTool(ctx context.Context, t tool.Tool) (tool.Tool, error)
	// RenameTool gives a tool another slug, under the rules of UpdateTool, and
	// keeps the slug it had as a former name of it until the end of lastDay
	// ("2006-01-02", UTC); not at all where lastDay is empty. Conflict when
	// either name belongs to another tool of the same scope. With the slug that the
	// tool has, and no day, it ends all its former names.
	RenameTool(ctx context.Context, t tool.Tool, slug, lastDay string) (tool.Tool, error)
	// FurtherNames returns those of names that are aliases or current former names of
	// the tenant's own tools; of global tools for the empty tenant.
	FurtherNames(ctx context.Context, tenant tool.TenantID, names []string) ([]FurtherName, error)
	// DeleteTool removes a tool, under the rules of UpdateTool: it is not found any
	// more, and its slug and further names are free. Versions stay for the runs that
	// pinned them, and no call of them is admitted. It fails with Conflict for a tool
	// that was imported from an MCP server.
	DeleteTool(ctx context.Context, t tool.Tool) error
	// FindTool returns a tool by slug or id; the tenant's own shadows a global
	// one of the same slug. A slug that is a former name of a tool is NotFound,
	// caused by [*RenamedError], with the new one in the message.
	FindTool(ctx context.Context, tenant tool.TenantID, ref tool.Ref) (tool.Tool, error)
	// ListTools returns a page in (slug, id) order.
	ListTools(ctx context.Context, tenant tool.TenantID, q ToolQuery) ([]tool.Tool, error)
	// AddVersion stores a version and the changed head in one transaction,
	// under the rules of UpdateTool. A version of that number with the same
	// digest is kept (and becomes published when v is); with another digest
	// the call fails with Conflict. A published v gives the tool the aliases and
	// former names of its snapshot, in the place of those it had; one that
	// another tool of the same scope has is a Conflict too, unless it is a
	// former name whose last day is over. A canary is promoted by a published v
	// whose Withheld is 0, and stays as it is otherwise. A published v of a
	// tenant's tool that runs on a server which is not attached is a Conflict.
	AddVersion(ctx context.Context, t tool.Tool, v tool.Version) (tool.Tool, tool.Version, error)
	// ListVersions returns a tool's versions, newest first.
	ListVersions(ctx context.Context, tenant tool.TenantID, toolID string) ([]tool.Version, error)

	// SetOverride replaces what o.Tenant, or the platform for the empty tenant, decides
	// about a tool that it sees. It fails with NotFound for another. Unless o.Revision is zero,
	// it fails with Conflict, caused by [definition.ErrChanged], where the override does not
	// have it any more; [NoOverride] expects that there is none. The returned override has the
	// next revision.
	SetOverride(ctx context.Context, o tool.Override) (tool.Override, error)
	// DeleteOverride removes such a decision, under the rules of SetOverride. It fails with
	// NotFound where there is none.
	DeleteOverride(ctx context.Context, tenant tool.TenantID, toolID string, revision int64) error
	// ListOverrideVersions returns what the tenant, or the platform, decided about a tool, newest
	// first: revisions below before, from the newest on where that is zero.
	ListOverrideVersions(
		ctx context.Context, tenant tool.TenantID, toolID string, platform bool, before int64, limit int,
	) ([]tool.OverrideVersion, error)
	// ListOverrides returns those of the tenant and of the platform, with the slugs of their
	// tools, in the order of [OverridePlace].
	ListOverrides(ctx context.Context, tenant tool.TenantID, after OverridePlace, limit int) ([]tool.Override, error)

	// The same for agents.
	CreateAgent(ctx context.Context, a agent.Agent) (agent.Agent, error)
	UpdateAgent(ctx context.Context, a agent.Agent) (agent.Agent, error)
	FindAgent(ctx context.Context, tenant tool.TenantID, slugOrID string) (agent.Agent, error)
	ListAgents(ctx context.Context, tenant tool.TenantID, afterSlug string, limit int) ([]agent.Agent, error)
	AddAgentVersion(ctx context.Context, a agent.Agent, v agent.Version) (agent.Agent, agent.Version, error)
	ListAgentVersions(ctx context.Context, tenant tool.TenantID, agentID string) ([]agent.Version, error)
}

// NoOverride is the revision that a change of an override expects where there must be none.
const NoOverride = -1

// OverridePlace is a place in the list of overrides: in the order of slugs, then ids,
// the tenant's before the platform's.
type OverridePlace struct {
	Slug     string
	ToolID   string
	Platform bool
}

// ToolQuery filters and pages tools. Zero fields do not filter.
type ToolQuery struct {
	Status         tool.Status
	Implementation tool.Implementation
	Bucket         tool.Bucket
	Category       string
	Egress         tool.Egress
	Risk           tool.RiskLevel // At least what the egress class implies.
	Search         string         // In slug, name and description.
	AfterSlug      string         // Start after this (slug, id).
	AfterID        string
	Limit          int
	UpdatedSince   time.Time
	Archived       bool // Those that are archived, instead of the others.
	SwitchedOff    bool // Those that the tenant has switched off for itself.
}

// ToolCount is how many tools have the same of everything that people filter by.
type ToolCount struct {
	Bucket         tool.Bucket
	Implementation tool.Implementation
	Status         tool.Status
	Egress         tool.Egress
	Risk           tool.RiskLevel
	Category       string
	// RequiredPermission, Internal and Global decide who may know of the tools.
	RequiredPermission string
	Internal, Global   bool
	Tools              int
}
