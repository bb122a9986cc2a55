package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// MCP returns the MCP endpoint of the server, or where toolset is the slug of one, that of the toolset.
func (c *Client) MCP(toolset string) *MCPEndpoint {
	path := "/mcp"
	if toolset != "" {
		path += "/" + url.PathEscape(toolset)
	}
	return &MCPEndpoint{client: c, path: path}
}

// MCPEndpoint is where MCP clients find tools of the server.
type MCPEndpoint struct {
	client *Client
	path   string
}

// MCP sends a request to the endpoint, with the client's key, and returns the response after its header, whatever
// the status. The caller closes the body, which may be a stream that lasts. It fails with an [*UnreachableError]
// where the server is not there.
func (e *MCPEndpoint) MCP(ctx context.Context, method string, header http.Header, body []byte) (*http.Response, error) {
	c := e.client
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.base.String(), "/")+e.path, content)
	if err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "client.MCP", Msg: "the server's URL is malformed", Err: err}
	}
	maps.Copy(req.Header, header)
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.gate.Client(egress.Access{Class: tool.EgressWrite}).Do(req)
	if err == nil {
		return resp, nil
	}
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Kind != tool.Unavailable {
		return nil, e // Refused by the gate, or cancelled.
	}
	return nil, unreachable(c.base.String(), &tool.Error{Kind: tool.Unavailable, Op: "client.MCP", Err: err})
}
