package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// DiffTool returns the differences between two contents of a tool, which from
// and to name: the number of a version, or "draft". An empty from is the last
// release, an empty to the draft.
func (c *Client) DiffTool(ctx context.Context, name, from, to string) (v1.Diff, error) {
	var out v1.Diff
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"tools", name, "diff"},
		query: url.Values(params{}.text("from", from).text("to", to)), out: &out,
	})
	return out, err
}

// DiffDefinition returns what applying a tool's definition would change,
// compared with from as [Client.DiffTool] takes it.
func (c *Client) DiffDefinition(ctx context.Context, definition json.RawMessage, from string) (v1.Diff, error) {
	var out v1.Diff
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"diff"}, body: v1.NewDiff{Definition: definition, From: from}, out: &out,
	})
	return out, err
}
