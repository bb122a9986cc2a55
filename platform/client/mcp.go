package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// AttachMCPServer attaches a server and lists its tools.
func (c *Client) AttachMCPServer(ctx context.Context, d v1.MCPServerDefinition) (v1.MCPRefresh, error) {
	return post[v1.MCPRefresh](ctx, c, d, "mcp", "servers")
}

// MCPServers returns a page of the attached servers in the order of slugs.
func (c *Client) MCPServers(ctx context.Context, page Page) (v1.Page[v1.MCPServer], error) {
	return list[v1.MCPServer](ctx, c, page.query(), "mcp", "servers")
}

// MCPServer returns a server by slug or id.
func (c *Client) MCPServer(ctx context.Context, name string) (v1.MCPServer, error) {
	return get[v1.MCPServer](ctx, c, nil, "mcp", "servers", name)
}

// UpdateMCPServer replaces the connection and the rules of a server;
// d.Revision guards against a concurrent change by another writer.
func (c *Client) UpdateMCPServer(ctx context.Context, name string, d v1.MCPServerDefinition) (v1.MCPServer, error) {
	return put[v1.MCPServer](ctx, c, d, "mcp", "servers", name)
}

// RefreshMCPServer lists a server's tools again.
func (c *Client) RefreshMCPServer(ctx context.Context, name string) (v1.MCPRefresh, error) {
	return post[v1.MCPRefresh](ctx, c, nil, "mcp", "servers", name, "refresh")
}

// TrustMCPServer says whether results of a server are trusted.
func (c *Client) TrustMCPServer(ctx context.Context, name string, trusted bool) (v1.MCPServer, error) {
	return put[v1.MCPServer](ctx, c, v1.MCPTrust{Trusted: trusted}, "mcp", "servers", name, "trust")
}

// DetachMCPServer detaches a server; force disables the published tools that
// run on it; without it they make detaching fail.
func (c *Client) DetachMCPServer(ctx context.Context, name string, force bool) (v1.DetachedMCP, error) {
	return call[v1.DetachedMCP](ctx, c, http.MethodPost, url.Values{"force": {strconv.FormatBool(force)}}, nil, "mcp",
		"servers", name, "detach")
}

// MCPServerTools returns a page of the tools that a server offers, in the order
// of names; state filters, unless it is empty.
func (c *Client) MCPServerTools(ctx context.Context, name, state string, page Page) (v1.Page[v1.MCPTool], error) {
	return list[v1.MCPTool](ctx, c, page.query("state", state), "mcp", "servers", name, "tools")
}

// DiffMCPServer returns how a server changed one of its tools since the tool
// was approved; if tool is empty, how it changed each tool that it changed.
func (c *Client) DiffMCPServer(ctx context.Context, name, tool string) (v1.Page[v1.MCPDrift], error) {
	return list[v1.MCPDrift](ctx, c, query("tool", tool), "mcp", "servers", name, "diff")
}

// ApproveMCPTools approves the definitions that a server offers now of its
// tools.
func (c *Client) ApproveMCPTools(ctx context.Context, name string, in v1.ApproveMCP) (v1.ApprovedMCP, error) {
	return post[v1.ApprovedMCP](ctx, c, in, "mcp", "servers", name, "approve")
}
