package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// AttachMCPServer attaches a server, and has it asked what it offers.
func (c *Client) AttachMCPServer(ctx context.Context, d v1.MCPServerDefinition) (v1.MCPRefresh, error) {
	var out v1.MCPRefresh
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"mcp", "servers"}, body: d, out: &out})
	return out, err
}

// MCPServers returns a page of the attached servers in the order of slugs.
func (c *Client) MCPServers(ctx context.Context, page Page) (v1.Page[v1.MCPServer], error) {
	var out v1.Page[v1.MCPServer]
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"mcp", "servers"}, query: params{}.page(page), out: &out,
	})
	return out, err
}

// MCPServer returns a server by slug or id.
func (c *Client) MCPServer(ctx context.Context, name string) (v1.MCPServer, error) {
	var out v1.MCPServer
	err := c.do(ctx, request{method: http.MethodGet, path: []string{"mcp", "servers", name}, out: &out})
	return out, err
}

// UpdateMCPServer replaces how a server is reached and what is allowed of it;
// d.Revision guards against a concurrent change by another writer.
func (c *Client) UpdateMCPServer(ctx context.Context, name string, d v1.MCPServerDefinition) (v1.MCPServer, error) {
	var out v1.MCPServer
	err := c.do(ctx, request{method: http.MethodPut, path: []string{"mcp", "servers", name}, body: d, out: &out})
	return out, err
}

// RefreshMCPServer has a server asked what it offers.
func (c *Client) RefreshMCPServer(ctx context.Context, name string) (v1.MCPRefresh, error) {
	var out v1.MCPRefresh
	err := c.do(ctx, request{method: http.MethodPost, path: []string{"mcp", "servers", name, "refresh"}, out: &out})
	return out, err
}

// DetachMCPServer detaches a server; force disables the published tools that
// run on it, which otherwise are in the way.
func (c *Client) DetachMCPServer(ctx context.Context, name string, force bool) (v1.DetachedMCP, error) {
	var out v1.DetachedMCP
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"mcp", "servers", name, "detach"},
		query: url.Values{"force": {strconv.FormatBool(force)}}, out: &out,
	})
	return out, err
}

// MCPServerTools returns a page of the tools that a server offers, in the order
// of names; state filters, unless it is empty.
func (c *Client) MCPServerTools(ctx context.Context, name, state string, page Page) (v1.Page[v1.MCPTool], error) {
	var out v1.Page[v1.MCPTool]
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"mcp", "servers", name, "tools"},
		query: params{}.text("state", state).page(page), out: &out,
	})
	return out, err
}

// DiffMCPServer returns how a server changed one of its tools since the tool
// was approved; if tool is empty, how it changed each tool that it changed.
func (c *Client) DiffMCPServer(ctx context.Context, name, tool string) (v1.Page[v1.MCPDrift], error) {
	var out v1.Page[v1.MCPDrift]
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"mcp", "servers", name, "diff"},
		query: url.Values(params{}.text("tool", tool)), out: &out,
	})
	return out, err
}

// ApproveMCPTools approves the definitions that a server offers now of its
// tools.
func (c *Client) ApproveMCPTools(ctx context.Context, name string, in v1.ApproveMCP) (v1.ApprovedMCP, error) {
	var out v1.ApprovedMCP
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"mcp", "servers", name, "approve"}, body: in, out: &out,
	})
	return out, err
}
