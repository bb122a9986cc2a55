package client

import (
	"context"
	"net/http"
	"net/url"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// ToolQuery filters tools. Zero fields do not filter.
type ToolQuery struct {
	Status         tool.Status
	Implementation tool.Implementation
	ToolType       tool.Bucket
	Category       string
	Egress         tool.Egress
	Risk           tool.RiskLevel
	Search         string
	Callable       tool.Mode // What may be called in this mode, at the version a call would get.
	Archived       bool      // The archived tools, instead of the others.
	SwitchedOff    bool      // Those that the tenant has switched off for itself.
	Skip           int
	Page
}

// ListTools returns a page of tools in the order of slugs.
func (c *Client) ListTools(ctx context.Context, q ToolQuery) (v1.Page[v1.Tool], error) {
	return list[v1.Tool](ctx, c, q.query(
		"status", q.Status, "implementation_type", q.Implementation, "tool_type", q.ToolType, "search", q.Search,
		"callable", q.Callable, "skip", q.Skip, "archived", q.Archived, "category", q.Category, "egress_class", q.Egress,
		"risk", q.Risk, "switched_off", q.SwitchedOff,
	), "tools")
}

// Taxonomy returns what tools are grouped and filtered by, in words.
func (c *Client) Taxonomy(ctx context.Context) (v1.Taxonomy, error) {
	return get[v1.Taxonomy](ctx, c, nil, "taxonomy")
}

// ToolFacets counts tools by what they are filtered by.
func (c *Client) ToolFacets(ctx context.Context) (v1.ToolFacets, error) {
	return get[v1.ToolFacets](ctx, c, nil, "tools", "facets")
}

// CheckTool reports what saving a definition would come to.
func (c *Client) CheckTool(ctx context.Context, d v1.ToolDefinition) (v1.CheckedDefinition, error) {
	return post[v1.CheckedDefinition](ctx, c, d, "tools", "check")
}

// ToolSummaries returns a page of summaries of tools in the order of slugs.
func (c *Client) ToolSummaries(ctx context.Context, page Page) (v1.Page[tool.Meta], error) {
	return list[tool.Meta](ctx, c, page.query(), "tool-summaries")
}

// Tool returns a tool by slug or id.
func (c *Client) Tool(ctx context.Context, name string) (v1.Tool, error) {
	return get[v1.Tool](ctx, c, nil, "tools", name)
}

// CreateTool makes a tool, as a draft.
func (c *Client) CreateTool(ctx context.Context, d v1.ToolDefinition) (v1.SavedTool, error) {
	return post[v1.SavedTool](ctx, c, d, "tools")
}

// UpdateTool replaces the draft of a tool; d.Revision guards against a
// concurrent change by another writer.
func (c *Client) UpdateTool(ctx context.Context, name string, d v1.ToolDefinition) (v1.SavedTool, error) {
	return put[v1.SavedTool](ctx, c, d, "tools", name)
}

// Builtins returns a page of the platform's own tools in the order of slugs.
func (c *Client) Builtins(ctx context.Context, page Page) (v1.Page[v1.Tool], error) {
	return list[v1.Tool](ctx, c, page.query(), "tools", "builtins", "templates")
}

// ToolVersion returns a version of a tool by its exact number.
func (c *Client) ToolVersion(ctx context.Context, name, version string) (v1.ToolVersion, error) {
	return get[v1.ToolVersion](ctx, c, nil, "tools", name, "versions", version)
}

// ToolVersions returns a tool's versions, newest first.
func (c *Client) ToolVersions(ctx context.Context, name string) (v1.Page[v1.ToolVersion], error) {
	return list[v1.ToolVersion](ctx, c, nil, "tools", name, "versions")
}

// ToolFields returns the form of a tool, for people: of a version, or of its
// draft when version is empty.
func (c *Client) ToolFields(ctx context.Context, name, version string) (v1.ToolForm, error) {
	return get[v1.ToolForm](ctx, c, query("version", version), "tools", name, "fields")
}

// PublishTool publishes a version of a tool: its draft when version is empty.
func (c *Client) PublishTool(ctx context.Context, name, version string) (v1.Published, error) {
	return call[v1.Published](ctx, c, http.MethodPost, query("version", version), nil, "tools", name, "publish")
}

// PublishToolStrict is PublishTool that fails for a tool with findings.
func (c *Client) PublishToolStrict(ctx context.Context, name, version string) (v1.Published, error) {
	q := query("version", version, "strict", true)
	return call[v1.Published](ctx, c, http.MethodPost, q, nil, "tools", name, "publish")
}

// VersionTool snapshots a tool's draft under a number, without publishing it.
func (c *Client) VersionTool(ctx context.Context, name, version string) (v1.ToolVersion, error) {
	return call[v1.ToolVersion](ctx, c, http.MethodPost, url.Values{"new_version": {version}}, nil, "tools", name,
		"version")
}

// RenameTool gives a tool another slug.
func (c *Client) RenameTool(ctx context.Context, name string, in v1.RenameTool) (v1.SavedTool, error) {
	return post[v1.SavedTool](ctx, c, in, "tools", name, "rename")
}

// ImportTools takes over tools of another system. Those that are malformed are
// in the answer; the others are imported.
func (c *Client) ImportTools(ctx context.Context, in v1.ImportTools) (v1.Applied, error) {
	return post[v1.Applied](ctx, c, in, "tools", "import")
}

// SetTool changes the state of a tool.
func (c *Client) SetTool(ctx context.Context, name string, to Transition) (v1.Tool, error) {
	return post[v1.Tool](ctx, c, nil, "tools", name, string(to))
}

// Transition is a change of a tool's state.
type Transition string

// Transitions.
const (
	Disable   Transition = "disable"   // Stop its calls, everywhere and at once.
	Enable    Transition = "enable"    // Take a disable back.
	Deprecate Transition = "deprecate" // Refuse new bindings.
	Archive   Transition = "archive"   // Disable it, and take it off the lists.
	Restore   Transition = "restore"   // Take it out of the archive.
)

// Overrides returns a page of what the tenant and the platform decided about tools.
func (c *Client) Overrides(ctx context.Context, page Page) (v1.Page[v1.Override], error) {
	return list[v1.Override](ctx, c, page.query(), "overrides")
}

// ToolOverrides returns what is decided about a tool.
func (c *Client) ToolOverrides(ctx context.Context, name string) (v1.ToolOverrides, error) {
	return get[v1.ToolOverrides](ctx, c, nil, "tools", name, "override")
}

// OverrideTool decides about a tool for the tenant.
func (c *Client) OverrideTool(ctx context.Context, name string, o v1.NewOverride) (v1.ToolOverrides, error) {
	return put[v1.ToolOverrides](ctx, c, o, "tools", name, "override")
}

// RemoveOverride takes back what the tenant decided about a tool.
func (c *Client) RemoveOverride(ctx context.Context, name string) (v1.ToolOverrides, error) {
	return call[v1.ToolOverrides](ctx, c, http.MethodDelete, nil, nil, "tools", name, "override")
}

// OverrideVersions returns a page of what the tenant, or the platform, decided about a tool, newest first.
func (c *Client) OverrideVersions(
	ctx context.Context, name string, platform bool, page Page,
) (v1.Page[v1.OverrideVersion], error) {
	q := page.query()
	if platform {
		q.Set("by", "platform")
	}
	return list[v1.OverrideVersion](ctx, c, q, "tools", name, "override", "versions")
}

// Explain is a question how a tool resolves.
type Explain struct {
	Version string // Version or constraint.
	Mode    tool.Mode
	Agent   string // Slug or id of the agent that would make the call; empty for other callers.
	Run     string // Id of the run that would make it; empty for a call outside of runs.
}

// ExplainTool reports how a reference resolves, rule by rule, with the profiles, budgets and the taint that
// apply to calls as of is.
func (c *Client) ExplainTool(ctx context.Context, name string, is Explain) (v1.Explanation, error) {
	return get[v1.Explanation](
		ctx, c, query("version", is.Version, "mode", is.Mode, "agent", is.Agent, "run", is.Run), "tools", name, "explain",
	)
}

// CallTool calls a tool once, and waits for its answer as long as the request
// says.
func (c *Client) CallTool(ctx context.Context, name string, in v1.NewCall) (v1.Call, error) {
	return post[v1.Call](ctx, c, in, "tools", name, "call")
}
