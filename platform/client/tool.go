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
	Search         string
	Callable       tool.Mode // What may be called in this mode, at the version a call would get.
	Skip           int
	Page
}

// ListTools returns a page of tools in the order of slugs.
func (c *Client) ListTools(ctx context.Context, q ToolQuery) (v1.Page[v1.Tool], error) {
	var out v1.Page[v1.Tool]
	query := params{}.text("status", string(q.Status)).text("implementation_type", string(q.Implementation)).
		text("tool_type", string(q.ToolType)).text("search", q.Search).text("callable", string(q.Callable)).number("skip",
		int64(q.Skip)).page(q.Page)
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"tools"}, query: query, out: &out})
	return out, err
}

// Tool returns a tool by slug or id.
func (c *Client) Tool(ctx context.Context, name string) (v1.Tool, error) {
	var out v1.Tool
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"tools", name}, out: &out})
	return out, err
}

// CreateTool makes a tool, as a draft.
func (c *Client) CreateTool(ctx context.Context, d v1.ToolDefinition) (v1.SavedTool, error) {
	var out v1.SavedTool
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"tools"}, body: d, out: &out})
	return out, err
}

// UpdateTool replaces the draft of a tool; d.Revision guards against a
// concurrent change by another writer.
func (c *Client) UpdateTool(ctx context.Context, name string, d v1.ToolDefinition) (v1.SavedTool, error) {
	var out v1.SavedTool
	err := c.do(ctx, request{method: http.MethodPut, path: []string{"tools", name}, body: d, out: &out})
	return out, err
}

// Builtins returns a page of the platform's own tools in the order of slugs.
func (c *Client) Builtins(ctx context.Context, page Page) (v1.Page[v1.Tool], error) {
	var out v1.Page[v1.Tool]
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"tools", "builtins", "templates"}, query: params{}.page(page), out: &out,
	})
	return out, err
}

// ToolVersion returns a version of a tool by its exact number.
func (c *Client) ToolVersion(ctx context.Context, name, version string) (v1.ToolVersion, error) {
	var out v1.ToolVersion
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"tools", name, "versions", version}, out: &out})
	return out, err
}

// ToolVersions returns a tool's versions, newest first.
func (c *Client) ToolVersions(ctx context.Context, name string) (v1.Page[v1.ToolVersion], error) {
	var out v1.Page[v1.ToolVersion]
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"tools", name, "versions"}, out: &out})
	return out, err
}

// ToolFields returns the form of a tool, for people: of a version, or of its
// draft when version is empty.
func (c *Client) ToolFields(ctx context.Context, name, version string) (v1.ToolForm, error) {
	var out v1.ToolForm
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"tools", name, "fields"},
		query: url.Values(params{}.text("version", version)), out: &out,
	})
	return out, err
}

// PublishTool publishes a version of a tool: its draft when version is empty.
func (c *Client) PublishTool(ctx context.Context, name, version string) (v1.Published, error) {
	var out v1.Published
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"tools", name, "publish"},
		query: url.Values(params{}.text("version", version)), out: &out,
	})
	return out, err
}

// VersionTool snapshots a tool's draft under a number, without publishing it.
func (c *Client) VersionTool(ctx context.Context, name, version string) (v1.ToolVersion, error) {
	var out v1.ToolVersion
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"tools", name, "version"},
		query: url.Values{"new_version": {version}}, out: &out,
	})
	return out, err
}

// RenameTool gives a tool another slug.
func (c *Client) RenameTool(ctx context.Context, name string, in v1.RenameTool) (v1.SavedTool, error) {
	var out v1.SavedTool
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"tools", name, "rename"}, body: in, out: &out})
	return out, err
}

// ImportTools takes over tools of another system. Those that are malformed are
// in the answer; the others are imported.
func (c *Client) ImportTools(ctx context.Context, in v1.ImportTools) (v1.Applied, error) {
	var out v1.Applied
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"tools", "import"}, body: in, out: &out})
	return out, err
}

// SetTool changes the state of a tool.
func (c *Client) SetTool(ctx context.Context, name string, to Transition) (v1.Tool, error) {
	var out v1.Tool
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"tools", name, string(to)}, out: &out})
	return out, err
}

// Transition is a change of a tool's state.
type Transition string

// Transitions.
const (
	Disable   Transition = "disable"   // Stop its calls, everywhere and at once.
	Enable    Transition = "enable"    // Take a disable back.
	Deprecate Transition = "deprecate" // Refuse new bindings.
)

// ExplainTool reports how a reference resolves, rule by rule.
func (c *Client) ExplainTool(ctx context.Context, name, version string, mode tool.Mode) (v1.Explanation, error) {
	var out v1.Explanation
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"tools", name, "explain"},
		query: url.Values(params{}.text("version", version).text("mode", string(mode))), out: &out,
	})
	return out, err
}

// CallTool calls a tool once, and waits for its answer as long as the request
// says.
func (c *Client) CallTool(ctx context.Context, name string, in v1.NewCall) (v1.Call, error) {
	var out v1.Call
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"tools", name, "call"}, body: in, out: &out})
	return out, err
}
