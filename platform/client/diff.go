package client

import (
	"context"
	"encoding/json"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// DiffTool returns the differences between two contents of a tool, which from
// and to name: the number of a version, or "draft". An empty from is the last
// release, an empty to the draft.
func (c *Client) DiffTool(ctx context.Context, name, from, to string) (v1.Diff, error) {
	return get[v1.Diff](ctx, c, query("from", from, "to", to), "tools", name, "diff")
}

// DiffDefinition returns what applying a tool's definition would change,
// compared with from as [Client.DiffTool] takes it.
func (c *Client) DiffDefinition(ctx context.Context, definition json.RawMessage, from string) (v1.Diff, error) {
	return post[v1.Diff](ctx, c, v1.NewDiff{Definition: definition, From: from}, "diff")
}
