package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// DiffTool tells two contents of a tool apart: numbers of versions, or "draft".
// from is the last release when empty, and to the draft.
func (c *Client) DiffTool(ctx context.Context, name, from, to string) (v1.Diff, error) {
	var out v1.Diff
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"tools", name, "diff"},
		query: url.Values(params{}.text("from", from).text("to", to)), out: &out,
	})
	return out, err
}

// DiffDefinition tells what applying a tool's definition would change, compared
// with from as [Client.DiffTool] takes it.
func (c *Client) DiffDefinition(ctx context.Context, definition json.RawMessage, from string) (v1.Diff, error) {
	var out v1.Diff
	err := c.do(ctx, request{
		method: http.MethodPost, path: []string{"diff"}, body: v1.NewDiff{Definition: definition, From: from}, out: &out,
	})
	return out, err
}
