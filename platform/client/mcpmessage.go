package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// MCP sends a request to the MCP endpoint of the server, with the client's key, and returns the response after
// its header, whatever the status. The caller closes the body, which may be a stream that lasts. It fails with
// an [*UnreachableError] where the server is not there.
func (c *Client) MCP(ctx context.Context, method string, header http.Header, body []byte) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.base.String(), "/")+"/mcp", content)
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
