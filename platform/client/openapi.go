package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/sse"
	"github.com/toolcrib/toolcrib/tool"
)

// ImportOpenAPI makes tools of an OpenAPI document. Unless in.DryRun is false,
// it only reports what it would make.
func (c *Client) ImportOpenAPI(ctx context.Context, in v1.ImportOpenAPI) (v1.ImportedOpenAPI, error) {
	return post[v1.ImportedOpenAPI](ctx, c, in, "tools", "import", "openapi")
}

// FollowImportOpenAPI is [Client.ImportOpenAPI], with reports of how far it has
// come. It lasts as long as the import does. A stream that breaks off fails with
// tool.Unavailable: tools may have been written, and importing again finds them.
func (c *Client) FollowImportOpenAPI(
	ctx context.Context, in v1.ImportOpenAPI, report func(v1.ImportProgress),
) (v1.ImportedOpenAPI, error) {
	var out v1.ImportedOpenAPI
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := c.openImport(ctx, in)
	if err != nil {
		return out, err
	}
	defer func() { _ = resp.Body.Close() }()
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	var broken error
	for m, err := range sse.Read(resp.Body, maxAnswerBytes, func() { watchdog.Reset(silence) }) {
		if err != nil {
			broken = err
			break
		}
		switch m.Type {
		case v1.EventImportResult:
			return out, c.decode(answer{http.StatusOK, m.Data}, &out)
		case v1.EventImportFailed:
			return out, c.problem(answer{http.StatusInternalServerError, m.Data})
		case v1.EventImportProgress:
			var p v1.ImportProgress
			if err := c.decode(answer{http.StatusOK, m.Data}, &p); err != nil {
				return out, err
			}
			report(p)
		}
	}
	return out, &tool.Error{
		Kind: tool.Unavailable, Op: "client", Sent: true, Acted: true, Err: broken,
		Msg: "the connection broke off while the import went on: import again to see what is written",
	}
}

// openImport requests an import whose answer is a stream.
func (c *Client) openImport(ctx context.Context, in v1.ImportOpenAPI) (*http.Response, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	req, err := c.streamRequest(ctx, http.MethodPost, bytes.NewReader(body), "tools", "import", "openapi", "stream")
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.gate.Client(egress.Access{Class: tool.EgressWrite}).Do(req)
	if err != nil {
		return nil, unreachable(c.base.String(), err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return nil, unreachable(c.base.String(), err)
	}
	return nil, c.problem(answer{resp.StatusCode, raw})
}
