package mcpcall

import (
	"context"

	"github.com/toolcrib/toolcrib/tool"
)

func (c *Client) discover(context.Context, Access, Server) (*Discovery, error) { return nil, nil }

func (c *Client) call(context.Context, *tool.Call) (*tool.Result, error) { return nil, nil }

// Close ends.
func (c *Client) Close() error { return nil }
