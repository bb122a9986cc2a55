package mcpcall

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

// Executor runs mcp tools. It is safe for concurrent use.
type Executor struct {
	client *Client
}

// New returns an executor over a client, which its caller closes.
func New(c *Client) *Executor { return &Executor{client: c} }

// Execute implements [tool.Executor].
func (e *Executor) Execute(ctx context.Context, call *tool.Call) (*tool.Result, error) {
	return e.client.call(ctx, call)
}
